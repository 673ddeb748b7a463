//! Structured output: schemas on every wire, and replies back from them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use provider_adapters::server::ScriptedReply;
use provider_adapters::{
    Adapter, Anthropic, Conversation, Dialect, EncodeError, Gemini, OpenAiChat, OpenAiResponses,
    OutputFormat, OutputSchema, PromptMode, Reply, ReplyEvent, Request, StopReason, ToolSpec, Wire,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_schema::{Target, compile};

use crate::golden::adapter;

/// What wires differ in: a map, an option, a choice, a rule no strict wire has, and any value.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
struct Invoice {
    #[schemars(length(min = 1))]
    number: String,
    total: f64,
    paid: Option<bool>,
    currency: Currency,
    lines: Vec<Line>,
    tags: BTreeMap<String, String>,
    extra: Value,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
enum Currency {
    Euro,
    Dollar,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
struct Line {
    text: String,
    count: u32,
}

fn invoice() -> Invoice {
    Invoice {
        number: "17".to_owned(),
        total: 20.5,
        paid: None,
        currency: Currency::Euro,
        lines: vec![Line {
            text: "Tea".to_owned(),
            count: 2,
        }],
        tags: BTreeMap::from([("shop".to_owned(), "Oslo".to_owned())]),
        extra: json!({"note": [1, null]}),
    }
}

fn conversation() -> Conversation {
    let mut conversation = Conversation::new().with_system("Be brief.");
    conversation.ask("Which invoice is it?");
    conversation
}

fn request() -> Request {
    Request::new("model", conversation()).with_output::<Invoice>()
}

/// Every way in which a wire is asked for a schema.
fn adapters() -> Vec<(&'static str, Box<dyn Adapter>, Target)> {
    const ANY: Target = Target::json_schema("prompt").with_output();
    let mut instruction = Dialect::VLLM;
    instruction.output = OutputFormat::Instruction;
    vec![
        (
            "chat",
            Box::new(OpenAiChat::default()),
            Target::OPENAI_OUTPUT,
        ),
        (
            "chat-vllm",
            Box::new(OpenAiChat::new(Dialect::VLLM)),
            Target::OPENAI_OUTPUT,
        ),
        (
            "chat-deepseek",
            Box::new(OpenAiChat::new(Dialect::DEEPSEEK)),
            ANY,
        ),
        (
            "chat-instruction",
            Box::new(OpenAiChat::new(instruction)),
            ANY,
        ),
        (
            "responses",
            Box::new(OpenAiResponses::default()),
            Target::OPENAI_OUTPUT,
        ),
        (
            "anthropic",
            Box::new(Anthropic::default()),
            Target::ANTHROPIC_OUTPUT,
        ),
        (
            "gemini",
            Box::new(Gemini::developer()),
            Target::GEMINI_OUTPUT,
        ),
        (
            "gemini-openapi",
            Box::new(Gemini::developer().with_openapi_parameters()),
            Target::GEMINI_OPENAPI_OUTPUT,
        ),
        (
            "prompt",
            Box::new(PromptMode::new(OpenAiChat::default())),
            ANY,
        ),
    ]
}

/// A model's reply of this text to a request.
fn reply(adapter: &dyn Adapter, request: &Request, text: &str) -> (Vec<ReplyEvent>, Reply) {
    let encoded = adapter.encode(request).unwrap();
    let mut decoder = adapter.decoder(encoded.expected);
    let mut events = Vec::new();
    let wire = match adapter.wire() {
        Wire::Prompt => Wire::OpenAiChat,
        wire => wire,
    };
    for event in ScriptedReply::new().with_text(text).stream(wire) {
        decoder.push(event.as_bytes(), &mut events);
    }
    let reply = decoder.finish(&mut events);
    (events, reply)
}

#[test]
fn every_wire_gets_the_schema_in_its_own_form() {
    for (name, adapter, _) in adapters() {
        let encoded = adapter.encode(&request()).unwrap();
        let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
        let losses: Vec<String> = encoded
            .expected
            .output()
            .unwrap()
            .losses()
            .iter()
            .filter(|loss| loss.lossy)
            .map(ToString::to_string)
            .collect();
        insta::assert_json_snapshot!(
            format!("output_{name}"),
            json!({"body": body, "lossy": losses})
        );
    }
}

#[test]
fn a_reply_comes_back_in_the_shape_of_the_original_schema() {
    let schema = request().output.unwrap().schema().clone();
    for (name, adapter, target) in adapters() {
        let restore = compile(&schema, &target).unwrap().restore;
        let written = restore.project(serde_json::to_value(invoice()).unwrap());
        let (_, reply) = reply(adapter.as_ref(), &request(), &written.to_string());
        assert_eq!(
            reply.output_as::<Invoice>().as_ref(),
            Ok(&invoice()),
            "{name}"
        );
    }
}

#[test]
fn partial_objects_arrive_as_events() {
    let cities = json!({"type": "object", "properties": {"cities": {"type": "array", "items": {"type": "string"}}}, "required": ["cities"]});
    let request = Request::new("any", conversation()).with_output_schema(cities);
    let (events, _) = reply(
        &Anthropic::default(),
        &request,
        r#"{"cities": ["Oslo", "Reykjavík", "Rome"]}"#,
    );
    let partial: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            ReplyEvent::PartialOutput { value } => Some(value.to_string()),
            _ => None,
        })
        .collect();
    insta::assert_snapshot!(partial.join("\n"), @r#"
    {"cities":[]}
    {"cities":["Oslo","Rey"]}
    {"cities":["Oslo","Reykjavík","Ro"]}
    {"cities":["Oslo","Reykjavík","Rome"]}
    "#);
}

#[test]
fn an_output_that_does_not_match_is_an_error_with_its_text_and_violations() {
    for (name, adapter, _) in adapters() {
        let text = r#"{"number": "", "total": "much"}"#;
        let (_, reply) = reply(adapter.as_ref(), &request(), text);
        let invalid = reply.output.unwrap().unwrap_err();
        assert_eq!(invalid.text, text, "{name}");
        assert!(
            invalid
                .violations
                .iter()
                .any(|violation| violation.contains("`/total`")),
            "{name}: {invalid}"
        );
        assert!(reply.error.is_none(), "the reply itself is whole");
    }
}

#[test]
fn an_output_that_is_no_json_is_an_error() {
    let (_, reply) = reply(
        &OpenAiChat::default(),
        &request(),
        "I cannot see an invoice.",
    );
    let invalid = reply.output.unwrap().unwrap_err();
    insta::assert_snapshot!(invalid, @r"
    the reply does not match the output schema:
    - the output is not JSON: expected value at line 1 column 1
    ");
}

#[test]
fn what_models_write_around_json_is_removed() {
    let schema = json!({"type": "array", "items": {"type": "integer"}});
    let request = Request::new("any", conversation()).with_output_schema(schema);
    let adapter = PromptMode::new(OpenAiChat::default());
    for text in [
        "Here you are:\n```json\n{\"value\": [1, 2,]}\n```",
        "```\n{\"value\": [1, 2]}\n```\nAnything else?",
        "[1, 2]",
    ] {
        let (_, reply) = reply(&adapter, &request, text);
        assert_eq!(reply.output_as::<Vec<u8>>(), Ok(vec![1, 2]), "{text}");
    }
}

#[test]
fn an_output_that_was_cut_off_is_never_taken_for_whole() {
    let request = request().with_stream(true);
    let adapter = OpenAiChat::default();
    let encoded = adapter.encode(&request).unwrap();
    let mut decoder = adapter.decoder(encoded.expected);
    let mut events = Vec::new();
    let script = ScriptedReply::new()
        .with_text("{\"number\":\"1")
        .with_stop(StopReason::MaxTokens);
    for event in script.stream(Wire::OpenAiChat) {
        decoder.push(event.as_bytes(), &mut events);
    }
    let invalid = decoder.finish(&mut events).output.unwrap().unwrap_err();
    assert_eq!(invalid.violations, ["the output was cut off (length)"]);
}

#[test]
fn a_reply_that_calls_tools_has_no_output_yet() {
    let schema = json!({"type": "object"});
    for wire in Wire::ALL {
        let adapter = adapter(wire);
        let tools = adapter.tools(&[ToolSpec::new("look", schema_of(&schema))]);
        let request = request().with_tools(tools);
        let mut decoder = adapter.decoder(adapter.encode(&request).unwrap().expected);
        let mut events = Vec::new();
        let script = ScriptedReply::new()
            .with_text("Let me look.")
            .with_call("c1", "look", "{}");
        for event in script.stream(wire) {
            decoder.push(event.as_bytes(), &mut events);
        }
        let reply = decoder.finish(&mut events);
        assert_eq!(reply.stop_reason(), Some(StopReason::ToolUse), "{wire}");
        assert_eq!(reply.output, None, "{wire}");
    }
}

fn schema_of(schema: &Value) -> mcp_jsonrpc::RawObject {
    mcp_jsonrpc::RawObject::from_serialize(schema).unwrap()
}

#[test]
fn a_schema_that_cannot_be_compiled_is_refused_before_sending() {
    let deep = (0..200).fold(
        json!({}),
        |inner, _| json!({"type": "array", "items": inner}),
    );
    for schema in [deep, json!(false), json!("text"), json!({"type": 7})] {
        for (name, adapter, _) in adapters() {
            let request = Request::new("any", conversation()).with_output_schema(schema.clone());
            let refused = adapter.encode(&request).unwrap_err();
            assert!(
                matches!(refused, EncodeError::OutputSchema { .. }),
                "{name}: {refused}"
            );
        }
    }
}

#[test]
fn a_schema_that_no_reply_can_be_checked_against_says_why() {
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}});
    let request = Request::new("any", conversation()).with_output_schema(schema);
    let refused = provider_adapters::OpenAiChat::default()
        .encode(&request)
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the output schema cannot be compiled: no reply can be checked against it: Pointer '/nowhere' does not exist"
    );
}

/// Models from before output formats get a tool that they have to call.
#[test]
fn an_old_anthropic_model_answers_by_a_tool() {
    let adapter = Anthropic::default();
    let mut request = request();
    request.model = "claude-3-5-haiku-latest".to_owned();
    let encoded = adapter.encode(&request).unwrap();
    let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
    assert_eq!(
        body["tool_choice"],
        json!({"type": "tool", "name": "Invoice"})
    );
    assert!(body.get("output_config").is_none());
    let written = serde_json::to_string(&invoice()).unwrap();
    let script = ScriptedReply::new()
        .with_text("Here:")
        .with_call("t1", "Invoice", written);
    for bytes in [
        script.stream(Wire::Anthropic),
        vec![script.whole(Wire::Anthropic)],
    ] {
        let mut decoder = adapter.decoder(encoded.expected.clone());
        let mut events = Vec::new();
        bytes
            .iter()
            .for_each(|event| decoder.push(event.as_bytes(), &mut events));
        let reply = decoder.finish(&mut events);
        assert_eq!(reply.output_as::<Invoice>(), Ok(invoice()));
        assert_eq!(reply.stop_reason(), Some(StopReason::End));
        assert_eq!(reply.calls().count(), 0);
        // The call has no result, so it goes back as text.
        assert_eq!(reply.native, None);
        assert!(reply.into_turn(Vec::new()).is_ok());
    }
}

/// A schema beyond what the provider enforces is not enforced, rather than refused.
#[test]
fn a_schema_that_cannot_be_enforced_is_still_asked_for() {
    let many: serde_json::Map<String, Value> = (0..30)
        .map(|at| (format!("p{at}"), json!({"type": "string"})))
        .collect();
    let schema = json!({"type": "object", "properties": many});
    let request = Request::new("claude-sonnet-5-5", conversation()).with_output_schema(schema);
    let encoded = Anthropic::default().encode(&request).unwrap();
    let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
    assert_eq!(
        body["tool_choice"],
        json!({"type": "tool", "name": "output"})
    );
    assert!(!encoded.expected.output().unwrap().is_strict());
}

#[test]
fn old_gemini_models_with_tools_are_instructed() {
    let gemini = Gemini::developer();
    let tool = ToolSpec::new("look", schema_of(&json!({"type": "object"})));
    let mut request = request().with_tools(gemini.tools(&[tool]));
    for (model, instructed) in [("gemini-2.5-pro", true), ("gemini-3-pro", false)] {
        request.model = model.to_owned();
        let encoded = gemini.encode(&request).unwrap();
        let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
        assert_eq!(
            body.get("generationConfig").is_none(),
            instructed,
            "{model}"
        );
    }
}

#[test]
fn a_name_is_made_legal() {
    assert_eq!(
        OutputSchema::new(json!({"title": "Invoice №1"}))
            .name()
            .find('№'),
        None
    );
    assert_eq!(OutputSchema::new(json!({})).name(), "output");
}

/// Values of every root type.
fn values() -> impl Strategy<Value = (Value, Value)> {
    let text = "[a-zé\"\\\\😀 {}\\[\\],]{0,12}";
    let map = prop::collection::btree_map("[a-z]{1,4}", any::<i32>(), 0..4);
    let array = prop::collection::vec(
        text.prop_map(|text| json!({"text": text, "count": 3})),
        0..4,
    );
    prop_oneof![
        text.prop_map(|text| (json!({"type": "string"}), json!(text))),
        any::<Option<i64>>().prop_map(|n| (json!({"type": ["integer", "null"]}), json!(n))),
        map.prop_map(|map| {
            let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
            (schema, json!(map))
        }),
        array.prop_map(|lines| {
            let line = serde_json::to_value(schemars::schema_for!(Line)).unwrap();
            (json!({"type": "array", "items": line}), json!(lines))
        }),
        (text, any::<bool>()).prop_map(|(text, first)| {
            let branch = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}, "required": [key], "additionalProperties": false});
            let schema = json!({"anyOf": [branch("a"), branch("b")]});
            (schema, if first { json!({"a": text}) } else { json!({"b": text}) })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_value_survives_every_wire((schema, value) in values()) {
        for (name, adapter, target) in adapters() {
            let request = Request::new("any", conversation()).with_output_schema(schema.clone());
            let written = compile(&schema, &target).unwrap().restore.project(value.clone());
            let (events, reply) = reply(adapter.as_ref(), &request, &written.to_string());
            let output: Value = match &reply.output {
                Some(Ok(output)) => output.parse().unwrap(),
                other => panic!("{name}: {other:?} for {written}"),
            };
            prop_assert_eq!(&output, &value, "{}", name);
            let partial = events.iter().filter(|event| matches!(event, ReplyEvent::PartialOutput { .. }));
            prop_assert!(partial.count() > 0, "{}", name);
        }
    }
}

/// Would take hours if every piece were read from the start again.
#[test]
fn a_mebibyte_of_output_piece_by_piece_stays_linear() {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    let request = Request::new("any", conversation()).with_output_schema(schema);
    let items = vec!["0123456789"; 100_000];
    let text = json!({"value": items}).to_string();
    let (_, reply) = reply(&OpenAiChat::default(), &request, &text);
    assert_eq!(reply.output_as::<Vec<String>>().unwrap().len(), 100_000);
}
