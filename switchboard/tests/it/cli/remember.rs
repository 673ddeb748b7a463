//! A conversation goes on with what it was started with, and an interrupted round is settled first.

use serde_json::{Value, json};

use super::endpoint::Recorder;
use super::{Desk, crash::gone};

/// What a conversation keeps of its start.
fn options(desk: &Desk, id: &str) -> Value {
    let raw = rusqlite::Connection::open(desk.home().join("switchboard.db")).unwrap();
    let sql = "SELECT options FROM conversations WHERE id = ?";
    let text: String = raw.query_row(sql, [id], |row| row.get(0)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn going_on_uses_the_model_the_address_the_servers_and_the_limits_of_the_start() {
    let (desk, server) = (Desk::new(), Recorder::broken());
    desk.run(&["servers", "add", "other", "--", "no-such-program"]);
    let start = [
        "run",
        "hi",
        "-m",
        "foo",
        "--base-url",
        &server.url,
        "-s",
        "demo",
    ];
    let start = [&start[..], &["--max-rounds", "3", "--approve", "auto-read"]].concat();
    let error = desk.error(&start);
    let hint = error["error"]["hint"].as_str().unwrap();
    let id = hint
        .split(['`', ' '])
        .find(|word| word.len() == 16)
        .unwrap();
    let asked = server.asked();
    assert!(asked[0].contains("get_time"), "the demo server takes part");
    // Whatever is set meanwhile.
    desk.json(&["model", "set", "demo"]);
    desk.json(&["config", "set", "approve", "auto"]);
    for again in [
        &["run", "--resume", id][..],
        &["run", "--resume", id, "well?"],
    ] {
        let before = server.asked().len();
        let output = desk.run(&[again, &["--json"]].concat());
        assert_eq!(
            output.status.code(),
            Some(2),
            "the same broken model is asked"
        );
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !reported.contains("no-such-program"),
            "no other server: {reported}"
        );
        let asked = server.asked();
        assert_eq!(asked.len(), before + 1);
        assert!(asked[before].contains("get_time") && asked[before].contains("\"foo\""));
    }
    let kept = options(&desk, id);
    assert_eq!(kept["approvalMode"], "auto-read", "{kept}");
    assert_eq!(
        (&kept["maxRounds"], &kept["servers"]),
        (&json!(3), &json!(["demo"]))
    );
    let copy = desk.json(&["session", "fork", id]);
    assert_eq!(options(&desk, copy["id"].as_str().unwrap()), kept);
    // With other options it goes on with those, and remembers them.
    let other = desk.json(&[
        "run",
        "--resume",
        id,
        "2 plus 3",
        "-m",
        "demo",
        "--approve",
        "auto",
    ]);
    assert_eq!(other["model"], "demo");
    let kept = options(&desk, id);
    assert_eq!(
        (&kept["model"], &kept["approvalMode"]),
        (&json!("demo"), &json!("auto"))
    );
    assert_eq!(kept["endpoint"], Value::Null);
}

#[test]
fn an_address_with_a_secret_is_not_kept_and_asked_for_again() {
    let desk = Desk::new();
    let url = "http://127.0.0.1:9/mcp?token=hush";
    let started = desk.json(&["run", "hello", "-m", "demo", "--approve", "auto", "-s", url]);
    let id = started["conversation"].as_str().unwrap();
    let file = std::fs::read(desk.home().join("switchboard.db")).unwrap();
    assert!(!String::from_utf8_lossy(&file).contains("hush"));
    let error = desk.error(&["run", "--resume", id, "again"]);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("127.0.0.1:9") && !message.contains("hush"),
        "{error}"
    );
    desk.json(&["run", "--resume", id, "again", "-s", "demo"]);
    desk.json(&["run", "--resume", id, "and again"]);
}

#[test]
fn saying_something_after_a_crash_settles_the_round_that_was_cut_off() {
    let desk = Desk::new();
    let mut chat = desk.chat(&["chat", "--approve", "auto"]);
    chat.say("please be slow");
    chat.until("→ demo · slow");
    chat.kill();
    gone(&desk);
    desk.json(&["run", "--resume", "last", "2 plus 3"]);
    let session = desk.json(&["session", "show", "last"]);
    let messages = session["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 4, "{session}");
    assert_eq!(messages[1]["finish"], "interrupted");
    let call = &messages[1]["toolCalls"][0];
    assert_eq!(call["status"], "error");
    assert!(
        call["response"].to_string().contains("interrupted"),
        "{call}"
    );
    // The model knows of the call: its run has it.
    let raw = rusqlite::Connection::open(desk.home().join("switchboard.db")).unwrap();
    let sql = "SELECT state FROM runs ORDER BY seq DESC LIMIT 1";
    let state: String = raw.query_row(sql, [], |row| row.get(0)).unwrap();
    assert!(
        state.contains("interrupted") && state.contains("2 plus 3"),
        "{state}"
    );
}

#[test]
fn saying_something_ends_the_questions_of_the_round_that_was_cut_off() {
    let desk = Desk::new();
    let mut chat = desk.chat(&["chat"]);
    chat.say("write a note");
    chat.until("[y] once");
    chat.kill();
    gone(&desk);
    desk.json(&["run", "--resume", "last", "hello"]);
    let list = desk.json(&["session", "list"]);
    assert_eq!(list["conversations"][0]["waiting"], false, "{list}");
    let session = desk.json(&["session", "show", "last"]);
    let call = &session["messages"][1]["toolCalls"][0];
    assert_eq!(call["status"], "cancelled", "{session}");
}

#[test]
fn going_on_keeps_the_instructions_unless_another_assistant_is_named() {
    let (desk, server) = (Desk::new(), Recorder::greeting());
    desk.json(&["assistants", "add", "poet", "--system", "Rhyme."]);
    desk.json(&["assistants", "add", "clerk", "--system", "Be dry."]);
    let at = ["-m", "foo", "--base-url", &server.url];
    let started = desk.json(&[&["run", "hi", "-a", "poet"][..], &at].concat());
    let id = started["conversation"].as_str().unwrap();
    desk.json(&["assistants", "edit", "poet", "--system", "Shout."]);
    desk.json(&["run", "--resume", id, "and?"]);
    desk.json(&["run", "--resume", id, "and?", "-a", "clerk"]);
    desk.json(&["run", "--resume", id, "and?"]);
    let asked = server.asked();
    let instructions = ["Rhyme.", "Rhyme.", "Be dry.", "Be dry."];
    assert_eq!(asked.len(), instructions.len());
    for (request, system) in asked.iter().zip(instructions) {
        assert!(
            request.contains(system) && !request.contains("Shout"),
            "{request}"
        );
    }
    assert!(!asked[3].contains("Rhyme."));
}

#[test]
fn a_conversation_opened_in_a_chat_goes_on_by_its_own_rules() {
    let desk = Desk::new();
    let args = ["run", "hello", "--max-rounds", "3", "-s", "demo"];
    let started = desk.json(&[&args[..], &["--approve", "ask"]].concat());
    let id = started["conversation"].as_str().unwrap();
    let before = options(&desk, id);
    let lines = format!("/approve auto\n/sessions {id}\n/approve\nwrite a note\nn\n/quit\n");
    let output = desk.say(&["chat", "--approve", "auto", "--max-rounds", "9"], &lines);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("demo wants to run write_note"), "{shown}");
    assert!(!shown.contains("write_note answered"), "{shown}");
    let modes = ["Approval mode: auto", "Approval mode: ask", "\nask\n"];
    let places = modes.map(|mode| shown.find(mode));
    assert!(places.is_sorted() && places[0].is_some(), "{shown}");
    assert_eq!(options(&desk, id), before, "nothing of the other chat");
}

#[test]
fn instructions_given_in_a_chat_end_with_it() {
    let desk = Desk::new();
    let id = desk.json(&["run", "hello"])["conversation"].clone();
    let id = id.as_str().unwrap();
    for next in ["/clear".to_owned(), format!("/sessions {id}")] {
        let lines = format!("/system Rhyme.\n{next}\n/system\n/quit\n");
        let output = desk.say(&["chat"], &lines);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("The model has no instructions."), "{shown}");
    }
}
