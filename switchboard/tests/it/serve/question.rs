//! What servers ask of the user.

use serde_json::{Value, json};

use super::House;

#[test]
fn a_form_is_answered_once_and_as_it_wants_to_be() {
    let house = House::open();
    let mut events = house.events("");
    let talk = house.say(&json!({"approvalMode": "auto"}), "ask my name");
    let asked = events.until("elicitation.requested");
    let asked = &asked.last().unwrap().data;
    assert_eq!(asked["server"], "demo");
    assert!(
        asked["requestedSchema"]["properties"].is_object(),
        "{asked}"
    );
    let open = house.get(&format!("/api/conversations/{}/questions", talk.id));
    let listed = &open["items"][0];
    assert_eq!(
        (&listed["kind"], &listed["id"]),
        (&json!("elicitation"), &asked["id"])
    );
    let path = format!("/api/elicitations/{}", asked["id"].as_str().unwrap());
    let (status, error) = house.ask(
        "POST",
        &path,
        Some(&json!({"action": "accept", "content": {"nonsense": 1}})),
    );
    assert_eq!(status, 422, "{error}");
    assert!(
        !error["error"]["details"]["fields"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let field = asked["requestedSchema"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap();
    let mut content = json!({});
    content[field] = Value::from("Ada");
    let (status, error) = house.ask(
        "POST",
        &path,
        Some(&json!({"action": "accept", "content": content})),
    );
    assert_eq!(status, 204, "{error}");
    events.until("run.finished");
    let message = house.latest(&talk);
    assert!(
        message["content"].as_str().unwrap().contains("Ada"),
        "{message}"
    );
    let (status, error) = house.ask("POST", &path, Some(&json!({"action": "cancel"})));
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("already_answered"))
    );
    let (status, _) = house.ask(
        "POST",
        "/api/elicitations/nothing",
        Some(&json!({"action": "cancel"})),
    );
    assert_eq!(status, 404);
}
