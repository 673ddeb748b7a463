//! Amazon Bedrock: the laws of the other wires. `oracles/bedrock.py` asks botocore about the same
//! requests and bytes.

use proptest::prelude::*;
use provider_adapters::server::ScriptedReply;
use provider_adapters::{
    Adapter, AssistantTurn, Bedrock, Cache, CachePoint, Conversation, ErrorKind, Expected,
    Model as _, Omitted, Reply, ReplyEvent, Request, StopReason, ToolResult, ToolSpec, Turn,
};
use serde_json::{Value, json};

use crate::{law, neutral_json, request};

const CLAUDE: &str = "anthropic.claude-sonnet-5-5-v1:0";

fn adapter() -> Bedrock {
    Bedrock::new("us-east-1")
}

fn encode(request: &Request) -> Value {
    serde_json::from_slice(&adapter().encode(request).unwrap().request.body).unwrap()
}

fn decode(bytes: &[u8], size: usize, expected: Expected) -> (Vec<ReplyEvent>, Reply) {
    let mut decoder = adapter().decoder(expected);
    let mut events = Vec::new();
    for piece in bytes.chunks(size.max(1)) {
        decoder.push(piece, &mut events);
    }
    let reply = decoder.finish(&mut events);
    (events, reply)
}

fn said() -> ScriptedReply {
    ScriptedReply::new()
        .with_reasoning("Let me think 🤔.")
        .with_text("I look it up.")
        .with_call("t1", "look", r#"{"a":"ü","n":12345678901234567890}"#)
        .with_call("t2", "look", "{}")
        .with_usage(12, 34)
}

#[test]
fn every_conversation() {
    for (name, json) in request::conversations() {
        let mut asked = neutral_json::read(&json, &adapter()).unwrap();
        asked.model = CLAUDE.to_owned();
        let encoded = adapter().encode(&asked).unwrap();
        let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
        let omitted: Vec<String> = encoded.omitted.iter().map(|it| format!("{it:?}")).collect();
        let shot = json!({"path": encoded.request.path, "body": body, "omitted": omitted});
        insta::assert_json_snapshot!(format!("{name}@bedrock"), shot);
    }
}

#[test]
fn a_stream_reads_the_same_in_any_pieces() {
    let bytes = said().event_stream().concat();
    let whole = decode(&bytes, bytes.len(), Expected::default());
    for size in [1, 2, 3, 7, 100] {
        assert_eq!(decode(&bytes, size, Expected::default()), whole, "{size}");
    }
    let reply = whole.1;
    assert_eq!(reply.text(), "I look it up.");
    let calls: Vec<(&str, &str)> = reply
        .calls()
        .map(|call| (call.id.as_str(), call.arguments.text()))
        .collect();
    assert_eq!(
        calls,
        [
            ("t1", r#"{"a":"ü","n":12345678901234567890}"#),
            ("t2", "{}")
        ]
    );
    assert_eq!(reply.stop.unwrap().reason, StopReason::ToolUse);
    assert_eq!(
        (reply.usage.input, reply.usage.output),
        (Some(12), Some(34))
    );
}

#[test]
fn a_turn_goes_back_as_it_came_with_its_signature() {
    let bytes = said().event_stream().concat();
    let (_, reply) = decode(&bytes, bytes.len(), Expected::default());
    let results = ["t1", "t2"].map(|id| ToolResult::text(id, "done"));
    let mut conversation = Conversation::new();
    conversation.ask("Hello?");
    conversation.push(reply.into_turn(results.to_vec()).unwrap());
    let body = encode(&Request::new("meta.llama", conversation));
    assert_eq!(
        body["messages"][1]["content"],
        json!([
            {"reasoningContent": {"reasoningText": {"text": "Let me think 🤔.", "signature": "c2NyaXB0ZWQ="}}},
            {"text": "I look it up."},
            {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"a": "ü", "n": 12345678901234567890_u64}}},
            {"toolUse": {"toolUseId": "t2", "name": "look", "input": {}}},
        ])
    );
    assert_eq!(
        body["messages"][2]["content"][1]["toolResult"]["toolUseId"],
        "t2"
    );
    // Calls are refused without tools.
    assert_eq!(body["toolConfig"]["tools"][0]["toolSpec"]["name"], "look");
}

#[test]
fn a_whole_reply_is_the_streamed_one() {
    let body = json!({
        "output": {"message": {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "Let me think 🤔.", "signature": "c2NyaXB0ZWQ="}}},
            {"text": "I look it up."},
            {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"a": "ü", "n": 12345678901234567890_u64}}},
            {"toolUse": {"toolUseId": "t2", "name": "look", "input": {}}},
        ]}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 12, "outputTokens": 34, "totalTokens": 46},
        "metrics": {"latencyMs": 1},
    });
    let stream = said().event_stream().concat();
    let streamed = decode(&stream, stream.len(), Expected::default()).1;
    assert_eq!(
        decode(body.to_string().as_bytes(), 5, Expected::default()).1,
        streamed
    );
}

#[test]
fn cached_tokens_are_part_of_the_input() {
    let body = json!({
        "output": {"message": {"role": "assistant", "content": [{"text": "Hi."}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 33, "cacheReadInputTokens": 10, "cacheWriteInputTokens": 20},
    });
    let usage = decode(body.to_string().as_bytes(), 9, Expected::default())
        .1
        .usage;
    assert_eq!(usage.input, Some(31));
    assert_eq!((usage.cache_read, usage.cache_write), (Some(10), Some(20)));
}

#[test]
fn every_stop_reason_has_our_word() {
    for (theirs, ours) in [
        ("end_turn", StopReason::End),
        ("max_tokens", StopReason::MaxTokens),
        ("stop_sequence", StopReason::StopSequence),
        ("guardrail_intervened", StopReason::Filtered),
        ("content_filtered", StopReason::Filtered),
        ("malformed_tool_use", StopReason::MalformedToolCall),
        ("malformed_model_output", StopReason::MalformedToolCall),
        ("model_context_window_exceeded", StopReason::ContextWindow),
        ("something_new", StopReason::Other),
    ] {
        let body =
            json!({"output": {"message": {"content": [{"text": "a"}]}}, "stopReason": theirs});
        let reply = decode(body.to_string().as_bytes(), 99, Expected::default()).1;
        assert_eq!(reply.stop.unwrap().reason, ours, "{theirs}");
    }
}

#[test]
fn a_stream_that_breaks_off_is_truncated_and_its_calls_do_not_run() {
    let events = said().event_stream();
    // Without the last two, nothing says why the model stopped.
    let bytes = events[..events.len() - 2].concat();
    let (_, reply) = decode(&bytes, 11, Expected::default());
    assert_eq!(reply.error.as_ref().unwrap().kind, ErrorKind::Truncated);
    assert!(reply.calls().all(|call| call.executable().is_none()));
}

#[test]
fn an_answer_in_a_schema_is_a_call_that_is_forced() {
    let mut conversation = Conversation::new();
    conversation.ask("Who?");
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false});
    let asked = Request::new(CLAUDE, conversation).with_output_schema(schema);
    let encoded = adapter().encode(&asked).unwrap();
    let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
    let name = body["toolConfig"]["tools"][0]["toolSpec"]["name"]
        .as_str()
        .unwrap();
    assert_eq!(body["toolConfig"]["toolChoice"]["tool"]["name"], name);
    let said = ScriptedReply::new().with_call("t1", name, r#"{"name":"Ada"}"#);
    let bytes = said.event_stream().concat();
    let (_, reply) = decode(&bytes, 7, encoded.expected);
    assert_eq!(reply.output.unwrap().unwrap().get(), r#"{"name":"Ada"}"#);
    assert_eq!(reply.stop.unwrap().reason, StopReason::End);
}

#[test]
fn only_models_that_cache_get_breakpoints() {
    let mut conversation = Conversation::new().with_system("Be brief.");
    conversation.ask("Hello?");
    for (model, points) in [
        (CLAUDE, 3),
        ("us.amazon.nova-pro-v1:0", 2),
        ("anthropic.claude-3-7-sonnet-20250219-v1:0", 3),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", 3),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", 0),
        ("us.anthropic.claude-3-haiku-20240307-v1:0", 0),
        ("anthropic.claude-v2:1", 0),
        ("meta.llama3", 0),
    ] {
        let tool = ToolSpec::new("look", mcp_jsonrpc::RawObject::empty());
        let tools = adapter().tools_for(model, &[tool]);
        let asked = Request::new(model, conversation.clone()).with_tools(tools);
        let text = encode(&asked).to_string();
        assert_eq!(text.matches("cachePoint").count(), points, "{model}");
        // One that is known to refuse them gets none on request, either.
        let asked = asked.with_cache(Cache::Breakpoints(vec![CachePoint::System]));
        let omitted = adapter().encode(&asked).unwrap().omitted;
        let refuses = points == 0 && model.contains("claude");
        assert_eq!(omitted == [Omitted::Option("cache")], refuses, "{model}");
        let sent = encode(&asked).to_string().matches("cachePoint").count();
        assert_eq!(sent, usize::from(!refuses), "{model}");
    }
}

#[test]
fn a_breakpoint_stays_in_its_turn_where_the_assistant_begins() {
    let mut conversation = Conversation::new();
    conversation.push(AssistantTurn::from_text("Hello!"));
    conversation.ask("What time is it?");
    conversation.push(AssistantTurn::from_text("Noon."));
    conversation.ask("And now?");
    let points = Cache::Breakpoints(vec![CachePoint::Turn(1)]);
    let sent = encode(&Request::new(CLAUDE, conversation).with_cache(points));
    assert_eq!(sent["messages"][0]["role"], "user");
    let marked: Vec<bool> = sent["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message.to_string().contains("cachePoint"))
        .collect();
    assert_eq!(marked, [false, false, true, false, false]);
}

/// What its API reference says of the keywords at the root of an input schema.
#[test]
fn amazons_own_models_get_only_the_keywords_that_they_take() {
    let schema = json!({
        "type": "object",
        "title": "Look",
        "properties": {"where": {"$ref": "#/$defs/Place"}},
        "required": ["where"],
        "additionalProperties": false,
        "$defs": {"Place": {"type": "string", "minLength": 1}},
    });
    let schema: mcp_jsonrpc::RawObject = serde_json::from_value(schema).unwrap();
    let sent = |adapter: &Bedrock, model: &str| {
        let tool = ToolSpec::new("look", schema.clone());
        let definitions = adapter.definitions(&adapter.tools_for(model, &[tool]));
        let definitions: Value = serde_json::from_str(definitions.get()).unwrap();
        let sent = definitions[0]["toolSpec"]["inputSchema"]["json"].clone();
        let keys: Vec<String> = sent.as_object().unwrap().keys().cloned().collect();
        keys
    };
    let few = ["type", "properties", "required"];
    for model in ["amazon.nova-lite-v1:0", "eu.amazon.nova-2-lite-v1:0"] {
        assert_eq!(sent(&adapter(), model), few, "{model}");
    }
    assert!(sent(&adapter(), CLAUDE).len() > few.len());
    let set = adapter().with_target(tool_schema::Target::BEDROCK);
    assert_eq!(sent(&set, CLAUDE), few);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_request_starts_with_the_one_before_up_to_its_last_breakpoint(turns in prop::collection::vec(law::turns().prop_map(Turn::from), 1..8)) {
        let mut conversation = Conversation::new().with_system("Be brief.");
        conversation.ask("Hello?");
        let mut asked = Request::new(CLAUDE, conversation).with_tools(law::tools(&adapter()));
        const POINT: &str = r#",{"cachePoint":{"type":"default"}}"#;
        let text = |asked: &Request| {
            String::from_utf8(adapter().encode(asked).unwrap().request.body).unwrap()
        };
        let mut before = text(&asked);
        for turn in turns {
            asked.conversation.push(turn);
            let after = text(&asked);
            let start = &before[..before.rfind(POINT).unwrap()];
            let (start, after_unmarked) = (start.replace(POINT, ""), after.replace(POINT, ""));
            prop_assert!(after_unmarked.starts_with(&start), "{start}\n{after_unmarked}");
            before = after;
        }
    }

    #[test]
    fn damaged_streams_never_run_a_call(at in 0usize..5000, value: u8, cut in 1usize..50) {
        let mut bytes = said().event_stream().concat();
        let at = at % bytes.len();
        prop_assume!(bytes[at] != value);
        bytes[at] = value;
        let (events, reply) = decode(&bytes, cut, Expected::default());
        prop_assert!(reply.error.is_some());
        prop_assert!(reply.calls().all(|call| call.executable().is_none()));
        prop_assert_eq!((events, reply), decode(&bytes, bytes.len(), Expected::default()));
    }
}

#[cfg(feature = "http")]
#[tokio::test]
async fn requests_over_http_are_signed_and_errors_read() {
    use crate::http::server::{Answer, Server};
    use provider_adapters::{AwsCredentials, HttpModel, ModelError, Retry};

    let throttled = Answer::new(429, r#"{"message":"Too many requests, please wait."}"#);
    let too_long = Answer::new(
        400,
        r#"{"message":"Input is too long for requested model."}"#,
    );
    let server = Server::start(vec![
        Answer::new(200, said().event_stream().concat()),
        throttled,
        too_long,
    ])
    .await;
    let model = HttpModel::new(adapter())
        .unwrap()
        .with_aws_credentials(AwsCredentials::new("AKID", "hunter2-hunter2"))
        .with_base_url(&server.url)
        .with_retry(Retry::default().with_tries(0));
    let mut conversation = Conversation::new();
    conversation.ask("Hello?");
    let asked = Request::new(CLAUDE, conversation);
    assert_eq!(model.ask(&asked).await.unwrap().text(), "I look it up.");
    for kind in [ErrorKind::RateLimit, ErrorKind::ContextWindow] {
        let Err(ModelError::Provider(error)) = model.ask(&asked).await else {
            panic!("the server refuses");
        };
        assert_eq!(error.kind, kind);
    }
    let head = &server.asked()[0].head;
    assert!(
        head.starts_with("POST /model/anthropic.claude-sonnet-5-5-v1%3A0/converse-stream "),
        "{head}"
    );
    assert!(
        head.contains("authorization: AWS4-HMAC-SHA256 Credential=AKID/"),
        "{head}"
    );
    assert_eq!(head.matches("content-type:").count(), 1, "{head}");
    assert!(!head.contains("hunter2") && !format!("{model:?}").contains("hunter2"));
}
