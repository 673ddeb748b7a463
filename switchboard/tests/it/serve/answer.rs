//! What is said, what is answered, and the calls in between.

use serde_json::{Value, json};

use super::House;
use super::live::Live;

/// The kinds of events, without those of servers, which connect meanwhile.
fn kinds(events: &[Live]) -> Vec<&str> {
    let kinds = events.iter().map(|event| event.kind.as_str());
    let mut kinds: Vec<&str> = kinds.filter(|kind| !kind.starts_with("server.")).collect();
    // How many pieces the text comes in is a matter of time.
    kinds.dedup();
    kinds
}

fn statuses(events: &[Live]) -> Vec<String> {
    let calls = events
        .iter()
        .filter(|event| event.kind == "assistant.toolCall.updated");
    let reported = calls.map(|event| {
        let text = |key: &str| event.data[key].as_str().unwrap_or("-").to_owned();
        let asked = if event.data["approval"].is_object() {
            "?"
        } else {
            ""
        };
        format!("{}{asked} {}", text("status"), text("approvedBy"))
    });
    reported.collect()
}

/// A call is sent whole whenever it changes, inside the one message.
#[test]
fn a_call_is_asked_for_approved_made_and_answered_in_one_message() {
    let house = House::open();
    let mut events = house.events("");
    let chat = house.say(&json!({}), "write a note");
    let before = events.until_waiting();
    assert_eq!(
        kinds(&before),
        [
            "conversation.updated",
            "message.created",
            "conversation.updated",
            "usage.updated",
            "assistant.toolCall.updated",
            "conversation.updated"
        ]
    );
    let waiting = house.latest(&chat);
    assert_eq!(waiting["id"], chat.answer.as_str());
    let (status, call) = house.confirm(&waiting, &json!({}));
    assert_eq!(
        (status, &call["approvedBy"]),
        (200, &json!("user")),
        "{call}"
    );
    let after = events.until("run.finished");
    assert_eq!(after.last().unwrap().data["reason"], "done");
    let all = [before, after].concat();
    assert_eq!(
        statuses(&all),
        [
            "pending -",
            "pending? -",
            "pending user",
            "invoking user",
            "done user"
        ]
    );
    assert!(all.is_sorted_by(|a, b| a.id < b.id));
    let text: String = all
        .iter()
        .filter(|event| event.kind == "message.delta")
        .map(|event| event.data["text"].as_str().unwrap())
        .collect();
    let page = house.get(&format!("/api/conversations/{}/messages", chat.id));
    let messages = page["items"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "one question, one answer: {page}");
    assert_eq!(messages[1]["content"], text.as_str());
    let call = &messages[1]["toolCalls"][0];
    let reported = [
        "id",
        "serverId",
        "serverName",
        "toolName",
        "displayName",
        "arguments",
        "status",
        "response",
        "isError",
    ];
    let record: Value = reported
        .iter()
        .map(|key| ((*key).to_owned(), call[*key].clone()))
        .collect();
    insta::assert_json_snapshot!(record, @r#"
    {
      "id": "call_demo0",
      "serverId": null,
      "serverName": "demo",
      "toolName": "write_note",
      "displayName": "mcp__demo__write_note",
      "arguments": {
        "text": "write a note"
      },
      "status": "done",
      "response": {
        "content": [
          {
            "type": "text",
            "text": "Noted: write a note"
          }
        ]
      },
      "isError": false
    }
    "#);
}

/// Who knows the other name of the event hears it, too.
#[test]
fn a_changed_call_has_a_second_name_for_those_who_want_it() {
    let house = House::open();
    let chat = house.say(&json!({"approvalMode": "auto"}), "2 plus 3");
    house
        .events(&format!("after=0&conversation={}", chat.id))
        .until("run.finished");
    let named = |query: &str| {
        let mut events = house.events(&format!("after=0{query}"));
        let all = events.until("run.finished");
        let named = all
            .into_iter()
            .filter(|event| event.kind == "tool.message.updated");
        named.map(|event| event.data).collect::<Vec<_>>()
    };
    assert!(named("").is_empty());
    let calls = named("&alias=1");
    assert_eq!(calls.last().unwrap()["status"], "done");
}

#[test]
fn a_call_is_confirmed_once_and_only_as_it_was_shown() {
    let house = House::open();
    let mut events = house.events("");
    let chat = house.say(&json!({}), "write a note");
    events.until_waiting();
    let message = house.latest(&chat);
    let (status, error) = house.confirm(&message, &json!({"digest": "of something else"}));
    assert_eq!((status, &error["error"]["code"]), (409, &json!("stale")));
    let (status, error) = house.confirm(&message, &json!({"args": {"text": 7}}));
    assert_eq!((status, &error["error"]["code"]), (422, &json!("unfit")));
    let why = "`/text`: must be string, but is 7";
    for said in [
        &error["error"]["message"],
        &error["error"]["details"]["arguments"],
    ] {
        let said = said.as_str().unwrap();
        assert!(said.contains(why), "it names the member: {said}");
    }
    let (status, _) = house.confirm(&message, &json!({"scope": "server"}));
    assert_eq!(status, 422, "it changes something");
    let (status, _) = house.confirm(&message, &json!({"position": 9}));
    assert_eq!(status, 404);
    let (status, error) = house.ask(
        "POST",
        &format!("/api/conversations/{}/messages", chat.id),
        Some(&json!({"content": "and now?"})),
    );
    assert_eq!((status, &error["error"]["code"]), (409, &json!("running")));
    let (status, call) = house.confirm(&message, &json!({"args": {"text": "other words"}}));
    assert_eq!(status, 200, "{call}");
    let (status, error) = house.confirm(&message, &json!({}));
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("already_answered"))
    );
    events.until("run.finished");
    let (status, error) = house.confirm(&message, &json!({}));
    assert_eq!(
        (status, &error["error"]["code"]),
        (409, &json!("already_answered"))
    );
    let message = house.latest(&chat);
    assert_eq!(
        message["toolCalls"][0]["arguments"],
        json!({"text": "other words"})
    );
    assert!(
        message["content"].as_str().unwrap().contains("other words"),
        "{message}"
    );
}

#[test]
fn a_denied_call_is_not_made_and_the_model_learns_why() {
    let house = House::open();
    let mut events = house.events("");
    let chat = house.say(&json!({}), "write a note");
    events.until_waiting();
    let no = json!({"decision": "deny", "reason": "not on a Monday", "scope": "tool"});
    let (status, call) = house.confirm(&house.latest(&chat), &no);
    assert_eq!((status, &call["status"]), (200, &json!("denied")), "{call}");
    events.until("run.finished");
    let message = house.latest(&chat);
    let reported = message["toolCalls"][0]["response"].to_string();
    assert!(reported.contains("not on a Monday"), "{message}");
    // For good: no one is asked again.
    let chat = house.say(&json!({}), "write a note");
    events.until("run.finished");
    assert_eq!(house.latest(&chat)["toolCalls"][0]["status"], "denied");
}

/// One policy. A yes for good counts in every conversation, a yes for a conversation
/// only in that one.
#[test]
fn a_yes_reaches_as_far_as_it_was_given() {
    let house = House::open();
    let mut events = house.events("");
    let chat = house.say(&json!({}), "write a note");
    events.until_waiting();
    house.confirm(&house.latest(&chat), &json!({"scope": "conversation"}));
    events.until("run.finished");
    let again = json!({"content": "write a note again"});
    house.post(&format!("/api/conversations/{}/messages", chat.id), &again);
    events.until("run.finished");
    assert_eq!(house.latest(&chat)["toolCalls"][0]["approvedBy"], "policy");
    let other = house.say(&json!({}), "write a note");
    events.until_waiting();
    house.confirm(&house.latest(&other), &json!({"scope": "tool"}));
    events.until("run.finished");
    let third = house.say(&json!({}), "write a note");
    events.until("run.finished");
    assert_eq!(house.latest(&third)["toolCalls"][0]["status"], "done");
}

#[test]
fn an_answer_is_stopped_and_what_was_said_of_it_stays() {
    let house = House::with(&["--demo-step", "100"]);
    let mut events = house.events("");
    let chat = house.say(&json!({}), "hello there");
    events.until("message.delta");
    let path = format!("/api/conversations/{}", chat.id);
    let stopped = house.post(&format!("{path}/cancel"), &json!({}));
    assert_eq!(
        (&stopped["running"], &stopped["finish"]),
        (&json!(false), &json!("cancelled"))
    );
    let message = house.latest(&chat);
    assert_eq!(message["finish"], "cancelled");
    assert!(!message["content"].as_str().unwrap().is_empty());
    events.until("run.finished");
    house.post(&format!("{path}/messages"), &json!({"content": "hello"}));
    let all = events.until("run.finished");
    assert_eq!(all.last().unwrap().data["reason"], "done");
}

#[test]
fn an_answer_that_ran_into_a_limit_is_continued() {
    let desk = crate::cli::Desk::new().on_tested_store();
    desk.json(&["config", "set", "max_rounds", "1"]);
    let house = House::at(desk, &[]);
    let mut events = house.events("");
    let chat = house.say(&json!({"approvalMode": "auto"}), "2 plus 3");
    let all = events.until("run.finished");
    assert_eq!(all.last().unwrap().data["reason"], "max_rounds");
    let path = format!("/api/conversations/{}/continue", chat.id);
    let (status, conversation) = house.ask("POST", &path, None);
    assert_eq!(status, 202, "{conversation}");
    let all = events.until("run.finished");
    assert_eq!(all.last().unwrap().data["reason"], "done");
    assert_eq!(house.latest(&chat)["finish"], "done");
}

#[test]
fn an_assistant_that_summarizes_at_a_limit_asks_its_model_once_more() {
    let house = House::open();
    let rounds = |body: Value| {
        let assistant = house.post("/api/assistants", &body)["id"].clone();
        let mut events = house.events("");
        let chat = json!({"approvalMode": "auto", "assistantId": assistant});
        house.say(&chat, "2 plus 3");
        let all = events.until("run.finished");
        assert_eq!(all.last().unwrap().data["reason"], "max_rounds");
        all.iter().filter(|it| it.kind == "usage.updated").count()
    };
    let stop = rounds(json!({"name": "a", "maxRounds": 1, "onLimit": "stop"}));
    let summarize = rounds(json!({"name": "b", "maxRounds": 1, "onLimit": "summarize"}));
    assert_eq!((stop, summarize), (1, 2));
}

#[test]
fn sounds_and_images_are_kept_beside_the_answer() {
    let house = House::open();
    let mut events = house.events("");
    let chat = house.say(&json!({"approvalMode": "auto"}), "play a sound");
    events.until("run.finished");
    let message = house.latest(&chat);
    let content = message["toolCalls"][0]["response"]["content"]
        .as_array()
        .unwrap();
    let sound = content
        .iter()
        .find(|block| block["type"] == "audio")
        .unwrap();
    let blob = sound["data"]["blob"].as_str().unwrap();
    let path = format!("/api/conversations/{}/blobs/{blob}", chat.id);
    let reply = house.fetch("local", "GET", &path, None);
    assert_eq!(reply.status, 200);
    assert!(reply.body.starts_with(b"RIFF"));
    assert_eq!(reply.header("content-type"), Some("audio/wav"));
    assert_eq!(reply.header("content-disposition"), Some("attachment"));
    assert!(
        reply
            .header("content-security-policy")
            .unwrap()
            .contains("sandbox")
    );
    let copy = house.post(&format!("/api/conversations/{}/fork", chat.id), &json!({}));
    let copied = super::house::Chat {
        id: copy["id"].as_str().unwrap().to_owned(),
        answer: String::new(),
    };
    let message = house.latest(&copied);
    let sound = &message["toolCalls"][0]["response"]["content"];
    let sound = sound
        .as_array()
        .unwrap()
        .iter()
        .find(|block| block["type"] == "audio")
        .unwrap();
    let path = format!(
        "/api/conversations/{}/blobs/{}",
        copied.id,
        sound["data"]["blob"].as_str().unwrap()
    );
    assert!(
        house
            .fetch("local", "GET", &path, None)
            .body
            .starts_with(b"RIFF")
    );
}

#[test]
fn conversations_are_listed_named_copied_exported_and_removed() {
    let house = House::open();
    let mut events = house.events("");
    let ids: Vec<String> = ["one", "two", "three"]
        .iter()
        .map(|words| {
            let chat = house.say(&json!({}), words);
            events.until("run.finished");
            chat.id
        })
        .collect();
    let first = house.get("/api/conversations?limit=2");
    let next = first["next"].as_str().unwrap();
    let second = house.get(&format!("/api/conversations?limit=2&after={next}"));
    let titles: Vec<&str> = [&first, &second]
        .iter()
        .flat_map(|page| page["items"].as_array().unwrap())
        .map(|item| item["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["three", "two", "one"]);
    assert_eq!(second["next"], Value::Null);
    let path = format!("/api/conversations/{}", ids[0]);
    let (status, changed) = house.ask(
        "PATCH",
        &path,
        Some(&json!({"title": "uno", "model": "demo"})),
    );
    assert_eq!(
        (status, &changed["title"], &changed["model"]),
        (200, &json!("uno"), &json!("demo"))
    );
    let (_, changed) = house.ask("PATCH", &path, Some(&json!({"model": null})));
    assert_eq!(
        (&changed["title"], &changed["model"]),
        (&json!("uno"), &Value::Null)
    );
    let (status, _) = house.ask("PATCH", &path, Some(&json!({"approvalMode": "yolo"})));
    assert_eq!(status, 422);
    let copy = house.post(&format!("{path}/fork"), &json!({"upto": 1}));
    assert_eq!(copy["parent"], ids[0].as_str());
    let markdown = house.fetch("local", "GET", &format!("{path}/export"), None);
    let text = String::from_utf8(markdown.body.clone()).unwrap();
    assert!(
        text.starts_with("# uno\n\n## 1. You\n\none\n\n## 2. Assistant\n"),
        "{text}"
    );
    assert!(
        markdown
            .header("content-disposition")
            .unwrap()
            .starts_with("attachment")
    );
    let whole = house.get(&format!("{path}/export?format=json"));
    assert_eq!(whole["messages"].as_array().unwrap().len(), 2);
    let (status, _) = house.ask("DELETE", &path, None);
    assert_eq!(status, 204);
    let (status, _) = house.ask("GET", &path, None);
    assert_eq!(status, 404);
    let reported = events.until("conversation.deleted");
    assert_eq!(reported.last().unwrap().data["id"], ids[0].as_str());
}

#[test]
fn messages_are_read_page_by_page() {
    let house = House::open();
    let mut events = house.events("");
    let chat = house.say(&json!({}), "one");
    events.until("run.finished");
    let path = format!("/api/conversations/{}/messages", chat.id);
    for words in ["two", "three"] {
        house.post(&path, &json!({"content": words}));
        events.until("run.finished");
    }
    let seqs = |page: &Value| -> Vec<u64> {
        let items = page["items"].as_array().unwrap();
        items
            .iter()
            .map(|item| item["seq"].as_u64().unwrap())
            .collect()
    };
    let last = house.get(&format!("{path}?limit=4"));
    assert_eq!((seqs(&last), &last["next"]), (vec![3, 4, 5, 6], &json!(3)));
    let first = house.get(&format!("{path}?limit=4&before=3"));
    assert_eq!((seqs(&first), &first["next"]), (vec![1, 2], &Value::Null));
}
