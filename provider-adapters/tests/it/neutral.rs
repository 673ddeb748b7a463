//! The neutral words: what can be built, what cannot, and how they are written down.

use mcp_jsonrpc::model::{AudioContent, CallToolResult, ContentBlock, ImageContent};
use provider_adapters::{
    Adapter, Arguments, AssistantPart, AssistantTurn, CallProblem, Conversation, Gemini, History,
    OpenAiChat, Repair, Reply, ReplyEvent, SystemTurn, ToolCall, ToolResult, ToolSpec, Turn,
    Unpaired, Usage, UserPart, UserTurn, Wire, flatten, messages_of,
};
use serde_json::{Value, json};

use crate::golden::{adapter, get_time};
use crate::request::conversations;

fn call(id: &str) -> AssistantPart {
    ToolCall::new(id, "getTime", Arguments::read(r#"{"offset_ms":1}"#)).into()
}

#[test]
fn a_turn_cannot_have_a_call_without_a_result_or_the_other_way_round() {
    let build = |parts: &[&str], results: &[&str]| {
        let parts = parts.iter().map(|id| call(id)).collect();
        let results = results
            .iter()
            .map(|id| ToolResult::text(*id, "x"))
            .collect();
        AssistantTurn::new(parts, results)
    };
    assert_eq!(
        build(&["a", "b"], &["b"]),
        Err(Unpaired::NoResult("a".into()))
    );
    assert_eq!(
        build(&["a"], &["a", "b"]),
        Err(Unpaired::NoCall("b".into()))
    );
    assert_eq!(
        build(&["a", "a"], &["a"]),
        Err(Unpaired::CallTwice("a".into()))
    );
    assert_eq!(
        build(&["a"], &["a", "a"]),
        Err(Unpaired::ResultTwice("a".into()))
    );
    let turn = build(&["a", "b"], &["b", "a"]).unwrap();
    let order: Vec<&str> = turn
        .results()
        .iter()
        .map(|result| result.id.as_str())
        .collect();
    assert_eq!(
        order,
        ["a", "b"],
        "results stand in the order of their calls"
    );
    let json =
        r#"{"role":"assistant","parts":[{"type":"tool_call","id":"a","name":"f","arguments":{}}]}"#;
    let error = serde_json::from_str::<Turn>(json).unwrap_err().to_string();
    assert!(
        error.contains("the tool call \"a\" has no result"),
        "{error}"
    );
}

#[test]
fn a_broken_history_is_repaired_and_every_repair_is_reported() {
    let mut history = History::new().with_system("Be brief.");
    history.result(ToolResult::text("early", "x"));
    history.user(UserTurn::new(vec![]));
    history.user(UserTurn::new(vec![UserPart::text("Hello?")]));
    history.assistant(vec![call("a"), call("b"), call("a")], None);
    history.result(ToolResult::text("a", "first"));
    history.system(SystemTurn::new("Now in French."));
    history.result(ToolResult::text("b", "late"));
    history.result(ToolResult::text("a", "again"));
    history.assistant(vec![], None);
    let (conversation, repairs) = history.repair();
    let renamed = match &repairs[2] {
        Repair::CallRenamed { id, new } if *id == "a" => new.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        repairs,
        [
            Repair::ResultWithoutCall { id: "early".into() },
            Repair::TurnEmpty,
            Repair::CallRenamed {
                id: "a".into(),
                new: renamed.clone()
            },
            Repair::ResultMoved { id: "b".into() },
            Repair::ResultTwice { id: "a".into() },
            Repair::TurnEmpty,
            Repair::ResultInvented { id: renamed },
        ]
    );
    assert_eq!(conversation.turns().len(), 3);
    let Turn::Assistant(turn) = &conversation.turns()[1] else {
        panic!("{conversation:?}")
    };
    let sent: Vec<&str> = turn
        .results()
        .iter()
        .filter_map(|result| result.content[0].as_text())
        .collect();
    assert_eq!(sent[..2], ["first", "late"]);
    assert!(turn.results()[2].is_error);
    for wire in Wire::ALL {
        assert!(
            !adapter(wire)
                .messages(conversation.turns(), &Default::default())
                .is_empty()
        );
    }
}

#[test]
fn a_tidy_history_needs_no_repair() {
    let mut history = History::new();
    history.user(UserTurn::new(vec![UserPart::text("Hello?")]));
    history.assistant(vec![call("a")], None);
    history.result(ToolResult::text("a", "x"));
    history.assistant(vec![call("a")], None);
    history.result(ToolResult::text("a", "y"));
    let (conversation, repairs) = history.repair();
    assert_eq!((conversation.turns().len(), repairs), (3, vec![]));
}

#[test]
fn conversations_survive_being_written_down() {
    for (name, json) in conversations() {
        let value: Value = serde_json::from_slice(&json).unwrap();
        let turns = json!({ "turns": value["turns"] }).to_string();
        let conversation: Conversation = serde_json::from_str(&turns).unwrap();
        let written = serde_json::to_string(&conversation).unwrap();
        let again: Conversation = serde_json::from_str(&written).unwrap();
        assert_eq!(again, conversation, "{name}");
        let from_value: Conversation =
            serde_json::from_value(serde_json::from_str(&written).unwrap()).unwrap();
        assert_eq!(
            from_value.turns().len(),
            conversation.turns().len(),
            "{name}"
        );
    }
}

#[test]
fn calls_that_must_not_run_say_so_when_written_down() {
    let mut cut = ToolCall::new("a", "write", Arguments::read("{\"x\": 1"));
    cut.problem = Some(CallProblem::Cut);
    let written = serde_json::to_string(&cut).unwrap();
    assert_eq!(
        written,
        r#"{"id":"a","name":"write","arguments":"{\"x\": 1","problem":{"kind":"cut"}}"#
    );
    let again: ToolCall = serde_json::from_str(&written).unwrap();
    assert_eq!((again.executable(), &again), (None, &cut));
    let rejection = again.rejection().unwrap();
    assert!(rejection.is_error && rejection.id == "a");
    let big = ToolCall::new(
        "a",
        "f",
        Arguments::read(r#"{"n":12345678901234567890123,"a":1}"#),
    );
    let again: ToolCall = serde_json::from_str(&serde_json::to_string(&big).unwrap()).unwrap();
    assert_eq!(
        again.executable().unwrap().get(),
        r#"{"n":12345678901234567890123,"a":1}"#
    );
}

/// Text as it is, `[Image: mime]`, `[Audio: mime]`, joined with newlines.
#[test]
fn content_flattens_to_a_line_a_block() {
    let content = [
        ContentBlock::text("a"),
        ContentBlock::Image(ImageContent::new("AA==", "image/png")),
        ContentBlock::Audio(AudioContent::new("AA==", "audio/wav")),
        ContentBlock::text("b\nc"),
    ];
    assert_eq!(
        flatten(&content),
        "a\n[Image: image/png]\n[Audio: audio/wav]\nb\nc"
    );
    assert_eq!(flatten(&[]), "");
    let odd = serde_json::from_value(json!([
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///c", "blob": "AA==", "mimeType": "application/zip"}},
        {"type": "hologram", "data": "…"}
    ]));
    let odd: Vec<ContentBlock> = odd.unwrap();
    assert_eq!(
        flatten(&odd),
        "[Resource: a <file:///a>]\ninside\n[File: file:///c]\n[Content of an unknown kind]"
    );
}

#[test]
fn results_come_from_mcp_as_they_are() {
    let result: CallToolResult = serde_json::from_value(json!({
        "content": [{"type": "text", "text": "no"}], "structuredContent": {"n": 1}, "isError": true
    }))
    .unwrap();
    let result = ToolResult::from_mcp("a", result);
    assert!(result.is_error && result.structured.is_some() && result.content.len() == 1);
}

/// Three shapes; names and descriptions unchanged, `required` always a list.
#[test]
fn tool_definitions_have_the_shape_of_each_provider() {
    let tools = [
        get_time(),
        ToolSpec::new("now", mcp_jsonrpc::RawObject::empty()),
    ];
    let list = |adapter: &dyn Adapter| -> Value {
        adapter.definitions(&adapter.tools(&tools)).parse().unwrap()
    };
    let (name, description) = (json!(get_time().name), json!(get_time().description));
    let schema = json!({
        "type": "object",
        "properties": {"offset_ms": {
            "type": "number",
            "description": "相对于当前时间的毫秒数偏移量。负值表示过去时间,正值表示未来时间。"
        }},
        "required": ["offset_ms"]
    });
    let nothing = json!({"type": "object", "properties": {}, "required": []});
    assert_eq!(
        list(&OpenAiChat::default()),
        json!([
            {"type": "function", "function": {"name": name, "description": description, "parameters": schema}},
            {"type": "function", "function": {"name": "now", "parameters": nothing}}
        ])
    );
    assert_eq!(
        list(&provider_adapters::Anthropic::default()),
        json!([
            {"name": name, "description": description, "input_schema": schema},
            {"name": "now", "input_schema": nothing}
        ])
    );
    assert_eq!(
        list(&Gemini::developer().with_openapi_parameters()),
        json!([{"functionDeclarations": [
            {"name": name, "description": description, "parameters": schema},
            {"name": "now"}
        ]}])
    );
    let none = Gemini::developer();
    assert_eq!(
        none.definitions(&none.tools(&[])).get(),
        "[]",
        "never an empty declaration"
    );
}

#[test]
fn a_tool_that_cannot_be_sent_does_not_hide_the_others() {
    let bad = ToolSpec::new(
        "bad",
        serde_json::from_str(r#"{"type":"object","properties":{"a":false},"required":["a"]}"#)
            .unwrap(),
    );
    let many: Vec<ToolSpec> = (0..130)
        .map(|n| ToolSpec::new(format!("t{n}"), mcp_jsonrpc::RawObject::empty()))
        .collect();
    let adapter = OpenAiChat::default();
    let tools = adapter.tools(&many);
    assert_eq!((tools.len(), tools.left_out().len()), (128, 2));
    let twice = adapter.tools(&[get_time(), get_time(), bad]);
    assert!(twice.names().any(|name| name == "getTime") && !twice.left_out().is_empty());
}

#[test]
fn tool_call_events_carry_id_name_and_arguments() {
    let bytes =
        std::fs::read(crate::fixture::folder().join("openai-chat/02-one-tool.sse")).unwrap();
    let (events, _) = crate::fixture::decode(Wire::OpenAiChat, [bytes.as_slice()]);
    let events: Vec<Value> = events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .collect();
    assert_eq!(
        events,
        [
            json!({"type": "tool_call_start", "tool_call_id": "call_A1", "tool_call_name": "get_weather"}),
            json!({"type": "tool_call_chunk", "tool_call_id": "call_A1", "tool_call_arguments_chunk": "{\"ci"}),
            json!({"type": "tool_call_chunk", "tool_call_id": "call_A1", "tool_call_arguments_chunk": "ty\":\"Par"}),
            json!({"type": "tool_call_chunk", "tool_call_id": "call_A1", "tool_call_arguments_chunk": "is\"}"}),
            json!({"type": "tool_call_end", "tool_call_id": "call_A1", "tool_call_name": "get_weather",
                   "tool_call_arguments_complete": "{\"city\":\"Paris\"}", "complete": true}),
            json!({"type": "usage", "input": 82, "output": 17, "reasoning": 0, "cache_read": 0}),
            json!({"type": "stop", "reason": "tool_use", "raw": "tool_calls"}),
        ]
    );
    assert!(matches!(
        ReplyEvent::Usage(Default::default()),
        ReplyEvent::Usage(_)
    ));
}

#[test]
fn a_wire_is_found_by_its_name_and_an_unknown_name_lists_them() {
    for wire in Wire::ALL.into_iter().chain([Wire::Bedrock]) {
        assert_eq!(wire.as_str().parse(), Ok(wire));
    }
    let error = "smoke".parse::<Wire>().unwrap_err().to_string();
    assert_eq!(
        error,
        "no wire is called \"smoke\"; there are openai-chat openai-responses anthropic gemini vertex prompt bedrock"
    );
}

/// Messages out of a payload, a result as messages, an assistant's message with its calls, and
/// all of them joined.
#[test]
fn messages_are_made_of_turns_and_read_from_payloads() {
    for wire in Wire::ALL {
        let adapter = adapter(wire);
        let mut conversation = Conversation::new();
        conversation.ask("When?");
        let said = vec![AssistantPart::text("Let me look."), call("call_1")];
        let turn = AssistantTurn::new(said, vec![ToolResult::text("call_1", "noon")]).unwrap();
        conversation.push(turn);
        let tools = adapter.tools(&[get_time()]);
        let request = provider_adapters::Request::new("m", conversation.clone())
            .with_tools(tools.clone())
            .with_cache(provider_adapters::Cache::Off);
        let payload = messages_of(&adapter.encode(&request).unwrap().request);
        let built = adapter.messages(conversation.turns(), &tools);
        assert_eq!(payload[payload.len() - built.len()..], built, "{wire}");
        let sent: String = built.iter().map(|message| message.get()).collect();
        assert!(
            sent.contains("getTime") && sent.contains("offset_ms") && sent.contains("noon"),
            "{wire}: {sent}"
        );
    }
}

#[test]
fn a_reply_is_a_turn_once_its_calls_have_results() {
    let reply: Reply = serde_json::from_value(json!({
        "parts": [{"type": "text", "text": "x"}, {"type": "tool_call", "id": "a", "name": "f", "arguments": {}}]
    }))
    .unwrap();
    assert!(reply.clone().into_turn(vec![]).is_err());
    let turn = reply.into_turn(vec![ToolResult::text("a", "y")]).unwrap();
    assert_eq!(turn.exchanges().count(), 1);
}

#[test]
fn usage_means_the_same_on_every_wire() {
    // 10 fresh, 3 cached and 2 newly cached tokens; 5 tokens of text and 4 of reasoning.
    let replies = [
        (
            Wire::Anthropic,
            json!({"usage": {"input_tokens": 10, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2,
                "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}}),
        ),
        (
            Wire::Gemini,
            json!({"usageMetadata": {"promptTokenCount": 15, "cachedContentTokenCount": 3,
                "candidatesTokenCount": 5, "thoughtsTokenCount": 4, "totalTokenCount": 24}}),
        ),
        (
            Wire::OpenAiChat,
            json!({"usage": {"prompt_tokens": 15, "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
                "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 24}}),
        ),
        (
            Wire::OpenAiResponses,
            json!({"object": "response", "usage": {"input_tokens": 15, "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
                "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 24}}),
        ),
    ];
    for (wire, body) in replies {
        let mut decoder = adapter(wire).decoder(Default::default());
        let mut events = Vec::new();
        decoder.push(body.to_string().as_bytes(), &mut events);
        let usage = decoder.finish(&mut events).usage;
        assert_eq!((usage.input, usage.output), (Some(15), Some(9)), "{wire}");
        assert_eq!(
            (usage.cache_read, usage.reasoning),
            (Some(3), Some(4)),
            "{wire}"
        );
        assert_eq!(usage.total(), Some(24), "{wire}");
    }
    assert_eq!(Usage::default().total(), None);
}

#[test]
fn usage_that_comes_in_parts_adds_up() {
    let events = [
        r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":3,"output_tokens":1}}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10,"output_tokens":9}}"#,
    ];
    let stream: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    let mut decoder = adapter(Wire::Anthropic).decoder(Default::default());
    let mut events = Vec::new();
    decoder.push(stream.as_bytes(), &mut events);
    let usage = decoder.finish(&mut events).usage;
    assert_eq!((usage.input, usage.output), (Some(13), Some(9)));
}
