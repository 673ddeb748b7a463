//! The provider's side of the wires, against our own.

use std::sync::Arc;

use proptest::prelude::*;
use provider_adapters::server::{Asked, NotAsked, Said, ScriptedReply, failure};
use provider_adapters::{
    Adapter, AssistantPart, Conversation, ErrorKind, Expected, Reply, Request, StopReason,
    ToolChoice, ToolResult, ToolSpec, Wire,
};

use crate::golden::adapter;

/// What a model says, before it is put on a wire.
#[derive(Clone, Debug)]
struct Script {
    thought: Option<String>,
    text: Option<String>,
    calls: Vec<(String, String)>,
    usage: (u64, u64),
    piece: usize,
}

impl Script {
    fn reply(&self) -> ScriptedReply {
        let mut reply = ScriptedReply::new()
            .with_usage(self.usage.0, self.usage.1)
            .with_piece_chars(self.piece);
        if let Some(thought) = &self.thought {
            reply = reply.with_reasoning(thought);
        }
        if let Some(text) = &self.text {
            reply = reply.with_text(text);
        }
        for (number, (name, arguments)) in self.calls.iter().enumerate() {
            reply = reply.with_call(format!("call_{number}"), name, arguments);
        }
        reply
    }
}

fn scripts() -> impl Strategy<Value = Script> {
    let arguments = prop_oneof![
        Just("{}".to_owned()),
        "[a-zé😀\"\\\\ ]{0,9}".prop_map(|text| serde_json::json!({"text": text}).to_string()),
        "[1-9][0-9]{0,24}"
            .prop_map(|number| format!("{{\"n\":{number},\"deep\":[{{\"a\":null}}]}}")),
    ];
    (
        prop::option::of("[a-zé😀\n ]{0,20}[a-z]"),
        prop::option::of("[a-zé😀,.\n ]{0,30}[a-z.]"),
        prop::collection::vec(("[a-z_]{1,8}", arguments), 0..4),
        (0u64..100_000, 0u64..100_000),
        1usize..9,
    )
        .prop_map(|(thought, text, calls, usage, piece)| Script {
            thought,
            text,
            calls,
            usage,
            piece,
        })
        .prop_filter("nothing said", |script| {
            script.text.is_some() || !script.calls.is_empty()
        })
}

fn read<'a>(adapter: &dyn Adapter, chunks: impl IntoIterator<Item = &'a [u8]>) -> Reply {
    let mut decoder = adapter.decoder(Expected::default());
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut events);
    }
    decoder.finish(&mut events)
}

#[track_caller]
fn same(script: &Script, reply: &Reply, wire: Wire) -> Result<(), TestCaseError> {
    prop_assert_eq!(&reply.error, &None, "{}", wire);
    let mut thoughts = String::new();
    for part in &reply.parts {
        if let AssistantPart::Reasoning { text } = part {
            thoughts.push_str(text);
        }
    }
    prop_assert_eq!(
        &thoughts,
        script.thought.as_deref().unwrap_or_default(),
        "{}",
        wire
    );
    let text = reply.text();
    // A call in the text begins on a line of its own.
    let text = match wire {
        Wire::Prompt => text.trim_end_matches('\n'),
        _ => text.as_str(),
    };
    prop_assert_eq!(text, script.text.as_deref().unwrap_or_default(), "{}", wire);
    let calls: Vec<(String, String)> = reply
        .calls()
        .map(|call| {
            (
                call.name.clone(),
                call.executable().unwrap().get().to_owned(),
            )
        })
        .collect();
    prop_assert_eq!(&calls, &script.calls, "{}", wire);
    if wire != Wire::Prompt {
        let ids: Vec<String> = reply.calls().map(|call| call.id.to_string()).collect();
        let want: Vec<String> = (0..calls.len())
            .map(|number| format!("call_{number}"))
            .collect();
        prop_assert_eq!(ids, want, "{}", wire);
    }
    prop_assert_eq!(
        (reply.usage.input, reply.usage.output),
        (Some(script.usage.0), Some(script.usage.1))
    );
    let stop = if script.calls.is_empty() {
        StopReason::End
    } else {
        StopReason::ToolUse
    };
    prop_assert_eq!(reply.stop_reason(), Some(stop), "{}", wire);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_script_comes_back_from_every_wire_streamed_and_whole(script in scripts()) {
        for wire in Wire::ALL {
            let adapter = adapter(wire);
            let reply = script.reply();
            let events = reply.stream(wire);
            same(&script, &read(adapter.as_ref(), events.iter().map(|event| event.as_bytes())), wire)?;
            let body = reply.whole(wire);
            same(&script, &read(adapter.as_ref(), [body.as_bytes()]), wire)?;
        }
    }
}

#[test]
fn every_stop_reason_a_wire_has_comes_back() {
    let common = [StopReason::End, StopReason::MaxTokens];
    let own: &[(Wire, &[StopReason])] = &[
        (Wire::OpenAiChat, &[StopReason::Filtered]),
        (
            Wire::OpenAiResponses,
            &[
                StopReason::Filtered,
                StopReason::Pause,
                StopReason::Cancelled,
            ],
        ),
        (
            Wire::Anthropic,
            &[
                StopReason::ContextWindow,
                StopReason::StopSequence,
                StopReason::Refusal,
                StopReason::Pause,
            ],
        ),
        (
            Wire::Gemini,
            &[
                StopReason::Filtered,
                StopReason::MalformedToolCall,
                StopReason::Pause,
            ],
        ),
    ];
    for (wire, own) in own {
        for reason in common.iter().chain(*own) {
            let reply = ScriptedReply::new().with_text("x").with_stop(*reason);
            let events = reply.stream(*wire).concat();
            let adapter = adapter(*wire);
            for bytes in [events.as_bytes(), reply.whole(*wire).as_bytes()] {
                let got = read(adapter.as_ref(), [bytes]);
                assert_eq!(got.stop_reason(), Some(*reason), "{wire}");
            }
        }
    }
}

#[test]
fn a_call_the_limit_cut_is_never_executable() {
    for wire in [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic] {
        let reply = ScriptedReply::new()
            .with_call("c", "write", r#"{"text": "half"#)
            .with_stop(StopReason::MaxTokens);
        let got = read(
            adapter(wire).as_ref(),
            [reply.stream(wire).concat().as_bytes()],
        );
        assert_eq!(got.calls().count(), 1, "{wire}");
        assert!(
            got.calls().all(|call| call.executable().is_none()),
            "{wire}"
        );
    }
}

#[test]
fn failures_are_read_as_what_they_are() {
    for wire in Wire::ALL {
        let body = failure(wire, 400, "no such thing");
        let error = read(adapter(wire).as_ref(), [body.as_bytes()])
            .error
            .unwrap();
        assert_eq!(error.message, "no such thing", "{wire}");
        assert_ne!(error.kind, ErrorKind::Malformed, "{wire}");
    }
}

fn asked(wire: Wire, request: &Request) -> Asked {
    let encoded = adapter(wire).encode(request).unwrap();
    Asked::read(&encoded.request.path, &encoded.request.body).unwrap()
}

fn specs() -> [ToolSpec; 2] {
    let schema = r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#;
    [
        ToolSpec::new("add", serde_json::from_str(schema).unwrap())
            .with_description("Adds two numbers."),
        ToolSpec::new(
            "picture",
            serde_json::from_str(r#"{"type":"object"}"#).unwrap(),
        ),
    ]
}

/// Asks, answers by a script, runs the calls, asks again: what the model was asked each time.
fn dialogue(wire: Wire) -> (Asked, Asked) {
    let adapter = adapter(wire);
    let mut conversation = Conversation::new().with_system("Be brief.");
    conversation.ask("Add 2 and 40, <b>please</b>.");
    let tools = Arc::new(adapter.tools(&specs()));
    let mut request = Request::new("some-model", conversation).with_tools(tools);
    let first = asked(wire, &request);
    let answer = first.answer(
        &ScriptedReply::new()
            .with_text("Both at once.")
            .with_call("call_1", "add", r#"{"a":2,"b":40}"#)
            .with_call("call_2", "picture", "{}"),
    );
    assert_eq!(answer.content_type, "text/event-stream");
    let encoded = adapter.encode(&request).unwrap();
    let mut decoder = adapter.decoder(encoded.expected);
    for chunk in &answer.chunks {
        decoder.push(chunk.as_bytes(), &mut Vec::new());
    }
    let reply = decoder.finish(&mut Vec::new());
    let ids: Vec<_> = reply.calls().map(|call| call.id.clone()).collect();
    let results = vec![
        ToolResult::text(ids[0].clone(), "42"),
        ToolResult::error(ids[1].clone(), "no camera"),
    ];
    request.conversation.push(reply.into_turn(results).unwrap());
    (first, asked(wire, &request))
}

#[test]
fn a_request_is_read_back_on_every_wire() {
    for wire in Wire::ALL {
        let (first, second) = dialogue(wire);
        assert_eq!(first.prompt_mode, wire == Wire::Prompt, "{wire}");
        assert!(
            first.stream && first.may_call && first.model == "some-model",
            "{wire}"
        );
        assert!(first.system.starts_with("Be brief."), "{wire}");
        assert_eq!(
            first.question(),
            Some("Add 2 and 40, <b>please</b>."),
            "{wire}"
        );
        assert!(first.answers().is_empty(), "{wire}");
        let names: Vec<&str> = first.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["add", "picture"], "{wire}");
        let add = first.tool("add").unwrap();
        assert_eq!(
            add.description.as_deref(),
            Some("Adds two numbers."),
            "{wire}"
        );
        let schema: serde_json::Value = add.input_schema.parse().unwrap();
        assert_eq!(schema["required"], serde_json::json!(["a", "b"]), "{wire}");

        assert_eq!(second.question(), first.question(), "{wire}");
        let answers: Vec<_> = second
            .answers()
            .into_iter()
            .map(|answer| (answer.name.as_str(), answer.text.as_str(), answer.is_error))
            .collect();
        assert_eq!(
            answers,
            [("add", "42", false), ("picture", "no camera", true)],
            "{wire}"
        );
    }
}

#[test]
fn a_picture_shown_in_the_users_name_is_no_question() {
    for wire in Wire::ALL {
        let adapter = adapter(wire);
        let mut conversation = Conversation::new();
        conversation.ask("Show me.");
        let image = mcp_jsonrpc::model::ImageContent::new("iVBORw0KGgo=", "image/png");
        let result = ToolResult::new(
            "call_1",
            vec![mcp_jsonrpc::model::ContentBlock::Image(image)],
        );
        let call = provider_adapters::ToolCall::new(
            "call_1",
            "picture",
            provider_adapters::Arguments::empty(),
        );
        let turn = provider_adapters::AssistantTurn::new(vec![call.into()], vec![result]).unwrap();
        conversation.push(turn);
        let tools = Arc::new(adapter.tools(&specs()));
        let asked = asked(wire, &Request::new("m", conversation).with_tools(tools));
        assert_eq!(asked.question(), Some("Show me."), "{wire}");
        assert_eq!(asked.answers().len(), 1, "{wire}");
    }
}

#[test]
fn a_model_that_must_not_call_knows_it() {
    for wire in [
        Wire::OpenAiChat,
        Wire::OpenAiResponses,
        Wire::Anthropic,
        Wire::Gemini,
    ] {
        let adapter = adapter(wire);
        let mut conversation = Conversation::new();
        conversation.ask("Hello?");
        let tools = Arc::new(adapter.tools(&specs()));
        let mut request = Request::new("m", conversation).with_tools(tools);
        request.choice = ToolChoice::None;
        assert!(asked(wire, &request).tool("add").is_none(), "{wire}");
    }
}

#[test]
fn what_no_wire_knows_is_refused_by_name() {
    assert_eq!(
        Asked::read("/v1/embeddings", b"{}"),
        Err(NotAsked::Path("/v1/embeddings".to_owned()))
    );
    assert_eq!(Asked::read("/v1/responses?x=1", b"[]"), Err(NotAsked::Body));
    let plain = Asked::read("/v1/responses", br#"{"model":"m","input":"Hi."}"#).unwrap();
    assert_eq!(plain.said, [Said::User("Hi.".to_owned())]);
    assert!(!plain.stream);
}
