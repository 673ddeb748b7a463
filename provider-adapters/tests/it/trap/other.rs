//! Anthropic, Gemini and Responses.

use provider_adapters::{Anthropic, CallProblem, Gemini, OpenAiResponses, StopReason};

use super::{calls, read};

fn anthropic(events: &[&str]) -> String {
    events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect()
}

fn tool_use(input: &str, deltas: &[&str]) -> Vec<String> {
    let mut events = vec![format!(
        r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"t1","name":"a","input":{input}}}}}"#
    )];
    for delta in deltas {
        let delta = serde_json::to_string(delta).unwrap();
        events.push(format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{delta}}}}}"#));
    }
    events
}

fn ended(mut events: Vec<String>, reason: &str) -> String {
    events.push(format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#
    ));
    events.push(r#"{"type":"message_stop"}"#.to_owned());
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    anthropic(&events)
}

const BLOCK_STOP: &str = r#"{"type":"content_block_stop","index":0}"#;

#[test]
fn anthropic_needs_no_event_line() {
    let mut events = tool_use("{}", &["", "{\"x\": 1}"]);
    events.push(BLOCK_STOP.to_owned());
    assert_eq!(
        calls(&read(&Anthropic::default(), &ended(events, "tool_use"))),
        [r#"t1 a {"x": 1}"#]
    );
}

#[test]
fn anthropic_input_at_the_start_counts_if_no_delta_follows() {
    let mut events = tool_use(r#"{"x": 12345678901234567890123}"#, &[]);
    events.push(BLOCK_STOP.to_owned());
    let reply = read(&Anthropic::default(), &ended(events, "tool_use"));
    assert_eq!(calls(&reply), [r#"t1 a {"x":12345678901234567890123}"#]);
    let mut events = tool_use(r#"{"x": 1}"#, &[r#"{"x": 2}"#]);
    events.push(BLOCK_STOP.to_owned());
    assert_eq!(
        calls(&read(&Anthropic::default(), &ended(events, "tool_use"))),
        [r#"t1 a {"x": 2}"#]
    );
}

#[test]
fn anthropic_eager_arguments_may_be_invalid() {
    let mut events = tool_use("{}", &["{\"x\": unquoted}"]);
    events.push(BLOCK_STOP.to_owned());
    let reply = read(&Anthropic::default(), &ended(events, "tool_use"));
    let call = reply.calls().next().unwrap();
    assert!(
        matches!(&call.problem, Some(CallProblem::Malformed { .. })),
        "{call:?}"
    );
    assert_eq!(call.arguments.text(), "{\"x\": unquoted}");
}

/// A block cut by the token limit gets no stop; even one without arguments is cut.
#[test]
fn anthropic_cut_calls_are_cut() {
    for deltas in [&["{\"x\": "][..], &[""]] {
        let reply = read(
            &Anthropic::default(),
            &ended(tool_use("{}", deltas), "max_tokens"),
        );
        assert_eq!(
            reply.calls().next().unwrap().problem,
            Some(CallProblem::Cut),
            "{deltas:?}"
        );
    }
}

#[test]
fn anthropic_blocks_it_runs_itself_and_citations_go_back_unchanged() {
    let events = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\": \"x\"}"}}"#,
        BLOCK_STOP,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"x"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"url":"u"}}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let reply = read(&Anthropic::default(), &anthropic(&events));
    assert_eq!(
        (reply.calls().count(), reply.stop_reason()),
        (0, Some(StopReason::Pause))
    );
    let items: Vec<String> = reply
        .native
        .unwrap()
        .items
        .iter()
        .map(|item| item.get().to_owned())
        .collect();
    assert_eq!(
        items,
        [
            r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query": "x"}}"#,
            r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#,
            r#"{"type":"text","text":"x","citations":[{"url":"u"}]}"#,
        ]
    );
}

fn gemini(parts: &[&str], finish: &str) -> String {
    let parts = parts.join(",");
    format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{parts}]}},\"finishReason\":\"{finish}\"}}]}}\n\n"
    )
}

#[test]
fn gemini_says_a_call_twice_and_means_it_once() {
    let bytes = gemini(
        &[
            r#"{"functionCall":{"id":"f1","name":"a","args":{"x":1}},"thoughtSignature":"sig"}"#,
            r#"{"functionCall":{"id":"f1","name":"a","args":{"x":1}}}"#,
            r#"{"functionCall":{"id":"f1","name":"a","args":{"x":2}}}"#,
        ],
        "STOP",
    );
    let reply = read(&Gemini::developer(), &bytes);
    assert_eq!(calls(&reply), [r#"f1 a {"x":1}"#, r#"* a {"x":2}"#]);
    let native = reply.native.unwrap();
    assert_eq!(native.items.len(), 2);
    assert!(native.items[0].get().contains("sig"));
}

#[test]
fn gemini_calls_without_ids_are_never_taken_for_one() {
    let same = r#"{"functionCall":{"name":"a","args":{}}}"#;
    assert_eq!(
        calls(&read(&Gemini::developer(), &gemini(&[same, same], "STOP"))),
        ["* a {}", "* a {}"]
    );
}

#[test]
fn gemini_text_and_a_call_may_share_a_part() {
    let part =
        r#"{"text":"Look. ","functionCall":{"name":"a","args":{"n":12345678901234567890123}}}"#;
    let reply = read(&Gemini::developer(), &gemini(&[part], "STOP"));
    assert_eq!(reply.text(), "Look. ");
    assert_eq!(calls(&reply), [r#"* a {"n":12345678901234567890123}"#]);
    assert_eq!(reply.stop_reason(), Some(StopReason::ToolUse));
}

#[test]
fn gemini_malformed_calls_are_not_executed_however_whole_they_look() {
    for reason in [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
    ] {
        let call = r#"{"functionCall":{"name":"a","args":{}}}"#;
        let reply = read(&Gemini::developer(), &gemini(&[call], reason));
        assert_eq!(calls(&reply), ["!* a {}"], "{reason}");
        assert_eq!(reply.stop_reason(), Some(StopReason::MalformedToolCall));
    }
}

#[test]
fn gemini_an_empty_turn_is_no_error_and_is_not_sent_back() {
    use provider_adapters::{Adapter, Conversation, Request};
    let reply = read(&Gemini::developer(), &gemini(&[], "STOP"));
    assert_eq!(
        (reply.parts.len(), reply.stop_reason(), reply.error.clone()),
        (0, Some(StopReason::End), None)
    );
    let mut conversation = Conversation::new();
    conversation.ask("Hello?");
    conversation.push(reply.into_turn(vec![]).unwrap());
    conversation.ask("Still there?");
    let encoded = Gemini::developer()
        .encode(&Request::new("g", conversation))
        .unwrap();
    let body: serde_json::Value = serde_json::from_slice(&encoded.request.body).unwrap();
    assert_eq!(body["contents"].as_array().unwrap().len(), 2);
}

#[test]
fn gemini_signatures_stay_on_their_parts() {
    let parts = [
        r#"{"text":"a"}"#,
        r#"{"text":"b"}"#,
        r#"{"text":"c","thoughtSignature":"s1"}"#,
        r#"{"text":"d"}"#,
        r#"{"text":"","thoughtSignature":"s2"}"#,
    ];
    let reply = read(&Gemini::developer(), &gemini(&parts, "STOP"));
    assert_eq!(reply.text(), "abcd");
    let items: Vec<String> = reply
        .native
        .unwrap()
        .items
        .iter()
        .map(|item| item.get().to_owned())
        .collect();
    assert_eq!(items, [r#"{"text":"ab"}"#, parts[2], parts[3], parts[4]]);
}

#[test]
fn gemini_without_server_sent_events_is_a_list() {
    let whole = r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},
        {"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}]"#;
    assert_eq!(read(&Gemini::developer(), whole).text(), "ab");
    let error = r#"[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]"#;
    assert_eq!(
        read(&Gemini::developer(), error).error.unwrap().message,
        "no"
    );
}

#[test]
fn vertex_arguments_cut_in_the_middle_are_cut() {
    let open = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"a\",\"willContinue\":true}}]}}]}\n\n";
    let some = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"partialArgs\":[{\"jsonPath\":\"$.x\",\"stringValue\":\"y\",\"willContinue\":true}],\"willContinue\":true}}]}}]}\n\n";
    let vertex = Gemini::vertex("p", "global");
    let cut = read(
        &vertex,
        &format!("{open}{some}{}", gemini(&[], "MAX_TOKENS")),
    );
    assert_eq!(cut.calls().next().unwrap().problem, Some(CallProblem::Cut));
    let ended = read(&vertex, &format!("{open}{some}{}", gemini(&[], "STOP")));
    assert_eq!(
        calls(&ended),
        [r#"* a {"x":"y"}"#],
        "the end mark may be missing"
    );
    let two = gemini(
        &[
            r#"{"functionCall":{"name":"b","args":{}}}"#,
            r#"{"functionCall":{"name":"a","willContinue":true}}"#,
            r#"{"functionCall":{}}"#,
        ],
        "STOP",
    );
    assert_eq!(calls(&read(&vertex, &two)), ["* b {}", "* a {}"]);
}

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
