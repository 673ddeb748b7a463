//! Chat Completions, as its many servers speak it; `call` has its tool calls.

use provider_adapters::{
    Adapter, AssistantPart, Dialect, ErrorKind, OpenAiChat, StopReason, Usage,
};

use super::{calls, read};

/// A stream of deltas, ended by `finish`.
pub(super) fn stream(deltas: &[&str], finish: &str) -> String {
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

/// A finish of null is none.
#[test]
fn a_finish_of_null_does_not_end_the_reply() {
    let bytes = stream(&[r#"{"content":"a"}"#, r#"{"content":"b"}"#], "\"length\"");
    let reply = read(&OpenAiChat::default(), &bytes);
    assert_eq!(
        (reply.text().as_str(), reply.stop_reason()),
        ("ab", Some(StopReason::MaxTokens))
    );
}

#[test]
fn a_finish_of_stop_with_calls_means_tool_use() {
    let call = r#"{"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}}]}"#;
    let reply = read(&OpenAiChat::default(), &stream(&[call], "\"stop\""));
    assert_eq!(reply.stop_reason(), Some(StopReason::ToolUse));
}

#[test]
fn a_stream_needs_no_end_mark_after_its_finish() {
    let bytes = stream(&[r#"{"content":"x"}"#], "\"stop\"").replace("data: [DONE]\n\n", "");
    let reply = read(&OpenAiChat::default(), &bytes);
    assert_eq!(
        (reply.error.clone(), reply.stop_reason()),
        (None, Some(StopReason::End))
    );
}

/// Content is a string, and never null or a list, where a server wants it so.
#[test]
fn a_server_that_takes_only_strings_gets_strings() {
    let mut dialect = Dialect::OLLAMA;
    dialect.parts = false;
    dialect.images = false;
    let adapter = OpenAiChat::new(dialect);
    let given = include_bytes!("../../../examples/conversation.json");
    let request = crate::neutral_json::read(given, &adapter).unwrap();
    let encoded = adapter.encode(&request).unwrap();
    let body: serde_json::Value = serde_json::from_slice(&encoded.request.body).unwrap();
    for message in body["messages"].as_array().unwrap() {
        assert!(message["content"].is_string(), "{message}");
    }
}
