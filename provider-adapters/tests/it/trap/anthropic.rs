//! Anthropic Messages.

use provider_adapters::{Anthropic, CallProblem, StopReason};

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
fn arguments_after_the_end_of_a_call_are_neither_reported_nor_kept() {
    let mut events = tool_use("{}", &["{\"x\": 1}"]);
    events.push(BLOCK_STOP.to_owned());
    events.extend(tool_use("{}", &[", 2}"]).pop());
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

#[test]
fn anthropic_a_call_without_arguments_has_an_empty_object() {
    for deltas in [&[""][..], &[]] {
        let mut events = tool_use("{}", deltas);
        events.push(BLOCK_STOP.to_owned());
        let reply = read(&Anthropic::default(), &ended(events, "tool_use"));
        assert_eq!(calls(&reply), ["t1 a {}"], "{deltas:?}");
    }
}
