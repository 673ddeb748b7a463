//! Gemini, from the provider's side.

use serde_json::Value;

use super::asked::{Asked, Said, field, list, spec, string};
use super::openai_chat::plain;
use super::{Call, Part, ScriptedReply, event};
use crate::json::writer::{Json, Object};
use crate::reply::stop::StopReason;

/// What stands for the proof that the provider thought before its first call.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

pub(super) fn stream(reply: &ScriptedReply) -> Vec<String> {
    let mut chunks: Vec<Vec<Object<'_>>> = Vec::new();
    let mut first = true;
    for part in &reply.parts {
        match part {
            Part::Reasoning(text) => {
                let thoughts = reply
                    .pieces(text)
                    .into_iter()
                    .map(|piece| vec![thought(piece.into())]);
                chunks.extend(thoughts);
            }
            Part::Text(text) => {
                let texts = reply.pieces(text).into_iter();
                chunks.extend(texts.map(|piece| vec![Object::default().set("text", piece)]));
            }
            // Calls come whole.
            Part::Call(call) => chunks.extend(call_part(call, &mut first).map(|part| vec![part])),
        }
    }
    chunks.push(vec![Object::default().set("text", "")]);
    let last = chunks.len() - 1;
    let written = chunks.into_iter().enumerate();
    written
        .map(|(at, parts)| event(&body(reply, parts, at == last)))
        .collect()
}

pub(super) fn whole(reply: &ScriptedReply) -> Object<'_> {
    let mut first = true;
    let parts = reply.parts.iter().filter_map(|part| match part {
        Part::Reasoning(text) => Some(thought(text.as_str().into())),
        Part::Text(text) => Some(Object::default().set("text", text.as_str())),
        Part::Call(call) => call_part(call, &mut first),
    });
    body(reply, parts.collect(), true)
}

fn thought(text: Json<'_>) -> Object<'_> {
    Object::default().set("text", text).set("thought", true)
}

/// Only the first of several calls is signed.
fn call_part<'a>(call: &'a Call, first: &mut bool) -> Option<Object<'a>> {
    let id = (!call.id.is_empty()).then_some(call.id.as_str());
    let function = Object::default()
        .maybe("id", id)
        .set("name", call.name.as_str())
        .set("args", Json::Raw(call.object()?.into()));
    let signed = std::mem::take(first).then_some(SIGNATURE);
    Some(
        Object::default()
            .set("functionCall", function)
            .maybe("thoughtSignature", signed),
    )
}

fn body<'a>(reply: &'a ScriptedReply, parts: Vec<Object<'a>>, over: bool) -> Object<'a> {
    let content = Object::default().set("parts", parts).set("role", "model");
    let candidate = Object::default()
        .set("index", 0)
        .set("content", content)
        .maybe("finishReason", over.then(|| stop_word(reply)));
    let usage = reply.usage.filter(|_| over).map(|(input, output)| {
        Object::default()
            .set("promptTokenCount", input)
            .set("candidatesTokenCount", output)
            .set("totalTokenCount", input + output)
    });
    Object::default()
        .set("candidates", vec![candidate])
        .maybe("usageMetadata", usage)
        .set("modelVersion", reply.model.as_str())
        .set("responseId", reply.id.as_str())
}

fn stop_word(reply: &ScriptedReply) -> &'static str {
    match reply.stop_reason() {
        StopReason::MaxTokens | StopReason::ContextWindow => "MAX_TOKENS",
        StopReason::Refusal | StopReason::Filtered => "SAFETY",
        StopReason::MalformedToolCall => "MALFORMED_FUNCTION_CALL",
        StopReason::Pause => "CONTINUATION",
        _ => "STOP",
    }
}

/// Reads a request's body.
pub(super) fn read(body: &Value, asked: &mut Asked) {
    let system = body
        .get("systemInstruction")
        .and_then(|system| system.get("parts"));
    asked.system(&plain(system.unwrap_or(&Value::Null)));
    for tool in list(body, "tools") {
        let specs = list(tool, "functionDeclarations").iter();
        asked
            .tools
            .extend(specs.filter_map(|tool| spec(tool, &["parametersJsonSchema", "parameters"])));
    }
    let mode = body.pointer("/toolConfig/functionCallingConfig/mode");
    asked.may_call = mode.and_then(Value::as_str) != Some("NONE");
    for content in list(body, "contents") {
        let model = field(content, "role") == Some("model");
        for part in list(content, "parts") {
            let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
            match field(part, "text").filter(|_| !thought) {
                Some(text) if model => asked.push(Said::Assistant(text.to_owned())),
                Some(text) => asked.push(Said::User(text.to_owned())),
                None => {}
            }
            if let Some(call) = part.get("functionCall") {
                asked.push(Said::Call {
                    id: string(call, "id"),
                    name: string(call, "name"),
                    arguments: call.get("args").map(Value::to_string).unwrap_or_default(),
                });
            }
            if let Some(response) = part.get("functionResponse") {
                let answer = response.get("response").unwrap_or(&Value::Null);
                let text = ["result", "output", "error"]
                    .iter()
                    .find_map(|key| field(answer, key));
                let text = text.map_or_else(|| answer.to_string(), str::to_owned);
                let is_error = answer.get("error").is_some();
                asked.answer_by(
                    &string(response, "name"),
                    &string(response, "id"),
                    &text,
                    is_error,
                );
            }
            if part.get("inlineData").or(part.get("fileData")).is_some() {
                asked.push(Said::Media);
            }
        }
    }
}
