//! Chat Completions, from the provider's side.

use serde_json::Value;

use super::asked::{Asked, Said, field, list, spec, string};
use super::{Call, Part, ScriptedReply, event};
use crate::json::writer::{Json, Object, typed};
use crate::reply::stop::StopReason;

pub(super) fn stream(reply: &ScriptedReply) -> Vec<String> {
    let delta = |delta: Object<'_>| event(&chunk(reply, delta, Json::Null));
    let role = Object::default()
        .set("role", "assistant")
        .set("content", "");
    let mut events = vec![delta(role)];
    let mut number = 0;
    for part in &reply.parts {
        match part {
            Part::Reasoning(text) => events.extend(
                reply
                    .pieces(text)
                    .into_iter()
                    .map(|piece| delta(Object::default().set("reasoning_content", piece))),
            ),
            Part::Text(text) => events.extend(
                reply
                    .pieces(text)
                    .into_iter()
                    .map(|piece| delta(Object::default().set("content", piece))),
            ),
            Part::Call(call) => {
                let fragment = |fragment: Object<'_>| {
                    delta(Object::default().set("tool_calls", vec![fragment]))
                };
                events.push(fragment(tool_call(call, "").set("index", number)));
                for piece in reply.pieces(&call.arguments) {
                    let function = Object::default().set("arguments", piece);
                    events.push(fragment(
                        Object::default()
                            .set("index", number)
                            .set("function", function),
                    ));
                }
                number += 1;
            }
        }
    }
    events.push(event(&chunk(
        reply,
        Object::default(),
        stop_word(reply).into(),
    )));
    if let Some(usage) = usage(reply) {
        let last = head(reply, "chat.completion.chunk")
            .set("choices", Json::List(Vec::new()))
            .set("usage", usage);
        events.push(event(&last));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

pub(super) fn whole(reply: &ScriptedReply) -> Object<'_> {
    let joined = |wanted: fn(&Part) -> Option<&str>| -> Option<String> {
        let text: String = reply.parts.iter().filter_map(wanted).collect();
        (!text.is_empty()).then_some(text)
    };
    let text = joined(|part| match part {
        Part::Text(text) => Some(text),
        _ => None,
    });
    let thoughts = joined(|part| match part {
        Part::Reasoning(text) => Some(text),
        _ => None,
    });
    let calls: Vec<Object<'_>> = reply
        .calls()
        .map(|call| tool_call(call, &call.arguments))
        .collect();
    let message = Object::default()
        .set("role", "assistant")
        .set("content", text.map_or(Json::Null, Json::from))
        .maybe("reasoning_content", thoughts)
        .filled("tool_calls", calls);
    let choice = Object::default()
        .set("index", 0)
        .set("message", message)
        .set("finish_reason", stop_word(reply));
    head(reply, "chat.completion")
        .set("choices", vec![choice])
        .maybe("usage", usage(reply))
}

fn head<'a>(reply: &'a ScriptedReply, object: &'static str) -> Object<'a> {
    Object::default()
        .set("id", format!("chatcmpl-{}", reply.id))
        .set("object", object)
        .set("created", 0)
        .set("model", reply.model.as_str())
}

fn chunk<'a>(reply: &'a ScriptedReply, delta: Object<'a>, finish: Json<'a>) -> Object<'a> {
    let choice = Object::default()
        .set("index", 0)
        .set("delta", delta)
        .set("finish_reason", finish);
    head(reply, "chat.completion.chunk")
        .set("choices", vec![choice])
        .set("usage", Json::Null)
}

fn tool_call<'a>(call: &'a Call, arguments: &'a str) -> Object<'a> {
    let function = Object::default()
        .set("name", call.name.as_str())
        .set("arguments", arguments);
    typed("function")
        .set("id", call.id.as_str())
        .set("function", function)
}

fn usage(reply: &ScriptedReply) -> Option<Object<'static>> {
    let (input, output) = reply.usage?;
    Some(
        Object::default()
            .set("prompt_tokens", input)
            .set("completion_tokens", output)
            .set("total_tokens", input + output),
    )
}

fn stop_word(reply: &ScriptedReply) -> &'static str {
    match reply.stop_reason() {
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens | StopReason::ContextWindow => "length",
        StopReason::Filtered => "content_filter",
        _ => "stop",
    }
}

/// Reads a request's body.
pub(super) fn read(body: &Value, asked: &mut Asked) {
    for tool in list(body, "tools") {
        asked.tools.extend(
            tool.get("function")
                .and_then(|tool| spec(tool, &["parameters"])),
        );
    }
    asked.may_call = field(body, "tool_choice") != Some("none");
    for message in list(body, "messages") {
        let content = message.get("content").unwrap_or(&Value::Null);
        match field(message, "role") {
            Some("system" | "developer") => asked.system(&plain(content)),
            Some("assistant") => {
                asked.push(Said::Assistant(plain(content)));
                for call in list(message, "tool_calls") {
                    let function = call.get("function").unwrap_or(&Value::Null);
                    asked.push(Said::Call {
                        id: string(call, "id"),
                        name: string(function, "name"),
                        arguments: string(function, "arguments"),
                    });
                }
            }
            Some("tool") => {
                let text = plain(content);
                let failure = text.strip_prefix("Error: ");
                asked.answer_of(
                    &string(message, "tool_call_id"),
                    failure.unwrap_or(&text),
                    failure.is_some(),
                );
            }
            _ => user(content, asked),
        }
    }
}

/// Text, or a list of parts.
pub(super) fn user(content: &Value, asked: &mut Asked) {
    match content {
        Value::Array(parts) => {
            for part in parts {
                match field(part, "text") {
                    Some(text) => asked.push(Said::User(text.to_owned())),
                    None => asked.push(Said::Media),
                }
            }
        }
        content => asked.push(Said::User(plain(content))),
    }
}

/// All the text of a string or of a list of parts.
pub(super) fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| field(part, "text"))
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
