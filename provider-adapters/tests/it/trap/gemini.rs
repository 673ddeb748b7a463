//! Gemini, from Google's Developer API and from Vertex.

use provider_adapters::{CallProblem, Gemini, StopReason};

use super::{calls, read};

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

#[test]
fn gemini_every_part_of_a_chunk_counts() {
    let parts = [
        r#"{"text":"t","thought":true}"#,
        r#"{"text":"a"}"#,
        r#"{"functionCall":{"id":"f1","name":"a","args":{}}}"#,
        r#"{"functionCall":{"id":"f2","name":"b"}}"#,
        r#"{"text":"b"}"#,
    ];
    let reply = read(&Gemini::developer(), &gemini(&parts, "STOP"));
    assert_eq!(reply.text(), "ab");
    assert_eq!(calls(&reply), ["f1 a {}", "f2 b {}"]);
}
