//! What a group of verbs does by default, and its aliases.

use super::Desk;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_noun_alone_lists() {
    let desk = Desk::new();
    for noun in [
        "session",
        "approvals",
        "model",
        "config",
        "servers",
        "assistants",
    ] {
        let (alone, listed) = (desk.run(&[noun]), desk.run(&[noun, "list"]));
        assert_eq!(alone.status.code(), Some(0), "{noun}");
        assert_eq!(text(&alone.stdout), text(&listed.stdout));
        assert!(!alone.stdout.is_empty(), "{noun}");
        assert_eq!(desk.run(&[noun, "ls"]).stdout, listed.stdout);
    }
}

#[test]
fn plural_and_singular_are_the_same_verb() {
    let desk = Desk::new();
    for (one, other) in [
        ("session", "sessions"),
        ("approvals", "approval"),
        ("model", "models"),
        ("servers", "server"),
        ("assistants", "assistant"),
    ] {
        assert_eq!(desk.run(&[one]).stdout, desk.run(&[other]).stdout);
    }
    desk.json(&["assistants", "add", "x"]);
    desk.json(&["assistant", "rm", "x"]);
}

#[test]
fn messages_are_numbered_as_a_copy_takes_them() {
    let desk = Desk::new();
    desk.json(&["run", "2 plus 3", "--approve", "auto"]);
    let shown = text(&desk.run(&["session", "show", "last"]).stdout);
    let number = |who: &str| {
        let heading = shown.lines().find(|line| line.ends_with(who));
        let heading = heading.unwrap_or_else(|| panic!("{shown}"));
        let number = heading.trim_start_matches("## ");
        number.split('.').next().unwrap().to_owned()
    };
    let first = number(". You");
    assert_ne!(first, number(". Assistant"));
    let copy = desk.json(&["session", "fork", "last", "--upto", &first]);
    let copy = desk.json(&["session", "show", copy["id"].as_str().unwrap()]);
    assert_eq!(copy["messages"].as_array().unwrap().len(), 1);
    let error = desk.error(&["session", "fork", "last", "--upto", "99"]);
    assert!(error.to_string().contains("no message 99"), "{error}");
}

#[test]
fn setting_no_model_lists_them() {
    let desk = Desk::new();
    let output = desk.run(&["model", "set"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, desk.run(&["model", "list"]).stdout);
    assert!(text(&output.stderr).contains("`switchboard model set NAME`"));
}

#[cfg(unix)]
#[test]
fn setting_a_model_in_a_terminal_lets_one_be_chosen() {
    let desk = Desk::new();
    let mut terminal = super::Terminal::of(desk.command(&["model", "set"]));
    terminal.until("openai");
    terminal.until("(Enter: no change)? ");
    terminal.type_in("ollama/qwen3\r");
    terminal.until("Model: ollama/qwen3");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(desk.json(&["model", "show"])["name"], "ollama/qwen3");
}

#[test]
fn a_keyring_that_cannot_be_used_is_reported_before_a_key_is_asked_for() {
    let desk = Desk::new();
    let mut command = desk.command(&["model", "set", "openai", "--ask-key"]);
    let output = command.env("SWITCHBOARD_KEYRING", "off").output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("keyring") && error.contains("--plain"),
        "{error}"
    );
    assert!(!error.contains("then Enter"), "{error}");
}
