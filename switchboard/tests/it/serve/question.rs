//! What servers ask of the user.

use serde_json::{Value, json};

use super::House;
use crate::program::path;
use crate::talk::Desk;

/// A house whose only server is the demo server of one era.
fn house(era: &str) -> House {
    let desk = Desk::new();
    desk.run(&[
        "servers",
        "add",
        "asks",
        "--",
        path(),
        "demo-server",
        "--era",
        era,
    ]);
    House::at(desk, &[])
}

/// Has the server ask, and gives back the conversation and what is asked.
fn asked(house: &House) -> (super::house::Talk, Value) {
    let mut events = house.events("");
    let talk = house.say(&json!({"approvalMode": "auto"}), "ask my name");
    let all = events.until("elicitation.requested");
    (talk, all.last().unwrap().data.clone())
}

fn answer_well(house: &House, talk: &super::house::Talk, asked: &Value) {
    let mut events = house.events("");
    assert_eq!(asked["server"], "asks");
    assert_eq!(asked["message"], "What is your name?");
    let open = house.get(&format!("/api/conversations/{}/questions", talk.id));
    let listed = &open["items"][0];
    assert_eq!(
        (&listed["kind"], &listed["id"]),
        (&json!("elicitation"), &asked["id"])
    );
    let path = format!("/api/elicitations/{}", asked["id"].as_str().unwrap());
    let answer = |body: Value| house.ask("POST", &path, Some(&body));
    let (status, error) = answer(json!({"action": "accept", "content": {"nonsense": 1}}));
    assert_eq!(status, 422, "{error}");
    let fields = error["error"]["details"]["fields"].as_array();
    assert!(!fields.unwrap().is_empty());
    let (status, error) = answer(json!({"action": "accept", "content": {"name": "Ada"}}));
    assert_eq!(status, 204, "{error}");
    let told = events.until("run.finished");
    let resolved = told.iter().find(|it| it.kind == "elicitation.resolved");
    assert_eq!(resolved.unwrap().data["id"], asked["id"]);
    let message = house.latest(talk);
    assert!(
        message["content"].as_str().unwrap().contains("Hello, Ada!"),
        "{message}"
    );
    let (status, error) = answer(json!({"action": "cancel"}));
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("already_answered"))
    );
    let nothing = "/api/elicitations/nothing";
    let (status, _) = house.ask("POST", nothing, Some(&json!({"action": "cancel"})));
    assert_eq!(status, 404);
}

#[test]
fn a_form_of_a_call_that_waits_is_answered_once_and_as_it_wants_to_be() {
    let house = house("legacy");
    let (talk, asked) = asked(&house);
    assert_eq!(asked["conversationId"], Value::Null);
    answer_well(&house, &talk, &asked);
}

#[test]
fn a_form_of_a_parked_call_survives_kill_9_and_is_answered_once() {
    let mut house = house("modern");
    let (talk, asked) = asked(&house);
    assert_eq!(asked["conversationId"], talk.id.as_str());
    house.kill();
    house.start();
    answer_well(&house, &talk, &asked);
}
