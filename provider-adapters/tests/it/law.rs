//! Laws, checked on generated input.

use std::sync::{Arc, LazyLock};

use mcp_jsonrpc::{RawJson, RawMap};
use proptest::prelude::*;
use provider_adapters::{
    Adapter, Anthropic, Arguments, AssistantPart, AssistantTurn, Expected, Gemini, OpenAiChat,
    OpenAiResponses, PromptMode, Reply, ToolCall, ToolResult, ToolSet, ToolSpec, Turn, Wire,
    text_decoder,
};
use serde_json::{Value, json};
use tool_schema::Target;

use crate::fixture::{self, Fixture, decode};
use crate::golden::adapter;

static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(fixture::all);

/// Bytes cut at these places, wherever that is.
fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    at.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for to in at {
        pieces.push(&bytes[from..to]);
        from = to;
    }
    pieces.push(&bytes[from..]);
    pieces
}

/// A reply with some bytes changed, left out or repeated.
fn damaged(index: usize, changes: &[(usize, u8, u8)]) -> (Wire, Vec<u8>) {
    let fixture = &FIXTURES[index % FIXTURES.len()];
    let mut bytes = fixture.bytes.clone();
    for (at, kind, value) in changes {
        let at = at % bytes.len();
        match kind % 4 {
            0 => bytes[at] = *value,
            1 => bytes.insert(at, *value),
            2 if bytes.len() > 1 => drop(bytes.remove(at)),
            _ => bytes.truncate(at.max(1)),
        }
    }
    (fixture.wire, bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn chunking_does_not_matter(index: prop::sample::Index, cuts in prop::collection::vec(0usize..20_000, 0..40)) {
        let fixture = index.get(&FIXTURES);
        let whole = decode(fixture.wire, [fixture.bytes.as_slice()]);
        prop_assert_eq!(decode(fixture.wire, pieces(&fixture.bytes, &cuts)), whole);
    }

    #[test]
    fn chunking_does_not_matter_for_damaged_replies_either(
        index in 0usize..1000,
        changes in prop::collection::vec((0usize..20_000, any::<u8>(), any::<u8>()), 1..4),
        cuts in prop::collection::vec(0usize..20_000, 0..20),
    ) {
        let (wire, bytes) = damaged(index, &changes);
        let whole = decode(wire, [bytes.as_slice()]);
        prop_assert_eq!(decode(wire, pieces(&bytes, &cuts)), whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), wire in 0usize..6) {
        let adapter = adapter(Wire::ALL[wire]);
        let mut decoder = adapter.decoder(Expected::default());
        let mut events = Vec::new();
        for piece in bytes.chunks(7) {
            decoder.push(piece, &mut events);
        }
        let reply = decoder.finish(&mut events);
        prop_assert!(reply.error.is_some() || reply.stop.is_some());
    }

    /// No call of a reply that failed may be executed.
    #[test]
    fn a_failed_reply_has_nothing_to_execute(
        index in 0usize..1000,
        changes in prop::collection::vec((0usize..20_000, any::<u8>(), any::<u8>()), 1..4),
    ) {
        let (wire, bytes) = damaged(index, &changes);
        let (_, reply) = decode(wire, [bytes.as_slice()]);
        if reply.error.is_some() {
            prop_assert!(reply.calls().all(|call| call.executable().is_none()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn prompt_mode_reads_the_same_at_every_split(text in "([a-z <>/`\n]|<function_call>|\\{\"name\":\"f\"\\}|</function_call>|<tool_use>|<name>f</name>|</tool_use>|```json\n){0,24}") {
        let read = |pieces: Vec<&[u8]>| {
            let mut decoder = text_decoder(Expected::default());
            let mut events = Vec::new();
            for piece in pieces {
                decoder.push(piece, &mut events);
            }
            decoder.finish(&mut events)
        };
        let bytes = text.as_bytes();
        let whole = read(vec![bytes]);
        for at in 0..bytes.len() {
            let (left, right) = bytes.split_at(at);
            prop_assert_eq!(&read(vec![left, right]), &whole, "cut at {}", at);
        }
    }
}

/// A tool whose arguments look different on a strict wire.
pub(crate) fn tools(adapter: &dyn Adapter) -> Arc<ToolSet> {
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"},"unit":{"type":"string"},"n":{"type":"integer"}},"required":["city"],"additionalProperties":false}"#;
    let weather = ToolSpec::new("get.weather", serde_json::from_str(schema).unwrap());
    let any = ToolSpec::new("any", serde_json::from_str(r#"{"type":"object"}"#).unwrap());
    Arc::new(adapter.tools(&[weather, any]))
}

fn arguments() -> impl Strategy<Value = (String, String)> {
    let weather = (
        "[a-zé😀\"\\\\ ]{0,6}",
        any::<bool>(),
        prop::option::of("[1-9][0-9]{0,24}"),
    );
    let weather = weather.prop_map(|(city, unit, n)| {
        let mut text = format!("{{\"city\":{}", json!(city));
        if unit {
            text.push_str(",\"unit\":\"c\"");
        }
        if let Some(n) = n {
            text.push_str(&format!(",\"n\":{n}"));
        }
        ("get.weather".to_owned(), text + "}")
    });
    let any = prop::collection::vec(("[a-z$.]{1,4}", "[a-z<>/]{0,6}|[0-9]{1,3}"), 0..3);
    let any = any.prop_map(|members| {
        let object: serde_json::Map<String, Value> = members
            .into_iter()
            .map(|(key, value)| (key, json!(value)))
            .collect();
        ("any".to_owned(), Value::Object(object).to_string())
    });
    prop_oneof![weather, any]
}

/// What a model may say: text, then calls.
pub(crate) fn turns() -> impl Strategy<Value = AssistantTurn> {
    let text = prop::option::of("[a-zé😀<>\n][a-zé😀<>\n ]{0,12}");
    (text, prop::collection::vec(arguments(), 0..4)).prop_filter_map(
        "nothing said",
        |(text, calls)| {
            let mut parts: Vec<AssistantPart> = text
                .filter(|text| !text.trim().is_empty())
                .map(AssistantPart::text)
                .into_iter()
                .collect();
            let mut results = Vec::new();
            for (number, (name, arguments)) in calls.into_iter().enumerate() {
                let id = format!("call_{number}");
                parts.push(ToolCall::new(id.as_str(), name, Arguments::read(arguments)).into());
                results.push(ToolResult::text(id, "x"));
            }
            (!parts.is_empty()).then(|| AssistantTurn::new(parts, results).unwrap())
        },
    )
}

/// The assistant's messages of a turn, as the provider would have said them. Raw, because a value
/// would lose long numbers.
fn said(wire: Wire, messages: &[RawJson]) -> String {
    let first: RawMap = messages[0].parse().unwrap();
    match wire {
        Wire::OpenAiChat | Wire::Prompt => {
            format!(
                r#"{{"choices":[{{"message":{},"finish_reason":"stop"}}]}}"#,
                messages[0]
            )
        }
        Wire::Anthropic => {
            format!(
                r#"{{"content":{},"stop_reason":"end_turn"}}"#,
                first.get("content").unwrap()
            )
        }
        Wire::Gemini | Wire::Vertex => {
            format!(
                r#"{{"candidates":[{{"content":{},"finishReason":"STOP"}}]}}"#,
                messages[0]
            )
        }
        _ => {
            let mut output = Vec::new();
            for item in messages {
                let members: RawMap = item.parse().unwrap();
                match (members.get("content"), members.get("output")) {
                    (Some(text), _) => output.push(format!(
                        r#"{{"type":"message","content":[{{"type":"output_text","text":{text}}}]}}"#
                    )),
                    (None, None) => output.push(item.to_string()),
                    (None, Some(_)) => {}
                }
            }
            let output = output.join(",");
            format!(r#"{{"object":"response","status":"completed","output":[{output}]}}"#)
        }
    }
}

fn round_trip(adapter: &dyn Adapter, turn: &AssistantTurn) -> Reply {
    let tools = tools(adapter);
    let messages = adapter.messages(&[Turn::from(turn.clone())], &tools);
    let reply = said(adapter.wire(), &messages);
    let mut decoder = adapter.decoder(Expected::new(tools));
    let mut events = Vec::new();
    decoder.push(reply.as_bytes(), &mut events);
    decoder.finish(&mut events)
}

fn strict() -> Vec<Box<dyn Adapter>> {
    vec![
        Box::new(OpenAiChat::default().with_target(Target::OPENAI_STRICT)),
        Box::new(OpenAiResponses::default().with_target(Target::OPENAI_STRICT)),
        Box::new(Anthropic::default().with_target(Target::ANTHROPIC_STRICT)),
        Box::new(Gemini::developer().with_openapi_parameters()),
        Box::new(PromptMode::new(OpenAiChat::default())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn decode_of_encode_keeps_every_part(turn in turns()) {
        for adapter in strict().into_iter().chain(Wire::ALL.map(adapter)) {
            let reply = round_trip(adapter.as_ref(), &turn);
            prop_assert_eq!(&reply.error, &None);
            let prompt = adapter.wire() == Wire::Prompt;
            let mut got = reply.parts.clone();
            for (part, want) in got.iter_mut().zip(turn.parts()) {
                match (part, want) {
                    (AssistantPart::ToolCall(call), AssistantPart::ToolCall(want)) => {
                        // Prompt mode makes ids of its own; a strict wire may write arguments anew.
                        if prompt {
                            call.id = want.id.clone();
                            call.generated = false;
                        }
                        let text = call.arguments.object().unwrap().get().to_owned();
                        call.arguments = Arguments::read(text);
                    }
                    // Text and calls are lines of one text in prompt mode.
                    (AssistantPart::Text { text }, AssistantPart::Text { text: want }) if prompt => {
                        prop_assert_eq!(text.trim_end(), want.trim_end());
                        *text = want.clone();
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(got.as_slice(), turn.parts(), "{}", adapter.wire());
        }
    }

    #[test]
    fn a_turn_goes_back_to_its_provider_byte_for_byte(index: prop::sample::Index) {
        let fixture = index.get(&FIXTURES);
        let (_, reply) = decode(fixture.wire, [fixture.bytes.as_slice()]);
        let sound = reply.error.is_none() && reply.calls().all(|call| call.executable().is_some());
        if let Some(native) = reply.native.clone().filter(|_| sound && fixture.wire != Wire::OpenAiChat) {
            let results = reply.calls().map(|call| ToolResult::text(call.id.clone(), "x")).collect();
            let turn = Turn::from(reply.into_turn(results).unwrap());
            let messages = fixture::adapter(fixture.wire).messages(&[turn], &ToolSet::default());
            let sent: String = messages.iter().map(|message| message.get()).collect();
            for item in &native.items {
                prop_assert!(sent.contains(item.get()), "{} lost {}", fixture.name, item);
            }
        }
    }
}

/// Would take hours if any byte were looked at more than a few times.
#[test]
fn a_mebibyte_of_arguments_byte_by_byte_stays_linear() {
    let arguments_length = |reply: &Reply| {
        let call = reply.calls().next().unwrap();
        call.executable().unwrap().get().len()
    };
    let arguments = format!("{{\\\"text\\\":\\\"{}\\\"}}", "x".repeat(1 << 20));
    let event = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"function\":{{\"name\":\"f\",\"arguments\":\"{arguments}\"}}}}]}},\"finish_reason\":\"tool_calls\"}}]}}\n\n"
    );
    let (_, reply) = decode(Wire::OpenAiChat, event.as_bytes().chunks(1));
    assert_eq!(arguments_length(&reply), (1 << 20) + 11);

    let mut stream = String::from(
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\n",
    );
    for piece in ["{\\\"text\\\":\\\""]
        .into_iter()
        .chain(std::iter::repeat_n("x", 20_000))
        .chain(["\\\"}"])
    {
        stream.push_str(&format!("data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":\"{piece}\"}}}}\n\n"));
    }
    stream.push_str("data: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n");
    let (events, reply) = decode(Wire::Anthropic, stream.as_bytes().chunks(1));
    assert_eq!(arguments_length(&reply), 20_011);
    assert!(events.len() > 20_000);
}
