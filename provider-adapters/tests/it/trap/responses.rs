//! OpenAI Responses.

use provider_adapters::{OpenAiResponses, StopReason};

use super::{calls, read};

fn responses(events: &[&str]) -> String {
    events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect()
}

#[test]
fn responses_items_interleave_and_are_keyed_by_place() {
    let bytes = responses(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_0","call_id":"c0","name":"a","arguments":""}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"b","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"{\"y\""}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_0","output_index":0,"delta":"{\"x\":1}"}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":":2}"}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":null}}"#,
    ]);
    assert_eq!(
        calls(&read(&OpenAiResponses::default(), &bytes)),
        [r#"c0 a {"x":1}"#, r#"c1 b {"y":2}"#]
    );
}

/// Items that were never announced, an announcement without an item, and an output of null.
#[test]
fn responses_are_rebuilt_from_what_there_is() {
    let item = r#"{"type":"function_call","id":"fc","call_id":"c1","name":"a","arguments":"{}","status":"completed"}"#;
    let done = format!(r#"{{"type":"response.output_item.done","output_index":1,"item":{item}}}"#);
    let bytes = responses(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":null}"#,
        &done,
        r#"{"type":"response.completed","response":{"status":"completed","output":null}}"#,
    ]);
    let reply = read(&OpenAiResponses::default(), &bytes);
    assert_eq!(calls(&reply), ["c1 a {}"]);
    assert_eq!(reply.native.unwrap().items[0].get(), item);
    let last = format!(
        r#"{{"type":"response.completed","response":{{"status":"completed","output":[{item}]}}}}"#
    );
    assert_eq!(
        calls(&read(&OpenAiResponses::default(), &responses(&[&last]))),
        ["c1 a {}"]
    );
}

#[test]
fn responses_unknown_events_and_keepalives_are_skipped() {
    let bytes = responses(&[
        r#"{"type":"keepalive","delta":{"not":"text"}}"#,
        r#"{"type":"response.web_search_call.in_progress","output_index":0}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"x"}"#,
        r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_messages"}}}"#,
    ]);
    let reply = read(&OpenAiResponses::default(), &bytes);
    assert_eq!(
        (reply.text().as_str(), reply.stop_reason()),
        ("x", Some(StopReason::Pause))
    );
}

/// Reasoning travels only encrypted, and only with the item it led to.
#[test]
fn responses_reasoning_that_cannot_travel_stays_out() {
    use provider_adapters::{Adapter, Conversation, Request};
    let reasoning = |id: &str, encrypted: &str| {
        format!(r#"{{"type":"reasoning","id":"{id}","summary":[]{encrypted}}}"#)
    };
    let message = r#"{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[]}]}"#;
    let output = [
        reasoning("bare", ""),
        message.to_owned(),
        reasoning("orphan", r#","encrypted_content":"e""#),
    ];
    let whole = format!(
        r#"{{"object":"response","status":"completed","output":[{}]}}"#,
        output.join(",")
    );
    let reply = read(&OpenAiResponses::default(), &whole);
    let mut conversation = Conversation::new();
    conversation.ask("Hello?");
    conversation.push(reply.into_turn(vec![]).unwrap());
    conversation.ask("Go on.");
    let encoded = OpenAiResponses::default()
        .encode(&Request::new("g", conversation))
        .unwrap();
    let body: serde_json::Value = serde_json::from_slice(&encoded.request.body).unwrap();
    let kinds: Vec<_> = body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["id"].as_str())
        .collect();
    assert_eq!(kinds, [None, Some("m"), None]);
}

/// An item has an id of its own; a result belongs to the call's.
#[test]
fn responses_results_carry_the_calls_id_and_not_the_items() {
    use provider_adapters::{Adapter, Conversation, Request, ToolResult};
    let bytes = responses(&[
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_0","call_id":"c0","name":"a","arguments":"{}"}}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":null}}"#,
    ]);
    let reply = read(&OpenAiResponses::default(), &bytes);
    let mut conversation = Conversation::new();
    conversation.ask("Hello?");
    let result = ToolResult::text("c0", "1");
    conversation.push(reply.into_turn(vec![result]).unwrap());
    let encoded = OpenAiResponses::default()
        .encode(&Request::new("g", conversation))
        .unwrap();
    let body: serde_json::Value = serde_json::from_slice(&encoded.request.body).unwrap();
    let item = |at: usize| {
        (
            body["input"][at]["type"].clone(),
            body["input"][at]["call_id"].clone(),
        )
    };
    assert_eq!(item(1), ("function_call".into(), "c0".into()));
    assert_eq!(item(2), ("function_call_output".into(), "c0".into()));
    assert_eq!(body["input"][1]["id"], "fc_0");
}
