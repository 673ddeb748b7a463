//! What servers ask of the user.

use serde_json::{Value, json};

use super::House;
use super::house::Chat;
use crate::cli::Desk;
use crate::program::path;

/// A house whose only server is the demo server of one era.
fn house(era: &str) -> House {
    let desk = Desk::new().on_tested_store();
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
fn asked(house: &House) -> (Chat, Value) {
    let mut events = house.events("");
    let chat = house.say(&json!({"approvalMode": "auto"}), "ask my name");
    let all = events.until("elicitation.requested");
    (chat, all.last().unwrap().data.clone())
}

fn answer_well(house: &House, chat: &Chat, asked: &Value) {
    let mut events = house.events("");
    assert_eq!(asked["server"], "asks");
    assert_eq!(asked["message"], "What is your name?");
    let open = house.get(&format!("/api/conversations/{}/questions", chat.id));
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
    let reported = events.until("run.finished");
    let resolved = reported.iter().find(|it| it.kind == "elicitation.resolved");
    assert_eq!(resolved.unwrap().data["id"], asked["id"]);
    let message = house.latest(chat);
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
    let (chat, asked) = asked(&house);
    belongs_to(&house, &asked, &chat);
    answer_well(&house, &chat, &asked);
    assert_eq!(waiting(&house, &chat), 0);
}

#[test]
fn a_form_of_a_parked_call_survives_kill_9_and_is_answered_once() {
    let mut house = house("modern");
    let (chat, asked) = asked(&house);
    belongs_to(&house, &asked, &chat);
    house.kill();
    house.start();
    answer_well(&house, &chat, &asked);
}

/// A question is announced with its conversation and its call, which waits.
#[track_caller]
fn belongs_to(house: &House, asked: &Value, chat: &Chat) {
    assert_eq!(asked["conversationId"], chat.id.as_str());
    assert_eq!(asked["messageId"], chat.answer.as_str());
    let call = &house.latest(chat)["toolCalls"][0];
    assert_eq!(asked["callId"], call["position"]);
    let listed = open(house, chat);
    assert_eq!(listed.len(), 1);
    for key in ["id", "conversationId", "messageId", "callId"] {
        assert_eq!(listed[0][key], asked[key], "{key}");
    }
    assert_eq!(waiting(house, chat), 1);
}

fn open(house: &House, chat: &Chat) -> Vec<Value> {
    let open = house.get(&format!("/api/conversations/{}/questions", chat.id));
    open["items"].as_array().unwrap().clone()
}

fn waiting(house: &House, chat: &Chat) -> u64 {
    let row = house.get(&format!("/api/conversations/{}", chat.id));
    row["waiting"].as_u64().unwrap()
}

fn answer(house: &House, asked: &Value, body: &Value) -> (u16, Value) {
    let path = format!("/api/elicitations/{}", asked["id"].as_str().unwrap());
    house.ask("POST", &path, Some(body))
}

/// Begins another conversation in which the same server is to ask, and waits until its call is
/// queued.
fn queued(house: &House) -> (Chat, Value) {
    let mut events = house.events("");
    let chat = house.say(&json!({"approvalMode": "auto"}), "ask my name, too");
    let all = events.until_that(|event| {
        event.kind == "assistant.toolCall.updated" && event.data["status"] == "queued"
    });
    (chat, all.last().unwrap().data.clone())
}

#[test]
fn a_question_is_asked_in_its_own_conversation_and_the_other_one_is_queued_with_the_reason() {
    let house = house("legacy");
    let (first, asked) = asked(&house);
    let (second, call) = queued(&house);
    assert_eq!(
        call["queued"],
        "asks is waiting for an answer in “ask my name”"
    );
    assert_eq!(house.latest(&second)["toolCalls"][0]["status"], "queued");
    assert_eq!(call["startedAt"], Value::Null);
    assert!(open(&house, &second).is_empty());
    assert_eq!((waiting(&house, &first), waiting(&house, &second)), (1, 0));
    let ada = |chat: &Chat| json!({"action": "accept", "content": {"name": "Ada"}, "conversationId": chat.id});
    let (status, error) = answer(&house, &asked, &ada(&second));
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("wrong_conversation"))
    );
    assert_eq!(waiting(&house, &first), 1, "it still waits");
    let mut events = house.events("");
    let (status, error) = answer(&house, &asked, &ada(&first));
    assert_eq!(status, 204, "{error}");
    let all = events.until("elicitation.requested");
    let asked = all.last().unwrap().data.clone();
    belongs_to(&house, &asked, &second);
    let (status, error) = answer(&house, &asked, &ada(&second));
    assert_eq!(status, 204, "{error}");
    let ends = |event: &super::live::Live| {
        event.kind == "run.finished" && event.data["conversationId"] == second.id.as_str()
    };
    events.until_that(ends);
    for chat in [&first, &second] {
        let message = house.latest(chat);
        assert!(message["content"].as_str().unwrap().contains("Hello, Ada!"));
        assert_eq!(message["toolCalls"][0]["queued"], Value::Null);
        assert_eq!(waiting(&house, chat), 0);
    }
}

#[test]
fn a_question_ends_with_its_call_and_the_next_conversation_has_its_turn() {
    let house = house("legacy");
    let (first, asked) = asked(&house);
    let (second, _) = queued(&house);
    let mut events = house.events("");
    house.post(
        &format!("/api/conversations/{}/cancel", first.id),
        &json!({}),
    );
    let all = events.until("elicitation.requested");
    let over = all.iter().find(|it| it.kind == "elicitation.resolved");
    assert_eq!(over.unwrap().data["id"], asked["id"]);
    assert_eq!(over.unwrap().data["conversationId"], first.id.as_str());
    assert!(open(&house, &first).is_empty());
    assert_eq!(waiting(&house, &first), 0);
    let (status, error) = answer(&house, &asked, &json!({"action": "cancel"}));
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("already_answered"))
    );
    belongs_to(&house, &all.last().unwrap().data, &second);
}

#[test]
fn a_question_of_a_call_that_kill_9_cut_off_is_over() {
    let mut house = house("legacy");
    let (chat, asked) = asked(&house);
    house.kill();
    house.start();
    // Where machines share the store, that takes until the killed one is known to be dead.
    house.events("after=0").until_that(|event| {
        event.kind == "elicitation.resolved" && event.data["id"] == asked["id"]
    });
    assert!(open(&house, &chat).is_empty());
    assert_eq!(waiting(&house, &chat), 0);
    let call = &house.latest(&chat)["toolCalls"][0];
    assert!(["error", "cancelled"].contains(&call["status"].as_str().unwrap()));
    let (status, error) = answer(&house, &asked, &json!({"action": "cancel"}));
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("already_answered"))
    );
}

/// Over HTTP a question comes on the stream of its call: no one has to wait for anybody.
#[test]
fn over_legacy_http_two_conversations_are_asked_at_the_same_time_each_its_own() {
    let (desk, elsewhere) = (Desk::new().on_tested_store(), Desk::new());
    let server = Http::start(&elsewhere);
    desk.run(&["servers", "add", "asks", &server.url]);
    let house = House::at(desk, &[]);
    let (first, one) = asked(&house);
    let (second, other) = asked(&house);
    belongs_to(&house, &one, &first);
    belongs_to(&house, &other, &second);
    assert_ne!(one["id"], other["id"]);
    let mut events = house.events("");
    for (chat, asked, name) in [(&second, &other, "Bea"), (&first, &one, "Ada")] {
        let body = json!({"action": "accept", "content": {"name": name}});
        let (status, error) = answer(&house, asked, &body);
        assert_eq!(status, 204, "{error}");
        events.until("run.finished");
        let message = house.latest(chat);
        let greeting = format!("Hello, {name}!");
        assert!(message["content"].as_str().unwrap().contains(&greeting));
    }
}

/// A demo server of the legacy era behind HTTP.
struct Http {
    child: std::process::Child,
    url: String,
}

impl Http {
    fn start(desk: &Desk) -> Self {
        use std::io::BufRead as _;
        let arguments = ["--json", "demo-server", "--http", "--era", "legacy"];
        let mut command = desk.command(&arguments);
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut lines = std::io::BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        let reported: Value = serde_json::from_str(&line).unwrap();
        let url = reported["url"].as_str().unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
