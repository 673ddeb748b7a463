//! Recorded replies of the model wires: 3,000 pieces of text, then one call with 1,000 pieces of
//! arguments, each event with all the fields the providers send.

use std::io::Write as _;
use std::sync::Arc;

use provider_adapters::{Adapter, Anthropic, Gemini, OpenAiChat, OpenAiResponses};
use serde_json::{Value, json};

/// A recorded stream, and who reads it.
#[derive(Debug)]
pub struct ModelStream {
    /// The wire's name.
    pub wire: &'static str,
    /// Our adapter for it.
    pub adapter: Arc<dyn Adapter>,
    /// The reply as it comes over the net.
    pub bytes: Vec<u8>,
    /// How many events that is.
    pub frames: usize,
}

/// One of each wire.
pub fn all() -> [ModelStream; 4] {
    [openai_chat(), openai_responses(), anthropic(), gemini()]
}

/// A call whose arguments are so long, in one event: to be read in chunks of one byte.
pub fn long_arguments(bytes: usize) -> ModelStream {
    let arguments = json!({"text": "x".repeat(bytes)}).to_string();
    let call = json!({"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}});
    let event = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    ModelStream {
        wire: "openai-chat",
        adapter: Arc::new(OpenAiChat::default()),
        bytes: sse(&[event], false),
        frames: 1,
    }
}

/// The same arguments, one byte an event.
pub fn long_arguments_in_events(bytes: usize) -> ModelStream {
    let delta = |piece: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}});
    let mut events = vec![
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}}}),
        delta("{\"text\":\""),
    ];
    events.extend((0..bytes).map(|_| delta("x")));
    events.push(delta("\"}"));
    events.push(json!({"type": "content_block_stop", "index": 0}));
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    events.push(json!({"type": "message_stop"}));
    ModelStream {
        wire: "anthropic",
        adapter: Arc::new(Anthropic::default()),
        bytes: sse(&events, true),
        frames: events.len(),
    }
}

const WORDS: [&str; 8] = [
    " the",
    " quick",
    " brown",
    " fox",
    ", zo\u{eb}",
    " \u{65e5}\u{672c}",
    " jumps\n",
    " over",
];

fn words(count: usize) -> impl Iterator<Item = &'static str> {
    WORDS.into_iter().cycle().take(count)
}

/// The arguments of the call, in pieces.
fn arguments() -> Vec<String> {
    let mut pieces = vec!["{\"text\":\"".to_owned()];
    pieces.extend(words(1000).map(|word| word.replace('\n', "\\n")));
    pieces.push("\"}".to_owned());
    pieces
}

fn sse(events: &[Value], named: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for event in events {
        if named {
            write!(out, "event: {}\n", event["type"].as_str().unwrap()).unwrap();
        }
        write!(out, "data: {event}\n\n").unwrap();
    }
    out
}

fn openai_chat() -> ModelStream {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "chatcmpl-Fx1", "object": "chat.completion.chunk", "created": 1794787200, "model": "gpt-5.6-luna",
            "service_tier": "default", "system_fingerprint": "fp_0",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}], "usage": null, "obfuscation": "aZ3"})
    };
    let mut events = vec![chunk(
        json!({"role": "assistant", "content": "", "refusal": null}),
        Value::Null,
    )];
    events.extend(words(3000).map(|word| chunk(json!({"content": word}), Value::Null)));
    events.push(chunk(
        json!({"tool_calls": [{"index": 0, "id": "call_A1", "type": "function", "function": {"name": "say", "arguments": ""}}]}),
        Value::Null,
    ));
    events.extend(arguments().iter().map(|piece| {
        chunk(
            json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}),
            Value::Null,
        )
    }));
    events.push(chunk(json!({}), json!("tool_calls")));
    events.push(json!({"id": "chatcmpl-Fx1", "object": "chat.completion.chunk", "created": 1794787200, "model": "gpt-5.6-luna",
        "choices": [], "usage": {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99}}));
    let mut bytes = sse(&events, false);
    bytes.extend_from_slice(b"data: [DONE]\n\n");
    ModelStream {
        wire: "openai-chat",
        adapter: Arc::new(OpenAiChat::default()),
        bytes,
        frames: events.len(),
    }
}

fn openai_responses() -> ModelStream {
    let response = |status: &str, output: Value, usage: Value| {
        json!({"id": "resp_1", "object": "response", "created_at": 1794787200, "status": status, "error": null,
            "incomplete_details": null, "instructions": null, "max_output_tokens": null, "model": "gpt-6-astra", "output": output,
            "parallel_tool_calls": true, "previous_response_id": null, "reasoning": {"effort": "medium", "summary": null}, "store": false,
            "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
            "truncation": "disabled", "usage": usage, "metadata": {}})
    };
    let text: String = words(3000).collect();
    let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    let message = json!({"id": "msg_0", "type": "message", "status": "completed", "role": "assistant", "content": [part]});
    let whole = arguments().concat();
    let call = json!({"id": "fc_1", "type": "function_call", "status": "completed", "arguments": whole, "call_id": "call_A1", "name": "say"});
    let mut events = vec![
        json!({"type": "response.created", "response": response("in_progress", json!([]), Value::Null)}),
        json!({"type": "response.output_item.added", "output_index": 0,
            "item": {"id": "msg_0", "type": "message", "status": "in_progress", "role": "assistant", "content": []}}),
        json!({"type": "response.content_part.added", "item_id": "msg_0", "output_index": 0, "content_index": 0,
            "part": {"type": "output_text", "text": "", "annotations": [], "logprobs": []}}),
    ];
    events.extend(words(3000).map(|word| {
        json!({"type": "response.output_text.delta", "item_id": "msg_0", "output_index": 0, "content_index": 0, "delta": word,
            "logprobs": [], "obfuscation": "q"})
    }));
    events.push(json!({"type": "response.output_text.done", "item_id": "msg_0", "output_index": 0, "content_index": 0, "text": text, "logprobs": []}));
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": message}));
    events.push(json!({"type": "response.output_item.added", "output_index": 1,
        "item": {"id": "fc_1", "type": "function_call", "status": "in_progress", "arguments": "", "call_id": "call_A1", "name": "say"}}));
    events.extend(arguments().iter().map(|piece| {
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": piece, "obfuscation": "z"})
    }));
    events.push(json!({"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 1, "arguments": whole}));
    events.push(json!({"type": "response.output_item.done", "output_index": 1, "item": call}));
    let usage = json!({"input_tokens": 82, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens": 17,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 99});
    events.push(json!({"type": "response.completed", "response": response("completed", json!([message, call]), usage)}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    let bytes = sse(&events, true);
    ModelStream {
        wire: "openai-responses",
        adapter: Arc::new(OpenAiResponses::default()),
        bytes,
        frames: events.len(),
    }
}

fn anthropic() -> ModelStream {
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 82, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    events.extend(words(3000).map(|word| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}})));
    events.push(json!({"type": "content_block_stop", "index": 0}));
    events.push(json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "toolu_A1", "name": "say", "input": {}}}));
    events.extend(
        arguments().iter().map(|piece| json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": piece}})),
    );
    events.push(json!({"type": "content_block_stop", "index": 1}));
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"output_tokens": 17}}));
    events.push(json!({"type": "message_stop"}));
    let bytes = sse(&events, true);
    ModelStream {
        wire: "anthropic",
        adapter: Arc::new(Anthropic::default()),
        bytes,
        frames: events.len(),
    }
}

fn gemini() -> ModelStream {
    let usage = json!({"promptTokenCount": 82, "candidatesTokenCount": 17, "totalTokenCount": 99,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 82}]});
    let chunk = |part: Value, finish: bool| {
        let mut candidate = json!({"index": 0, "content": {"parts": [part], "role": "model"}});
        if finish {
            candidate["finishReason"] = json!("STOP");
        }
        json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3.5-flash", "responseId": "abc"})
    };
    let mut events: Vec<Value> = words(3000)
        .map(|word| chunk(json!({"text": word}), false))
        .collect();
    let text: String = words(1000).collect();
    events.push(chunk(json!({"functionCall": {"name": "say", "args": {"text": text}, "id": "fc-a1"}, "thoughtSignature": "c2lnMQ=="}), true));
    let bytes = sse(&events, false);
    ModelStream {
        wire: "gemini",
        adapter: Arc::new(Gemini::developer()),
        bytes,
        frames: events.len(),
    }
}
