//! What a chat shows: rendered answers, forms, completion, earlier turns, other terminals.

use std::process::Command;

use mcp_testkit::{Ask, Script, Server, Step, Tool};
use serde_json::json;

use super::{Desk, Terminal};

fn chat(desk: &Desk, arguments: &[&str], variables: &[(&str, &str)]) -> Terminal {
    let mut command: Command = desk.command(arguments);
    command.envs(variables.iter().copied());
    Terminal::of(command)
}

/// A model's answer in Markdown, by a recording of none: the demo model quotes what a tool returns.
const PAGE: &str = "# Title\n\n- **one**\n- `two`\n\n| a | b |\n|---|---|\n| 1 | 2 |";

fn script(desk: &Desk) -> String {
    let file = desk.home().join("rules.json");
    let rules = json!({"rules": [{"when": ["page"], "say": format!("x\n\n{PAGE}")}]});
    std::fs::write(&file, rules.to_string()).unwrap();
    file.display().to_string()
}

#[test]
fn an_answer_is_rendered_where_it_can_be_and_left_as_it_is_elsewhere() {
    let desk = Desk::new();
    let mut model = desk.command(&["demo-model", "--script", &script(&desk), "--json"]);
    model.stdout(std::process::Stdio::piped());
    let mut model = model.spawn().unwrap();
    let mut line = String::new();
    let mut read = std::io::BufReader::new(model.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut read, &mut line).unwrap();
    let urls: serde_json::Value = serde_json::from_str(&line).unwrap();
    let url = urls["urls"]["openai-chat"]
        .as_str()
        .or(urls["openai-chat"].as_str());
    let url = url.unwrap_or_else(|| panic!("{urls}")).to_owned();
    let flags = ["chat", "-m", "some", "--base-url", &url, "-s", "demo"];
    let mut colored = chat(&desk, &flags, &[]);
    colored.until("> ");
    colored.type_in("page\r");
    colored.until("\u{1b}[1m\u{1b}[4mTitle\u{1b}[0m");
    colored.until("- \u{1b}[1mone\u{1b}[0m");
    colored.until("- \u{1b}[36mtwo\u{1b}[0m");
    colored.until("\u{1b}[1ma\u{1b}[0m  \u{1b}[1mb\u{1b}[0m");
    colored.type_in("/quit\r");
    assert_eq!(colored.end(), Some(0));
    let mut bare = chat(&desk, &flags, &[("NO_COLOR", "1")]);
    bare.until("> ");
    bare.type_in("page\r");
    bare.until("# Title\r\n\r\n- **one**\r\n- `two`\r\n\r\na  b\r\n-  -\r\n1  2\r\n");
    bare.type_in("/quit\r");
    assert_eq!(bare.end(), Some(0));
    let run = [&["run", "page"][..], &flags[1..]].concat();
    let piped = desk.command(&run).output().unwrap();
    let shown = String::from_utf8(piped.stdout).unwrap();
    assert!(shown.contains(PAGE), "{shown}");
    model.kill().unwrap();
    model.wait().unwrap();
}

#[test]
fn a_plain_terminal_gets_no_control_sequence() {
    for (flags, variables) in [
        (&["chat", "--plain-output"][..], &[][..]),
        (&["chat"][..], &[("TERM", "dumb")][..]),
    ] {
        let desk = Desk::new();
        let mut terminal = chat(&desk, flags, variables);
        terminal.until("> ");
        terminal.type_in("write a nite\u{7f}\u{7f}\u{7f}ote\r");
        terminal.until("wants to run write_note");
        terminal.until("Run it? ");
        terminal.type_in("y\r");
        terminal.until("write_note answered");
        terminal.until("> ");
        terminal.type_in("/quit\r");
        let (exit, shown) = terminal.rest();
        assert_eq!(exit, Some(0));
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
}

/// A chat as a screen reader has it: help, a question, a form, an answer.
#[test]
fn a_chat_is_read_line_by_line_in_every_language() {
    for (language, run, name) in [
        ("en", "Run it? ", "Name*: "),
        ("zh-CN", "要运行吗？ ", "Name*: "),
    ] {
        let desk = Desk::new();
        let variables = [("SWITCHBOARD_LANGUAGE", language)];
        let mut terminal = chat(&desk, &["chat", "--plain-output"], &variables);
        terminal.until("\r\n> ");
        for (said, shown, answer) in [
            ("/help", "Ctrl-C", None),
            ("write a note", run, Some("y")),
            ("ask for my name", name, Some("Ada")),
        ] {
            terminal.type_in(&format!("{said}\r"));
            terminal.until(shown);
            if let Some(answer) = answer {
                terminal.type_in(&format!("{answer}\r"));
            }
            terminal.until("\r\n> ");
        }
        terminal.type_in("/quit\r");
        let (exit, shown) = terminal.rest();
        assert_eq!(exit, Some(0), "{shown}");
        let lines: Vec<String> = shown.lines().map(without_figures).collect();
        insta::assert_snapshot!(format!("chat_in_{language}"), lines.join("\n"));
    }
}

/// A line without the time that a call took, and without the tokens of an answer.
fn without_figures(line: &str) -> String {
    if !line.starts_with("  ✓ ") && !line.starts_with("[demo · ") {
        return line.trim_end().to_owned();
    }
    let is_figure = |c: char| c.is_ascii_digit() || c == '.';
    let words = line.split(' ').map(|word| match word {
        "ms" => "s",
        word if !word.is_empty() && word.chars().all(is_figure) => "N",
        word => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn tab_completes_commands_tools_and_files() {
    let desk = Desk::new();
    std::fs::write(desk.home().join("unique-name.txt"), "").unwrap();
    let mut terminal = chat(&desk, &["chat"], &[]);
    terminal.until("> ");
    terminal.type_in("/too\t");
    terminal.until("/tools ");
    terminal.type_in("\r");
    terminal.until("demo · add");
    terminal.until("> ");
    terminal.type_in("/se\t");
    terminal.until("/servers  /sessions");
    terminal.type_in("\u{15}write_n\t");
    terminal.until("write_note ");
    let path = desk.home().join("unique").display().to_string();
    terminal.type_in(&format!("\u{15}/export {path}\t\r"));
    terminal.until("Written to");
    terminal.until("unique-name.txt");
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn the_last_message_is_taken_back_in_a_copy_and_answered_anew_in_place() {
    let desk = Desk::new();
    let output = desk.say(
        &["chat", "--approve", "auto"],
        "2 plus 3\nwhat time is it?\n/undo\n4 plus 5\n/retry\n/output\n/system Be brief.\n/system\n/quit\n",
    );
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(
        shown.contains("Back to before: what time is it?"),
        "{shown}"
    );
    assert!(shown.contains("Be brief."), "{shown}");
    let last = desk.json(&["session", "show", "last"]);
    let said = last["messages"].as_array().unwrap().iter();
    let said = said.filter(|message| message["role"] == "user");
    let said: Vec<&str> = said
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["2 plus 3", "4 plus 5"]);
    let all = desk.json(&["session", "list"]);
    assert_eq!(
        all["conversations"].as_array().unwrap().len(),
        2,
        "nothing was lost"
    );
    let shown = desk.run(&["session", "show", "last"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("```"), "results are shown: {shown}");
}

#[test]
fn a_prompt_of_a_server_is_filled_in_and_sent() {
    let desk = Desk::new();
    let lines =
        "/prompts\n/prompts greet name=Ada language=German\n/prompts nope\n/sessions\n/quit\n";
    let output = desk.say(&["chat"], lines);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("demo/greet"), "{shown}");
    assert!(
        shown.contains("Greet Ada in German, in one sentence."),
        "{shown}"
    );
    assert!(shown.contains("There is no prompt nope"), "{shown}");
    let last = desk.json(&["session", "show", "last"]);
    assert_eq!(
        last["messages"][0]["content"],
        "Greet Ada in German, in one sentence."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_in_a_field_is_asked_about_at_once_and_changes_no_other() {
    let form = json!({
        "type": "object",
        "required": ["name", "size"],
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2},
            "size": {"type": "string", "oneOf": [
                {"const": "s", "title": "Small"}, {"const": "m", "title": "Medium"}]},
            "age": {"type": "integer", "minimum": 1},
            "news": {"type": "boolean", "default": true},
        },
    });
    let answered = json!([{"type": "text", "text": "thanks"}]);
    let tool = Tool::new("survey")
        .with_step(Step::Ask(Ask::form("key", "A **survey**", form)))
        .answering(move |_| json!({ "content": answered }));
    let server = Server::new(Script::empty().with_tool(tool))
        .start_http()
        .await
        .unwrap();
    let url = server.url().to_string();
    let desk = Desk::new();
    let mut terminal = chat(&desk, &["call", &url, "survey"], &[]);
    let shown = tokio::task::spawn_blocking(move || {
        terminal.until("asks:");
        terminal.until("1/4 Your name*: ");
        terminal.type_in("\r");
        terminal.until("must be filled in");
        terminal.until("1/4 Your name*: ");
        terminal.type_in("Ada\r");
        terminal.until("1. Small (s)");
        terminal.until("2/4 size* (a number or a name): ");
        terminal.type_in("huge\r");
        terminal.until("! size");
        terminal.until("2/4 size* (a number or a name): ");
        terminal.type_in("2\r");
        terminal.until("3/4 age (a whole number; ≥ 1): ");
        terminal.type_in("old\r");
        terminal.until("! age");
        terminal.until("3/4 age (a whole number; ≥ 1): ");
        terminal.type_in("\r");
        terminal.until("4/4 news (yes or no; default true): ");
        terminal.type_in("no\r");
        terminal.rest()
    });
    let (exit, shown) = shown.await.unwrap();
    assert_eq!(exit, Some(0), "{shown}");
    assert!(shown.contains("thanks"), "{shown}");
    server.shutdown().await;
}
