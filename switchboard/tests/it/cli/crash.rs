//! `kill -9`, and going on after it.

use super::Desk;

pub(super) fn gone(desk: &Desk) {
    // The kernel takes the children a moment after their parent.
    for _ in 0..200 {
        let mark = format!("SWITCHBOARD_HOME={}", desk.home().display());
        if crate::program::left_running(&mark).is_empty() {
            return;
        }
        std::thread::yield_now();
        std::thread::park_timeout(std::time::Duration::from_millis(20));
    }
    desk.assert_nothing_left();
}

#[test]
fn an_approval_survives_kill_9_and_is_answered_after_the_restart() {
    let desk = Desk::new();
    let mut chat = desk.chat(&["chat"]);
    chat.say("write a note");
    chat.until("[y] once");
    chat.kill();
    gone(&desk);
    let list = desk.json(&["session", "list"]);
    assert_eq!(list["conversations"][0]["waiting"], true, "{list}");
    let before = desk.json(&["session", "show", "last"]);
    assert_eq!(before["messages"][1]["toolCalls"][0]["status"], "pending");
    let output = desk.say(&["session", "resume"], "y\nwhat time is it?\n/quit\n");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert_eq!(
        shown.matches("demo wants to run write_note").count(),
        1,
        "{shown}"
    );
    assert_eq!(shown.matches("→ demo · write_note").count(), 1, "{shown}");
    let after = desk.json(&["session", "show", "last"]);
    let messages = after["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 4, "the next message was accepted: {after}");
    assert_eq!(messages[1]["toolCalls"][0]["status"], "done");
    assert_eq!(messages[1]["finish"], "finished");
    let list = desk.json(&["session", "list"]);
    assert_eq!(list["conversations"][0]["waiting"], false);
}

#[test]
fn a_call_that_ran_when_the_program_was_killed_is_interrupted_and_never_repeated() {
    let desk = Desk::new();
    let mut chat = desk.chat(&["chat", "--approve", "auto"]);
    chat.say("please be slow");
    chat.until("→ demo · slow");
    chat.kill();
    gone(&desk);
    let output = desk.say(
        &["session", "resume", "--approve", "auto"],
        "/continue\n/quit\n",
    );
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("cut off"), "{shown}");
    assert!(!shown.contains("→ demo · slow"), "it was repeated: {shown}");
    let after = desk.json(&["session", "show", "last"]);
    let call = &after["messages"][1]["toolCalls"][0];
    assert_eq!(call["status"], "error", "{after}");
    assert!(
        call["response"].to_string().contains("interrupted"),
        "{call}"
    );
    assert_eq!(after["messages"][1]["finish"], "finished", "{after}");
}

#[test]
fn what_was_shown_before_a_kill_is_stored() {
    let desk = Desk::new();
    let mut chat = desk.chat(&["chat", "--approve", "auto"]);
    chat.say("2 plus 3");
    let shown = chat.until("add answered:");
    chat.kill();
    gone(&desk);
    let line = shown.lines().last().unwrap();
    let stored = desk.json(&["session", "show", "last"]);
    let content = stored["messages"][1]["content"].as_str().unwrap();
    assert!(
        content.contains(line.trim()),
        "shown {line:?}, stored {content:?}"
    );
}
