//! The getTime dialogue, over every wire and in prompt mode: the same ids, arguments and values.
//! Results stand in `content` and come first, a response is an object, signatures go back, and no
//! event is made up: what the real APIs take.

use std::sync::Arc;

use provider_adapters::{
    Adapter, Conversation, OpenAiChat, PromptMode, Reply, ReplyEvent, Request, ToolResult,
    ToolSpec, Wire,
};
use serde_json::Value;

use crate::fixture;

const QUESTION: &str = "请告诉我昨天的日期是什么时候?";

/// The tool of the dialogue.
pub(crate) fn get_time() -> ToolSpec {
    let schema = r#"{
        "type": "object",
        "properties": {
            "offset_ms": {
                "type": "number",
                "description": "相对于当前时间的毫秒数偏移量。负值表示过去时间,正值表示未来时间。"
            }
        },
        "required": ["offset_ms"]
    }"#;
    ToolSpec::new("getTime", serde_json::from_str(schema).unwrap()).with_description(
        "获取特定时间偏移量的时间戳(毫秒)。可用于获取过去或未来的时间。正数表示未来时间,负数表示过去时间。\
         例如,要获取昨天的时间戳,使用-86400000作为偏移量(一天的毫秒数)。",
    )
}

pub(crate) fn adapter(wire: Wire) -> Box<dyn Adapter> {
    match wire {
        Wire::Prompt => Box::new(PromptMode::new(OpenAiChat::default())),
        wire => fixture::adapter(wire),
    }
}

fn ask(adapter: &dyn Adapter, request: &Request, file: &str) -> (Value, Vec<ReplyEvent>, Reply) {
    let path = fixture::folder().join(format!("../golden/{}.{file}.sse", adapter.wire()));
    let encoded = adapter.encode(request).unwrap();
    let body = serde_json::from_slice(&encoded.request.body).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let mut whole = None;
    for size in [bytes.len(), 1, 2, 3, 7] {
        let mut decoder = adapter.decoder(encoded.expected.clone());
        let mut events = Vec::new();
        for piece in bytes.chunks(size) {
            decoder.push(piece, &mut events);
        }
        let got = (events.clone(), decoder.finish(&mut events));
        assert_eq!(
            whole.get_or_insert_with(|| got.clone()),
            &got,
            "pieces of {size}"
        );
    }
    let (events, reply) = whole.unwrap();
    (body, events, reply)
}

/// Plays the dialogue; the bodies of both requests, and what the model said at the end.
fn play(wire: Wire) -> (Value, Value, String) {
    let adapter = adapter(wire);
    let mut conversation = Conversation::new();
    conversation.ask(QUESTION);
    let tools = adapter.tools(&[get_time()]);
    let mut request = Request::new("model", conversation).with_tools(Arc::new(tools));

    let (first, events, reply) = ask(adapter.as_ref(), &request, "call");
    let calls: Vec<_> = reply.calls().cloned().collect();
    let [call] = calls.as_slice() else {
        panic!("{calls:?}")
    };
    assert_eq!(call.name, "getTime");
    let arguments: Value = call.executable().unwrap().parse().unwrap();
    assert_eq!(arguments, serde_json::json!({"offset_ms": -86400000}));
    match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => assert_eq!(call.id, "call_abc123"),
        Wire::Anthropic => assert_eq!(call.id, "toolu_01ABCDEFGHIJKLMNOPQRST"),
        _ => assert!(call.generated),
    }
    let starts = |event: &&ReplyEvent| matches!(event, ReplyEvent::ToolCallStart { .. });
    assert_eq!(events.iter().filter(starts).count(), 1, "one start a call");

    let result = ToolResult::text(call.id.clone(), "1684713600000");
    request
        .conversation
        .push(reply.into_turn(vec![result]).unwrap());
    let (second, _, reply) = ask(adapter.as_ref(), &request, "answer");
    (first, second, reply.text())
}

#[test]
fn get_time_dialogue_on_every_wire() {
    for wire in Wire::ALL {
        let (first, second, answer) = play(wire);
        assert!(answer.contains("5月22日"), "{wire}: {answer}");
        insta::assert_json_snapshot!(format!("{wire}_1_question"), first);
        insta::assert_json_snapshot!(format!("{wire}_2_result"), second);
    }
}

/// One user message, results in `content`.
#[test]
fn anthropic_results_stand_in_content() {
    let (_, body, _) = play(Wire::Anthropic);
    let block = &body["messages"][2]["content"][0];
    assert_eq!(
        body["messages"][1]["content"][1]["input"]["offset_ms"],
        -86400000
    );
    assert_eq!(block["type"], "tool_result");
    assert_eq!(block["tool_use_id"], "toolu_01ABCDEFGHIJKLMNOPQRST");
    assert_eq!(block["content"][0]["text"], "1684713600000");
    assert!(block.get("result").is_none() && body["messages"].as_array().unwrap().len() == 3);
}

/// A response is an object, the signature is back on its part, and no id is made up.
#[test]
fn gemini_responses_are_objects_and_signatures_go_back() {
    for wire in [Wire::Gemini, Wire::Vertex] {
        let (_, body, _) = play(wire);
        let call = &body["contents"][1]["parts"][0];
        assert_eq!(
            call["functionCall"],
            serde_json::json!({"name": "getTime", "args": {"offset_ms": -86400000}})
        );
        assert_eq!(call["thoughtSignature"], "c2lnbmF0dXJl");
        let response = &body["contents"][2]["parts"][0]["functionResponse"];
        let want = serde_json::json!({"name": "getTime", "response": {"result": "1684713600000"}});
        assert_eq!(*response, want);
    }
}

/// `content: null`, arguments as the model wrote them, a `tool` message.
#[test]
fn openai_calls_are_echoed_with_their_text() {
    let (_, body, _) = play(Wire::OpenAiChat);
    let assistant = &body["messages"][1];
    assert!(assistant["content"].is_null());
    assert_eq!(assistant["tool_calls"][0]["id"], "call_abc123");
    assert_eq!(
        assistant["tool_calls"][0]["function"]["arguments"],
        "{ \"offset_ms\": -86400000 }"
    );
    let want = serde_json::json!({"role": "tool", "tool_call_id": "call_abc123", "content": "1684713600000"});
    assert_eq!(body["messages"][2], want);
}
