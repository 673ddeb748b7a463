//! A reply in the form that we make the vendors' SDKs print, so that both can be compared.

use mcp_jsonrpc::RawObject;
use provider_adapters::{AssistantPart, ProviderError, Reply, StopReason, ToolCall, Wire};
use serde::Serialize;
use serde_json::{Value, json};

/// `{text, reasoning, refusal, tool_calls, opaque, stop, usage, error}`.
#[derive(Debug, Serialize)]
pub(crate) struct Oracle<'a> {
    provider: Wire,
    text: String,
    reasoning: String,
    refusal: Option<String>,
    tool_calls: Vec<Call<'a>>,
    opaque: Vec<Value>,
    stop: Stop<'a>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Debug, Serialize)]
struct Call<'a> {
    id: &'a str,
    name: &'a str,
    arguments_text: &'a str,
    /// Unchanged: long numbers keep their digits.
    arguments: Option<&'a RawObject>,
    generated: bool,
}

#[derive(Debug, Serialize)]
struct Stop<'a> {
    raw: Option<&'a str>,
    neutral: Option<StopReason>,
}

/// Every counter, reported or not.
#[derive(Debug, Serialize)]
struct Usage {
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
}

pub(crate) fn oracle(wire: Wire, reply: &Reply) -> Oracle<'_> {
    let mut text = String::new();
    let mut reasoning = Vec::new();
    let mut refusal = String::new();
    let mut calls = Vec::new();
    for part in &reply.parts {
        match part {
            AssistantPart::Text { text: more } => text.push_str(more),
            AssistantPart::Reasoning { text: more } => reasoning.push(more.as_str()),
            AssistantPart::Refusal { text: more } => refusal.push_str(more),
            AssistantPart::ToolCall(call) => calls.push(tool_call(call)),
            _ => {}
        }
    }
    let between = if wire == Wire::OpenAiResponses {
        "\n\n"
    } else {
        ""
    };
    let stop = reply.stop.as_ref();
    Oracle {
        provider: wire,
        text,
        reasoning: reasoning.join(between),
        refusal: (!refusal.is_empty()).then_some(refusal),
        tool_calls: calls,
        opaque: opaque(reply),
        stop: Stop {
            raw: stop.map(|stop| stop.raw.as_str()),
            neutral: stop.map(|stop| stop.reason),
        },
        usage: usage(reply),
        error: reply.error.as_ref().map(error),
    }
}

fn tool_call(call: &ToolCall) -> Call<'_> {
    Call {
        id: call.id.as_str(),
        name: &call.name,
        arguments_text: call.arguments.text(),
        arguments: call.arguments.object(),
        generated: call.generated,
    }
}

/// Signatures and encrypted reasoning that the provider requires back.
fn opaque(reply: &Reply) -> Vec<Value> {
    let items = reply.native.iter().flat_map(|native| &native.items);
    items
        .filter_map(|item| secret(&item.parse().ok()?))
        .collect()
}

fn secret(item: &Value) -> Option<Value> {
    if let Some(signature) = item.get("thoughtSignature") {
        let on = match (item.get("functionCall"), item.get("thought")) {
            (Some(_), _) => "functionCall",
            (None, Some(Value::Bool(true))) => "thought",
            _ => "text",
        };
        return Some(json!({ "type": "thoughtSignature", "on": on, "data": signature }));
    }
    let member = |key: &str| item.get(key).cloned().unwrap_or_default();
    match item.get("type")?.as_str()? {
        "reasoning" => Some(json!({
            "type": "reasoning",
            "id": member("id"),
            "encrypted_content": member("encrypted_content"),
        })),
        "thinking" => Some(json!({ "type": "thinking", "signature": member("signature") })),
        "redacted_thinking" => Some(json!({ "type": "redacted_thinking", "data": member("data") })),
        _ => None,
    }
}

fn usage(reply: &Reply) -> Option<Usage> {
    let usage = reply.usage;
    (!usage.is_empty()).then_some(Usage {
        input: usage.input,
        output: usage.output,
        reasoning: usage.reasoning,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
    })
}

fn error(error: &ProviderError) -> Value {
    let code = error.code.as_deref().map(|code| match code.parse::<u64>() {
        Ok(number) => json!(number),
        Err(_) => json!(code),
    });
    let mut value = json!({ "class": error.kind, "message": error.message });
    if let Some(members) = value.as_object_mut() {
        members.extend(code.map(|code| ("code".to_owned(), code)));
        members.extend(
            error
                .error_type
                .as_ref()
                .map(|kind| ("type".to_owned(), json!(kind))),
        );
        members.extend(
            error
                .param
                .as_ref()
                .map(|param| ("param".to_owned(), json!(param))),
        );
    }
    value
}
