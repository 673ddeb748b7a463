//! Chat Completions, as its many servers speak it.

use provider_adapters::{
    AssistantPart, Dialect, ErrorKind, Note, OpenAiChat, Reply, StopReason, Usage,
};

use super::{calls, read};

/// A stream of deltas, ended by `finish`.
fn stream(deltas: &[&str], finish: &str) -> String {
    let mut out = String::new();
    for delta in deltas {
        out.push_str(&format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\n"
        ));
    }
    out.push_str(&format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":{finish}}}]}}\n\n"
    ));
    out.push_str("data: [DONE]\n\n");
    out
}

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
fn a_whole_call_and_its_finish_may_come_in_one_chunk() {
    let bytes = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}}]},"finish_reason":"stop"}]}"#;
    let reply = read(&OpenAiChat::default(), bytes);
    assert_eq!(calls(&reply), ["c1 a {}"]);
    assert_eq!(
        reply.stop_reason(),
        Some(StopReason::ToolUse),
        "any call wins over stop"
    );
}

#[test]
fn a_call_after_the_finish_still_counts() {
    let call = r#"{"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}}]}"#;
    let bytes = stream(&[r#"{"content":"x"}"#], "\"stop\"").replace("data: [DONE]\n\n", "")
        + &stream(&[call], "null");
    assert_eq!(calls(&read(&OpenAiChat::default(), &bytes)), ["c1 a {}"]);
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

#[test]
fn thoughts_come_in_four_places() {
    let thought = |dialect, delta: &str| {
        let reply = read(&OpenAiChat::new(dialect), &stream(&[delta], "\"stop\""));
        let parts = reply.parts.iter().map(|part| match part {
            AssistantPart::Reasoning { text } => format!("({text})"),
            AssistantPart::Text { text } => text.clone(),
            other => format!("{other:?}"),
        });
        parts.collect::<String>()
    };
    assert_eq!(
        thought(
            Dialect::DEEPSEEK,
            r#"{"reasoning_content":"a","content":"b"}"#
        ),
        "(a)b"
    );
    assert_eq!(
        thought(Dialect::OPENROUTER, r#"{"reasoning":"a","content":"b"}"#),
        "(a)b"
    );
    assert_eq!(
        thought(
            Dialect::VLLM,
            r#"{"reasoning":"a","reasoning_content":"a","content":"b"}"#
        ),
        "(a)b"
    );
    assert_eq!(
        thought(Dialect::OLLAMA, r#"{"content":"<think>a</think>\n\nb"}"#),
        "(a)b"
    );
    assert_eq!(
        thought(Dialect::OPENAI, r#"{"content":"<think>a</think>b"}"#),
        "<think>a</think>b"
    );
    let parts = r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"}]}"#;
    assert_eq!(thought(Dialect::MISTRAL, parts), "(a)b");
}

#[test]
fn details_and_signatures_of_servers_are_kept_for_them() {
    let deltas = [
        r#"{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]}"#,
        r#"{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0,"signature":"s"}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{}"},"extra_content":{"google":{"thought_signature":"g"}}}]}"#,
    ];
    let reply = read(
        &OpenAiChat::new(Dialect::OPENROUTER),
        &stream(&deltas, "\"tool_calls\""),
    );
    let native = reply.native.unwrap();
    assert_eq!(native.dialect, "openrouter");
    assert_eq!(
        native.items[0].get(),
        r#"{"reasoning":"ab","reasoning_details":[{"type":"reasoning.text","text":"ab","index":0,"signature":"s"}],"tool_calls":[{"id":"c1","extra_content":{"google":{"thought_signature":"g"}}}]}"#
    );
}

#[test]
fn calls_left_in_the_text_are_rescued_only_if_asked() {
    let text = r#"{"content":"Sure. <tool_call>\n{\"name\": \"a\", \"arguments\": {\"x\": 1}}\n</tool_call>"}"#;
    let bytes = stream(&[text], "\"stop\"");
    assert!(calls(&read(&OpenAiChat::default(), &bytes)).is_empty());

    let adapter = OpenAiChat::default().with_rescue();
    let tools = provider_adapters::Adapter::tools(
        &adapter,
        &[provider_adapters::ToolSpec::new(
            "a",
            mcp_jsonrpc::RawObject::empty(),
        )],
    );
    let expected = provider_adapters::Expected::new(tools.into());
    let mut decoder = provider_adapters::Adapter::decoder(&adapter, expected);
    let mut events = Vec::new();
    decoder.push(bytes.as_bytes(), &mut events);
    let reply = decoder.finish(&mut events);
    assert_eq!(
        (calls(&reply), reply.text().as_str()),
        (vec![r#"* a {"x": 1}"#.to_owned()], "Sure. ")
    );
    assert_eq!(reply.stop_reason(), Some(StopReason::ToolUse));
}

#[test]
fn usage_comes_when_it_likes() {
    let usage = |bytes: &str| read(&OpenAiChat::default(), bytes).usage;
    let with = |usage: &str| format!("data: {{\"choices\":[],\"usage\":{usage}}}\n\n");
    let end = stream(&[], "\"stop\"");
    let mut want = Usage::default();
    want.input = Some(3);
    want.output = Some(4);
    let counted = with(r#"{"prompt_tokens":3,"completion_tokens":4}"#);
    assert_eq!(usage(&(counted.clone() + &end)), want);
    assert_eq!(
        usage(&(counted.clone() + &with("null") + &end)),
        want,
        "a later null changes nothing"
    );
    assert_eq!(
        usage(&(with(r#"{"prompt_tokens":1}"#) + &counted + &end)),
        want,
        "the last one counts"
    );
    assert_eq!(
        usage(&(with(r#"{"prompt_tokens":3.0,"completion_tokens":"4"}"#) + &end)),
        want
    );
    assert!(usage(&end).is_empty());
    let groq =
        r#"data: {"choices":[],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":4}}}"#;
    assert_eq!(usage(&format!("{groq}\n\n{end}")), want);
    let deepseek = with(r#"{"prompt_cache_hit_tokens":2}"#);
    assert_eq!(usage(&(deepseek + &end)).cache_read, Some(2));
}

#[test]
fn an_end_without_a_reason_is_a_broken_reply() {
    for bytes in [
        "data: [DONE]\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n",
        "",
        "\n\n",
    ] {
        let reply = read(&OpenAiChat::default(), bytes);
        assert_eq!(reply.error.unwrap().kind, ErrorKind::Truncated, "{bytes}");
    }
    let reply = read(
        &OpenAiChat::default(),
        &stream(&[r#"{"content":"x"}"#], "\"brand_new\""),
    );
    let stop = reply.stop.unwrap();
    assert_eq!(
        (stop.reason, stop.raw.as_str()),
        (StopReason::Other, "brand_new")
    );
}

#[test]
fn errors_come_in_any_dress() {
    let error = |bytes: &str| {
        let error = read(&OpenAiChat::default(), bytes).error.unwrap();
        (error.kind, error.message)
    };
    let server = |message: &str| (ErrorKind::Server, message.to_owned());
    assert_eq!(
        error("event: error\ndata: {\"message\":\"a\"}\n\n"),
        server("a")
    );
    assert_eq!(
        error("event: error\ndata: oh no\n\n"),
        (ErrorKind::Malformed, "oh no".to_owned())
    );
    assert_eq!(error(r#"{"error":{"message":"a"}}"#), server("a"));
    assert_eq!(error(r#"{"error":"a"}"#), server("a"));
    assert_eq!(error(r#"{"detail":"a"}"#), server("a"));
    assert_eq!(
        error(r#"{"message":"a","code":429}"#),
        (ErrorKind::RateLimit, "a".to_owned())
    );
    assert_eq!(
        error("<html><head><title>502 Bad Gateway</title>").1,
        "502 Bad Gateway"
    );
    assert_eq!(error("data: {nonsense}\n\n").0, ErrorKind::Malformed);
}

#[test]
fn a_whole_reply_to_a_request_for_a_stream_is_fine() {
    let whole = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"x","function_call":{"name":"a","arguments":"{}"}},"finish_reason":"function_call"}]}"#;
    let reply = read(&OpenAiChat::default(), whole);
    assert_eq!(
        (reply.text().as_str(), calls(&reply)),
        ("x", vec!["* a {}".to_owned()])
    );
}

#[test]
fn a_character_cut_in_two_is_whole_again() {
    let reply = read(
        &OpenAiChat::default(),
        &stream(
            &[r#"{"content":"a\ud83d"}"#, r#"{"content":"\ude00b"}"#],
            "\"stop\"",
        ),
    );
    assert_eq!(reply.text(), "a😀b");
}

#[test]
fn other_choices_and_noise_are_skipped() {
    let noise = "data: {\"object\":\"\",\"choices\":[],\"prompt_filter_results\":[]}\n\ndata: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}]}\n\n";
    let reply = read(
        &OpenAiChat::default(),
        &(noise.to_owned() + &stream(&[r#"{"content":"yes"}"#], "\"stop\"")),
    );
    assert_eq!(reply.text(), "yes");
}
