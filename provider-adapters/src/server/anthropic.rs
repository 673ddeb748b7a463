//! Anthropic Messages, from the provider's side.

use serde_json::Value;

use super::asked::{Asked, Said, field, list, spec, string};
use super::openai_chat::plain;
use super::{Part, ScriptedReply, named_event};
use crate::json::writer::{Json, Object, typed};
use crate::reply::stop::StopReason;

/// What stands for the proof that the provider thought a thought.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

pub(super) fn stream(reply: &ScriptedReply) -> Vec<String> {
    let event = |kind: &'static str, rest: Vec<(&'static str, Json<'_>)>| {
        let members = rest
            .into_iter()
            .fold(typed(kind), |object, (key, value)| object.set(key, value));
        named_event(kind, &members)
    };
    let start = message(reply, Vec::new(), Json::Null).set("usage", usage(reply, Some(1)));
    let mut events = vec![event("message_start", vec![("message", start.into())])];
    for (at, part) in reply.parts.iter().enumerate() {
        let index = || ("index", Json::from(at as u64));
        let (block, kind, member, text) = match part {
            Part::Reasoning(text) => (
                typed("thinking").set("thinking", "").set("signature", ""),
                "thinking_delta",
                "thinking",
                text,
            ),
            Part::Text(text) => (typed("text").set("text", ""), "text_delta", "text", text),
            Part::Call(call) => {
                let block = typed("tool_use")
                    .set("id", call.id.as_str())
                    .set("name", call.name.as_str())
                    .set("input", Object::default());
                (block, "input_json_delta", "partial_json", &call.arguments)
            }
        };
        events.push(event(
            "content_block_start",
            vec![index(), ("content_block", block.into())],
        ));
        for piece in reply.pieces(text) {
            let delta = typed(kind).set(member, piece);
            events.push(event(
                "content_block_delta",
                vec![index(), ("delta", delta.into())],
            ));
        }
        if let Part::Reasoning(_) = part {
            let delta = typed("signature_delta").set("signature", SIGNATURE);
            events.push(event(
                "content_block_delta",
                vec![index(), ("delta", delta.into())],
            ));
        }
        // A call that the limit cut has no end.
        if !matches!(part, Part::Call(call) if call.object().is_none()) {
            events.push(event("content_block_stop", vec![index()]));
        }
    }
    let delta = Object::default()
        .set("stop_reason", stop_word(reply))
        .set("stop_sequence", Json::Null);
    events.push(event(
        "message_delta",
        vec![
            ("delta", delta.into()),
            ("usage", usage(reply, None).into()),
        ],
    ));
    events.push(event("message_stop", Vec::new()));
    events
}

pub(super) fn whole(reply: &ScriptedReply) -> Object<'_> {
    let content = reply.parts.iter().filter_map(|part| match part {
        Part::Reasoning(text) => Some(
            typed("thinking")
                .set("thinking", text.as_str())
                .set("signature", SIGNATURE),
        ),
        Part::Text(text) => Some(typed("text").set("text", text.as_str())),
        Part::Call(call) => Some(
            typed("tool_use")
                .set("id", call.id.as_str())
                .set("name", call.name.as_str())
                .set("input", Json::Raw(call.object()?.into())),
        ),
    });
    message(reply, content.collect(), stop_word(reply).into()).set("usage", usage(reply, None))
}

fn message<'a>(reply: &'a ScriptedReply, content: Vec<Object<'a>>, stop: Json<'a>) -> Object<'a> {
    typed("message")
        .set("id", format!("msg_{}", reply.id))
        .set("role", "assistant")
        .set("model", reply.model.as_str())
        .set("content", content)
        .set("stop_reason", stop)
        .set("stop_sequence", Json::Null)
}

/// The counters: at the start of a stream hardly anything has been said.
fn usage(reply: &ScriptedReply, said: Option<u64>) -> Object<'static> {
    match reply.usage {
        Some((input, output)) => Object::default()
            .set("input_tokens", input)
            .set("output_tokens", said.unwrap_or(output)),
        None => Object::default(),
    }
}

fn stop_word(reply: &ScriptedReply) -> &'static str {
    match reply.stop_reason() {
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::ContextWindow => "model_context_window_exceeded",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refusal | StopReason::Filtered => "refusal",
        StopReason::Pause => "pause_turn",
        _ => "end_turn",
    }
}

/// Reads a request's body.
pub(super) fn read(body: &Value, asked: &mut Asked) {
    asked.system(&plain(body.get("system").unwrap_or(&Value::Null)));
    asked.tools.extend(
        list(body, "tools")
            .iter()
            .filter_map(|tool| spec(tool, &["input_schema"])),
    );
    let choice = body.get("tool_choice").unwrap_or(&Value::Null);
    asked.may_call = field(choice, "type") != Some("none");
    for message in list(body, "messages") {
        let role = field(message, "role").unwrap_or_default();
        if let Some(text) = field(message, "content") {
            said(role, text, asked);
        }
        for block in list(message, "content") {
            match field(block, "type") {
                Some("text") => said(role, field(block, "text").unwrap_or_default(), asked),
                Some("tool_use") => asked.push(Said::Call {
                    id: string(block, "id"),
                    name: string(block, "name"),
                    arguments: block.get("input").map(Value::to_string).unwrap_or_default(),
                }),
                Some("tool_result") => {
                    let text = plain(block.get("content").unwrap_or(&Value::Null));
                    let is_error = block.get("is_error").and_then(Value::as_bool);
                    asked.answer_of(
                        &string(block, "tool_use_id"),
                        &text,
                        is_error.unwrap_or_default(),
                    );
                }
                Some("image" | "document") => asked.push(Said::Media),
                _ => {}
            }
        }
    }
}

fn said(role: &str, text: &str, asked: &mut Asked) {
    match role {
        "assistant" => asked.push(Said::Assistant(text.to_owned())),
        "system" => asked.system(text),
        _ => asked.push(Said::User(text.to_owned())),
    }
}
