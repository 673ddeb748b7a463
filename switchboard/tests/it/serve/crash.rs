//! `kill -9`, and the end of a service.

use serde_json::json;

use super::House;

/// An approval waits in the store.
#[test]
fn an_approval_survives_kill_9_is_shown_again_and_answered() {
    let mut house = House::open();
    let mut events = house.events("");
    let chat = house.say(&json!({}), "write a note");
    events.until_waiting();
    let before = house.latest(&chat);
    let token = house.token("local").to_owned();
    house.kill();
    house.start();
    assert_eq!(house.token("local"), token, "the link stays good");
    assert_eq!(house.latest(&chat), before, "it is shown just as it was");
    let mut events = house.events("");
    let (status, call) = house.confirm(&before, &json!({}));
    assert_eq!(status, 200, "{call}");
    events.until("run.finished");
    let after = house.latest(&chat);
    assert_eq!(after["toolCalls"][0]["status"], "done");
    assert_eq!(after["finish"], "done");
    house.stop();
}

#[test]
fn a_call_that_ran_at_kill_9_is_interrupted_and_never_made_again() {
    let mut house = House::open();
    let mut events = house.events("");
    let chat = house.say(&json!({"approvalMode": "auto"}), "please be slow");
    let all = events.until_that(|event| event.data["status"] == "invoking");
    let last = all.last().unwrap().id;
    house.kill();
    house.start();
    let goes_on = house.desk.is_shared();
    let over = if goes_on { "done" } else { "interrupted" };
    let mut events = house.events(&format!("after={last}"));
    events.until("run.finished");
    let message = house.latest(&chat);
    assert_eq!(message["finish"], over, "{message}");
    let call = &message["toolCalls"][0];
    assert_eq!(call["status"], "error");
    assert!(
        call["response"].to_string().contains("interrupted"),
        "{call}"
    );
    // Whoever comes back with the number of the last event hears of it.
    let mut events = house.events(&format!("after={last}"));
    let reported = events.until("run.finished");
    assert_eq!(reported.last().unwrap().data["reason"], over);
    assert!(reported.iter().any(|event| event.data["status"] == "error"));
    if !goes_on {
        let path = format!("/api/conversations/{}/continue", chat.id);
        assert_eq!(house.ask("POST", &path, None).0, 202);
        let reported = events.until("run.finished");
        assert_eq!(reported.last().unwrap().data["reason"], "done");
    }
    let message = house.latest(&chat);
    assert_eq!(
        message["toolCalls"].as_array().unwrap().len(),
        1,
        "it was not repeated"
    );
    house.stop();
}

#[test]
fn the_end_of_the_service_settles_what_runs_and_leaves_no_process() {
    let mut house = House::open();
    let mut events = house.events("");
    let running = house.say(&json!({"approvalMode": "auto"}), "please be slow");
    events.until_that(|event| event.data["status"] == "invoking");
    let waiting = house.say(&json!({}), "write a note");
    events.until_waiting();
    house.stop();
    house.start();
    // Where machines share the store, what runs may finish, and another one goes on.
    let (call, finish) = match house.desk.is_shared() {
        true => ("done", "done"),
        false => ("cancelled", "cancelled"),
    };
    house.events("after=0").until_that(|event| {
        event.kind == "run.finished" && event.data["conversationId"] == running.id.as_str()
    });
    let message = house.latest(&running);
    assert_eq!(message["finish"], finish, "{message}");
    assert_eq!(message["toolCalls"][0]["status"], call);
    let message = house.latest(&waiting);
    assert!(
        message["toolCalls"][0]["approval"].is_object(),
        "it still waits: {message}"
    );
    house.stop();
}

#[test]
fn the_terminal_and_the_page_do_not_both_move_a_conversation_on() {
    let mut house = House::open();
    let mut events = house.events("");
    let chat = house.say(&json!({}), "write a note");
    events.until_waiting();
    let message = house.latest(&chat);
    let output = house
        .desk
        .say_beside(&["session", "resume", &chat.id], "y\n/quit\n");
    assert_eq!(output.status.code(), Some(0));
    let (status, error) = house.confirm(&message, &json!({}));
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("already_answered"))
    );
    assert_eq!(house.latest(&chat)["finish"], "done");
    house.stop();
}
