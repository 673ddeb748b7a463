//! Responses, from the provider's side.

use serde_json::Value;

use super::asked::{Asked, Said, field, list, spec, string};
use super::openai_chat::{plain, user};
use super::{Part, ScriptedReply, named_event};
use crate::json::writer::{Json, Object, typed};
use crate::reply::stop::StopReason;

pub(super) fn stream(reply: &ScriptedReply) -> Vec<String> {
    let mut events = Events::default();
    events.push(
        "response.created",
        Object::default().set("response", response(reply, State::Begun)),
    );
    for (at, part) in reply.parts.iter().enumerate() {
        let begin = |item| {
            Object::default()
                .set("output_index", at as u64)
                .set("item", item)
        };
        events.push(
            "response.output_item.added",
            begin(item(reply, at, part, State::Begun)),
        );
        let (delta, done, member, text) = match part {
            Part::Reasoning(text) => (
                "response.reasoning_summary_text.delta",
                "response.reasoning_summary_text.done",
                "text",
                text,
            ),
            Part::Text(text) => (
                "response.output_text.delta",
                "response.output_text.done",
                "text",
                text,
            ),
            Part::Call(call) => (
                "response.function_call_arguments.delta",
                "response.function_call_arguments.done",
                "arguments",
                &call.arguments,
            ),
        };
        let place = || {
            let place = Object::default()
                .set("item_id", item_id(reply, at, part))
                .set("output_index", at as u64);
            match part {
                Part::Reasoning(_) => place.set("summary_index", 0),
                Part::Text(_) => place.set("content_index", 0),
                Part::Call(_) => place,
            }
        };
        for piece in reply.pieces(text) {
            events.push(delta, place().set("delta", piece));
        }
        events.push(done, place().set(member, text.as_str()));
        events.push(
            "response.output_item.done",
            begin(item(reply, at, part, State::Over)),
        );
    }
    let end = match status(reply).0 {
        "completed" => "response.completed",
        "failed" => "response.failed",
        "cancelled" => "response.cancelled",
        _ => "response.incomplete",
    };
    events.push(
        end,
        Object::default().set("response", response(reply, State::Over)),
    );
    events.written
}

pub(super) fn whole(reply: &ScriptedReply) -> Object<'_> {
    response(reply, State::Over)
}

#[derive(Default)]
struct Events {
    written: Vec<String>,
}

impl Events {
    fn push(&mut self, kind: &'static str, data: Object<'_>) {
        let number = self.written.len() as u64;
        let data = data.set("type", kind).set("sequence_number", number);
        self.written.push(named_event(kind, &data));
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum State {
    Begun,
    Over,
}

fn response(reply: &ScriptedReply, state: State) -> Object<'_> {
    let over = state == State::Over;
    let (status, reason) = status(reply);
    let items: Vec<Object<'_>> = reply
        .parts
        .iter()
        .enumerate()
        .filter(|_| over)
        .map(|(at, part)| item(reply, at, part, state))
        .collect();
    let usage = reply.usage.filter(|_| over).map(|(input, output)| {
        Object::default()
            .set("input_tokens", input)
            .set("output_tokens", output)
            .set("total_tokens", input + output)
    });
    let details = reason
        .filter(|_| over)
        .map(|reason| Object::default().set("reason", reason));
    Object::default()
        .set("id", format!("resp_{}", reply.id))
        .set("object", "response")
        .set("status", if over { status } else { "in_progress" })
        .set("model", reply.model.as_str())
        .set("error", Json::Null)
        .set("incomplete_details", details.map_or(Json::Null, Json::from))
        .set("output", items)
        .set("usage", usage.map_or(Json::Null, Json::from))
}

fn item<'a>(reply: &ScriptedReply, at: usize, part: &'a Part, state: State) -> Object<'a> {
    let over = state == State::Over;
    let cut = status(reply).0 == "incomplete" && at + 1 == reply.parts.len();
    let status = match (over, cut) {
        (false, _) => "in_progress",
        (true, true) => "incomplete",
        (true, false) => "completed",
    };
    let shown = |kind, text: &'a str| {
        let part = typed(kind).set("text", text);
        if over { vec![part] } else { Vec::new() }
    };
    match part {
        Part::Reasoning(text) => typed("reasoning")
            .set("summary", shown("summary_text", text))
            .maybe(
                "encrypted_content",
                over.then(|| format!("sealed-{}", reply.id)),
            ),
        Part::Text(text) => typed("message")
            .set("status", status)
            .set("role", "assistant")
            .set("content", shown("output_text", text)),
        Part::Call(call) => typed("function_call")
            .set("status", status)
            .set("call_id", call.id.as_str())
            .set("name", call.name.as_str())
            .set("arguments", if over { call.arguments.as_str() } else { "" }),
    }
    .set("id", item_id(reply, at, part))
}

fn item_id(reply: &ScriptedReply, at: usize, part: &Part) -> String {
    let kind = match part {
        Part::Reasoning(_) => "rs",
        Part::Text(_) => "msg",
        Part::Call(_) => "fc",
    };
    format!("{kind}_{}_{at}", reply.id)
}

/// The status, and why if it is incomplete.
fn status(reply: &ScriptedReply) -> (&'static str, Option<&'static str>) {
    match reply.stop_reason() {
        StopReason::MaxTokens | StopReason::ContextWindow => {
            ("incomplete", Some("max_output_tokens"))
        }
        StopReason::Filtered => ("incomplete", Some("content_filter")),
        StopReason::Pause => ("incomplete", Some("max_messages")),
        StopReason::Cancelled => ("cancelled", None),
        StopReason::Error => ("failed", None),
        _ => ("completed", None),
    }
}

/// Reads a request's body.
pub(super) fn read(body: &Value, asked: &mut Asked) {
    asked.system(field(body, "instructions").unwrap_or_default());
    asked.tools.extend(
        list(body, "tools")
            .iter()
            .filter_map(|tool| spec(tool, &["parameters"])),
    );
    asked.may_call = field(body, "tool_choice") != Some("none");
    if let Some(text) = field(body, "input") {
        asked.push(Said::User(text.to_owned()));
    }
    for item in list(body, "input") {
        let content = item.get("content").unwrap_or(&Value::Null);
        match (field(item, "type"), field(item, "role")) {
            (Some("function_call"), _) => asked.push(Said::Call {
                id: string(item, "call_id"),
                name: string(item, "name"),
                arguments: string(item, "arguments"),
            }),
            (Some("function_call_output"), _) => {
                let text = plain(item.get("output").unwrap_or(&Value::Null));
                let failure = text.strip_prefix("Error:");
                let is_error = failure.is_some();
                asked.answer_of(
                    &string(item, "call_id"),
                    failure.unwrap_or(&text).trim_start(),
                    is_error,
                );
            }
            (_, Some("assistant")) => asked.push(Said::Assistant(plain(content))),
            (_, Some("system" | "developer")) => asked.system(&plain(content)),
            (_, Some("user")) => user(content, asked),
            _ => {}
        }
    }
}
