//! Two processes on one database.

use serde_json::json;

use super::House;
use super::house::Chat;

/// A call that runs until it is stopped.
pub(super) fn running(house: &House) -> Chat {
    let mut events = house.events("");
    let chat = house.say(&json!({"approvalMode": "ask"}), "please be slow");
    events.until_waiting();
    let message = house.latest(&chat);
    let (status, call) = house.confirm(&message, &json!({"args": {"ms": 60_000}}));
    assert_eq!(status, 200, "{call}");
    events.until_that(|event| event.data["status"] == "invoking");
    chat
}

#[test]
fn an_answer_under_way_is_left_alone_by_other_processes() {
    let mut house = House::open();
    let chat = running(&house);
    let before = house.latest(&chat);
    let resume = ["run", "--resume", &chat.id, "hello", "--json"];
    let output = house.desk.say_beside(&resume, "");
    let reported = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{reported}");
    assert!(
        reported.contains("under way in another process"),
        "{reported}"
    );
    let output = house
        .desk
        .say_beside(&["session", "resume", &chat.id], "hi\n");
    assert_eq!(output.status.code(), Some(1));
    // A second one that starts takes nothing up that the first one drives.
    let first = house.start_another();
    assert_eq!(house.latest(&chat), before);
    for (verb, body) in [
        ("messages", Some(json!({"content": "hello"}))),
        ("continue", None),
        ("cancel", None),
    ] {
        let path = format!("/api/conversations/{}/{verb}", chat.id);
        let (status, error) = house.ask("POST", &path, body.as_ref());
        assert_eq!(status, 409, "{error}");
        assert_eq!(error["error"]["code"], "running_elsewhere", "{error}");
    }
    assert_eq!(house.latest(&chat), before);
    house.go_back_to(first);
    let path = format!("/api/conversations/{}/cancel", chat.id);
    assert_eq!(house.ask("POST", &path, None).0, 200);
    let after = house.latest(&chat);
    assert_eq!(
        after["finish"], "cancelled",
        "the first one had it: {after}"
    );
    house.stop();
}

#[test]
fn what_a_killed_process_leaves_behind_is_taken_up_by_the_other() {
    let mut house = House::open();
    let (settled, said) = (running(&house), running(&house));
    let (mut first, _) = house.start_another();
    let mut events = house.events("");
    first.kill().unwrap();
    first.wait().unwrap();
    // Whoever says something does not wait for that.
    let path = format!("/api/conversations/{}/messages", said.id);
    house.post(&path, &json!({"content": "hello"}));
    events.until_that(|event| {
        event.kind == "run.finished" && event.data["conversationId"] == settled.id.as_str()
    });
    let message = house.latest(&settled);
    assert_eq!(message["finish"], "interrupted", "{message}");
    assert_eq!(message["toolCalls"][0]["status"], "error");
    house.stop();
}
