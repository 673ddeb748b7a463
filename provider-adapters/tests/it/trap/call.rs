//! Which call a fragment belongs to, and what its arguments are.

use provider_adapters::{
    Adapter, Conversation, ErrorKind, Note, OpenAiChat, Reply, Request, StopReason, ToolResult,
};

use super::chat::stream;
use super::{calls, read};

fn fragments(fragments: &[&str]) -> Reply {
    let deltas: Vec<String> = fragments
        .iter()
        .map(|fragment| format!("{{\"tool_calls\":[{fragment}]}}"))
        .collect();
    let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
    read(&OpenAiChat::default(), &stream(&deltas, "\"tool_calls\""))
}

#[track_caller]
fn check(given: &[&str], want: &[&str]) {
    let reply = fragments(given);
    assert_eq!(calls(&reply), want, "{given:?}");
    assert_eq!(reply.error, None, "{given:?}");
    assert_eq!(reply.stop_reason(), Some(StopReason::ToolUse));
}

#[test]
fn all_calls_have_index_zero() {
    check(
        &[
            r#"{"index":0,"id":"c1","function":{"name":"a","arguments":"{\"x\""}}"#,
            r#"{"index":0,"function":{"arguments":":1}"}}"#,
            r#"{"index":0,"id":"c2","function":{"name":"a","arguments":"{\"x\":2}"}}"#,
        ],
        &[r#"c1 a {"x":1}"#, r#"c2 a {"x":2}"#],
    );
    check(
        &[
            r#"{"index":0,"function":{"name":"a","arguments":"{\"x\":1}"}}"#,
            r#"{"index":0,"function":{"name":"a","arguments":"{\"x\":2}"}}"#,
        ],
        &[r#"* a {"x":1}"#, r#"* a {"x":2}"#],
    );
}

#[test]
fn an_index_is_only_a_key() {
    check(
        &[
            r#"{"index":1,"id":"c1","function":{"name":"a","arguments":""}}"#,
            r#"{"index":7,"id":"c2","function":{"name":"b","arguments":"{\"y\""}}"#,
            r#"{"index":1,"function":{"arguments":"{\"x\":1}"}}"#,
            r#"{"index":7,"function":{"arguments":":2}"}}"#,
        ],
        &[r#"c1 a {"x":1}"#, r#"c2 b {"y":2}"#],
    );
}

#[test]
fn fragments_without_index_and_id_go_on_with_the_open_call() {
    check(
        &[
            r#"{"id":"c1","function":{"name":"a","arguments":"{\"x\""}}"#,
            r#"{"function":{"arguments":":1}"}}"#,
            r#"{"function":{"name":"b","arguments":"{}"}}"#,
        ],
        &[r#"c1 a {"x":1}"#, "* b {}"],
    );
    let reply = fragments(&[
        r#"{"id":"c1","function":{"name":"a","arguments":"{"}}"#,
        r#"{"id":"c2","function":{"name":"b","arguments":"{"}}"#,
        r#"{"function":{"arguments":"}"}}"#,
    ]);
    let error = reply.error.as_ref().unwrap();
    assert_eq!(error.kind, ErrorKind::Malformed, "ambiguous");
    assert!(reply.calls().all(|call| call.executable().is_none()));
}

#[test]
fn an_id_or_a_name_may_come_late() {
    check(
        &[
            r#"{"index":0,"function":{"name":"a","arguments":""}}"#,
            r#"{"index":0,"id":"c1","function":{"arguments":"{\"x\":1}"}}"#,
        ],
        &[r#"* a {"x":1}"#],
    );
    check(
        &[
            r#"{"index":0,"id":"c1","function":{"arguments":"{\"x\""}}"#,
            r#"{"index":0,"id":"c1","function":{"name":"a","arguments":":1}"}}"#,
        ],
        &[r#"c1 a {"x":1}"#],
    );
}

#[test]
fn a_new_id_in_every_chunk_is_not_a_new_call() {
    check(
        &[
            r#"{"index":0,"id":"r1","function":{"name":"a","arguments":"{\"x\""}}"#,
            r#"{"index":0,"id":"r2","function":{"name":null,"arguments":":1}"}}"#,
        ],
        &[r#"r1 a {"x":1}"#],
    );
}

#[test]
fn arguments_in_any_shape() {
    let call = |arguments: &str| {
        fragments(&[&format!(
            r#"{{"index":0,"id":"c1","function":{{"name":"a","arguments":{arguments}}}}}"#
        )])
    };
    assert_eq!(
        calls(&call(r#"{"n": 12345678901234567890123, "z": -0}"#)),
        [r#"c1 a {"n":12345678901234567890123,"z":-0}"#]
    );
    assert_eq!(calls(&call("null")), ["c1 a {}"]);
    assert_eq!(calls(&call(r#""""#)), ["c1 a {}"]);
    let twice = call(r#""\"{\\\"x\\\":1}\"""#);
    assert_eq!(calls(&twice), [r#"c1 a {"x":1}"#]);
    assert_eq!(
        twice.notes,
        [Note::ArgumentsEncodedTwice {
            name: "a".to_owned()
        }]
    );
    assert_eq!(
        calls(&call(r#""{\"a\":1,\"a\":2,\"b\":1e400}""#)),
        [r#"c1 a {"a":1,"a":2,"b":1e400}"#]
    );
    assert_eq!(calls(&call(r#""[1]""#)), ["!c1 a [1]"]);
    assert_eq!(calls(&call(r#""{'x': 1}""#)), ["!c1 a {'x': 1}"]);
}

#[test]
fn arguments_sent_again_at_the_end_are_ignored() {
    check(
        &[
            r#"{"index":0,"id":"c1","function":{"name":"a","arguments":"{\"x\""}}"#,
            r#"{"index":0,"function":{"arguments":":1}"}}"#,
            r#"{"index":0,"id":"c1","function":{"name":"a","arguments":"{\"x\":1}"}}"#,
        ],
        &[r#"c1 a {"x":1}"#],
    );
}

#[test]
fn ids_are_made_unique_within_a_turn() {
    let reply = fragments(&[
        r#"{"index":0,"id":"functions.a:0","function":{"name":"a","arguments":"{}"}}"#,
        r#"{"index":1,"id":"functions.a:0","function":{"name":"a","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&reply), ["functions.a:0 a {}", "* a {}"]);
    assert_eq!(
        reply.notes,
        [Note::IdTwice {
            id: "functions.a:0".to_owned()
        }]
    );
}

#[test]
fn cut_arguments_are_never_executed_not_even_none_at_all() {
    for (arguments, finish) in [
        ("{\\\"x\\\":", "\"length\""),
        ("", "\"length\""),
        ("", "\"content_filter\""),
        ("{", "null"),
    ] {
        let call = format!(
            r#"{{"tool_calls":[{{"index":0,"id":"c1","function":{{"name":"a","arguments":"{arguments}"}}}}]}}"#
        );
        let reply = read(&OpenAiChat::default(), &stream(&[&call], finish));
        let call = reply.calls().next().unwrap();
        assert_eq!(call.executable(), None, "{arguments} {finish}");
        assert!(call.rejection().unwrap().is_error);
    }
    let whole =
        r#"{"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}}]}"#;
    assert_eq!(
        calls(&read(
            &OpenAiChat::default(),
            &stream(&[whole], "\"length\"")
        )),
        ["c1 a {}"]
    );
}

/// The index is missing.
#[test]
fn calls_without_an_index_are_distinguished_by_id_or_name() {
    check(
        &[
            r#"{"id":"c1","function":{"name":"a","arguments":"{\"x\":1}"}}"#,
            r#"{"id":"c2","function":{"name":"a","arguments":"{\"x\":2}"}}"#,
            r#"{"function":{"name":"a","arguments":"{\"x\":3}"}}"#,
        ],
        &[r#"c1 a {"x":1}"#, r#"c2 a {"x":2}"#, r#"* a {"x":3}"#],
    );
}

#[test]
fn an_id_a_name_and_a_type_in_every_chunk_are_compared_and_not_appended() {
    check(
        &[
            r#"{"index":0,"id":"c1","type":"function","function":{"name":"a","arguments":"{\"x\""}}"#,
            r#"{"index":0,"id":"c1","type":"function","function":{"name":"a","arguments":":"}}"#,
            r#"{"index":0,"id":"c1","type":"function","function":{"name":"a","arguments":"1}"}}"#,
        ],
        &[r#"c1 a {"x":1}"#],
    );
}

#[test]
fn a_blank_id_or_name_goes_on_with_the_call_and_never_opens_one() {
    check(
        &[
            r#"{"index":0,"id":"c1","function":{"name":"a","arguments":"{\"x\""}}"#,
            r#"{"index":0,"id":"","function":{"name":"","arguments":":1"}}"#,
            r#"{"index":0,"id":null,"type":null,"function":{"name":null,"arguments":null}}"#,
            r#"{"index":0,"id":"","function":{"name":"","arguments":"}"}}"#,
            r#"{"index":0,"id":"","function":{"name":"","arguments":""}}"#,
        ],
        &[r#"c1 a {"x":1}"#],
    );
    let reply = fragments(&[r#"{"index":0,"id":"","function":{"name":" ","arguments":""}}"#]);
    assert_eq!(calls(&reply), Vec::<String>::new());
}

#[test]
fn a_call_without_an_id_gets_one_of_nine_signs() {
    let reply = fragments(&[
        r#"{"index":0,"function":{"name":"a","arguments":"{}"}}"#,
        r#"{"index":1,"function":{"name":"a","arguments":"{}"}}"#,
    ]);
    let ids: Vec<&str> = reply.calls().map(|call| call.id.as_str()).collect();
    assert!(
        ids.iter()
            .all(|id| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric())),
        "{ids:?}"
    );
    assert_ne!(ids[0], ids[1]);
}

/// Kimi counts its calls anew in every turn.
#[test]
fn ids_are_made_unique_across_turns() {
    let mut conversation = Conversation::new();
    for question in ["Now?", "And now?"] {
        conversation.ask(question);
        let reply = fragments(&[
            r#"{"index":0,"id":"functions.a:0","function":{"name":"a","arguments":"{}"}}"#,
        ]);
        let result = ToolResult::text("functions.a:0", question);
        conversation.push(reply.into_turn(vec![result]).unwrap());
    }
    let encoded = OpenAiChat::default()
        .encode(&Request::new("m", conversation))
        .unwrap();
    let body: serde_json::Value = serde_json::from_slice(&encoded.request.body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let made: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["tool_calls"][0]["id"].as_str())
        .collect();
    let answered: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["tool_call_id"].as_str())
        .collect();
    assert_eq!(made, answered);
    assert!(made.len() == 2 && made[0] != made[1], "{made:?}");
}

#[test]
fn a_character_cut_in_two_is_whole_again_in_arguments_too() {
    check(
        &[
            r#"{"index":0,"id":"c1","function":{"name":"a","arguments":"{\"x\":\"\\ud83d"}}"#,
            r#"{"index":0,"function":{"arguments":"\\ude00\"}"}}"#,
        ],
        &[r#"c1 a {"x":"\ud83d\ude00"}"#],
    );
}
