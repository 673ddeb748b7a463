//! The program in Chinese: help, chat, questions and errors; JSON stays English.

use super::{Desk, Terminal};

const CHINESE: [(&str, &str); 1] = [("LANG", "zh_CN.UTF-8")];

fn run(desk: &Desk, arguments: &[&str], variables: &[(&str, &str)]) -> (String, String, i32) {
    let mut command = desk.command(arguments);
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap(),
    )
}

#[test]
fn help_and_errors_are_in_the_language_of_the_locale() {
    let desk = Desk::new();
    let (help, _, exit) = run(&desk, &["--help"], &CHINESE);
    assert_eq!(exit, 0);
    for text in [
        "用法: switchboard",
        "命令:",
        "通用选项:",
        "调用工具",
        "示例：",
    ] {
        assert!(help.contains(text), "{text} in {help}");
    }
    let (help, _, _) = run(&desk, &["servers", "add", "--help"], &CHINESE);
    assert!(
        help.contains("服务器的名称") && help.contains("通用选项:"),
        "{help}"
    );
    let (_, error, exit) = run(&desk, &["call", "nowhere", "add"], &CHINESE);
    assert_eq!(exit, 1);
    assert!(error.contains("没有服务器 \"nowhere\""), "{error}");
    assert!(error.contains("还没有服务器"), "the hint, too: {error}");
}

#[test]
fn json_stays_english() {
    let desk = Desk::new();
    let (_, error, _) = run(&desk, &["call", "nowhere", "add", "--json"], &CHINESE);
    assert!(error.contains("there is no server"), "{error}");
}

#[test]
fn the_setting_is_stronger_than_the_locale() {
    let desk = Desk::new();
    let (_, _, exit) = run(&desk, &["config", "set", "language", "en"], &CHINESE);
    assert_eq!(exit, 0);
    let (help, _, _) = run(&desk, &["--help"], &CHINESE);
    assert!(help.contains("Usage: switchboard"), "{help}");
    run(&desk, &["config", "set", "language", "zh-CN"], &[]);
    let (help, _, _) = run(&desk, &["--help"], &[]);
    assert!(help.contains("用法: switchboard"), "{help}");
    let (_, error, exit) = run(&desk, &["config", "set", "language", "tlh"], &[]);
    assert_eq!(exit, 1);
    assert!(error.contains("auto、en 或 zh-CN"), "{error}");
}

#[test]
fn a_chat_and_its_questions_are_in_chinese() {
    let desk = Desk::new();
    let mut command = desk.command(&["chat"]);
    command.envs(CHINESE);
    let mut terminal = Terminal::of(command);
    terminal.until("演示模型（它不是 AI）");
    terminal.until("1 个服务器");
    terminal.until("> ");
    terminal.type_in("write a note\r");
    terminal.until("demo 要运行 write_note");
    terminal.until("仅此一次");
    terminal.until("要运行吗？");
    terminal.type_in("y\r");
    terminal.until("write_note answered");
    terminal.until("个令牌");
    terminal.until("> ");
    terminal.type_in("/help\r");
    terminal.until("模型可以调用的工具");
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
}

#[cfg(feature = "postgres")]
#[test]
fn a_database_has_the_setting_as_well() {
    let Some(desk) = Desk::new().on_postgres() else {
        return;
    };
    run(&desk, &["config", "set", "language", "zh-CN"], &[]);
    let (_, error, exit) = run(&desk, &["call", "nowhere", "add"], &[]);
    assert_eq!(exit, 1);
    assert!(error.contains("没有服务器 \"nowhere\""), "{error}");
    let (_, error, _) = run(&desk, &["call", "nowhere", "add", "--json"], &[]);
    assert!(error.contains("there is no server"), "{error}");
}
