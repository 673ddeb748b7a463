//! ConverseStream, from the provider's side.

use super::{Part, ScriptedReply, text};
use crate::adapter::event_stream::write;
use crate::json::writer::{Json, Object};
use crate::reply::stop::StopReason;

/// The messages that a provider streams, each as it stands on the wire.
pub(super) fn stream(reply: &ScriptedReply) -> Vec<Vec<u8>> {
    let event = |name: &str, body: Object<'_>| {
        let headers = [
            (":event-type", name),
            (":content-type", "application/json"),
            (":message-type", "event"),
        ];
        write(&headers, text(&body).as_bytes())
    };
    let mut events = vec![event(
        "messageStart",
        Object::default().set("role", "assistant"),
    )];
    for (at, part) in (0u64..).zip(&reply.parts) {
        let delta = |delta: Object<'_>| {
            let body = Object::default()
                .set("contentBlockIndex", at)
                .set("delta", Json::from(delta).to_raw());
            event("contentBlockDelta", body)
        };
        let said = match part {
            Part::Reasoning(text) | Part::Text(text) => text,
            Part::Call(call) => {
                let start = Object::default()
                    .set("toolUseId", call.id.as_str())
                    .set("name", call.name.as_str());
                let body = Object::default()
                    .set("contentBlockIndex", at)
                    .set("start", Object::default().set("toolUse", start));
                events.push(event("contentBlockStart", body));
                &call.arguments
            }
        };
        for piece in reply.pieces(said) {
            events.push(delta(match part {
                Part::Text(_) => Object::default().set("text", piece),
                Part::Reasoning(_) => {
                    Object::default().set("reasoningContent", Object::default().set("text", piece))
                }
                Part::Call(_) => {
                    Object::default().set("toolUse", Object::default().set("input", piece))
                }
            }));
        }
        if let Part::Reasoning(_) = part {
            let signed = Object::default().set("signature", "c2NyaXB0ZWQ=");
            events.push(delta(Object::default().set("reasoningContent", signed)));
        }
        events.push(event(
            "contentBlockStop",
            Object::default().set("contentBlockIndex", at),
        ));
    }
    events.push(event(
        "messageStop",
        Object::default().set("stopReason", stop_word(reply)),
    ));
    let usage = reply.usage.map(|(input, output)| {
        Object::default()
            .set("inputTokens", input)
            .set("outputTokens", output)
            .set("totalTokens", input.saturating_add(output))
    });
    let metrics = Object::default().set("latencyMs", 1u64);
    let last = Object::default()
        .maybe("usage", usage)
        .set("metrics", metrics);
    events.push(event("metadata", last));
    events
}

fn stop_word(reply: &ScriptedReply) -> &'static str {
    match reply.stop_reason() {
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::ContextWindow => "model_context_window_exceeded",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refusal | StopReason::Filtered => "content_filtered",
        StopReason::MalformedToolCall => "malformed_tool_use",
        _ => "end_turn",
    }
}
