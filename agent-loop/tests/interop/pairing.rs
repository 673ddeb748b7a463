//! The pairing rules of every wire, as their providers enforce them.

use provider_adapters::Wire;
use serde_json::Value;

/// Whether a provider of this wire accepts the calls and results of these messages.
pub(crate) fn check(wire: Wire, messages: &[Value]) -> Result<(), String> {
    match wire {
        Wire::OpenAiChat => chat(messages),
        Wire::OpenAiResponses => responses(messages),
        Wire::Anthropic => anthropic(messages),
        Wire::Gemini | Wire::Vertex => gemini(messages),
        Wire::Bedrock => bedrock(messages),
        _ => Ok(()),
    }
}

fn strings<'a>(list: &'a [Value], key: &str) -> Vec<&'a str> {
    list.iter().filter_map(|item| item[key].as_str()).collect()
}

/// The calls of an assistant message are answered right after it, each once.
fn chat(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let at = open.iter().position(|other| *other == id);
            open.remove(at.ok_or_else(|| format!("{id} answers nothing"))?);
            continue;
        }
        if !open.is_empty() {
            return Err(format!("{open:?} are not answered"));
        }
        if let Some(calls) = message["tool_calls"].as_array() {
            open = strings(calls, "id");
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("{open:?} are not answered"))
    }
}

/// Every call has one output, after it.
fn responses(items: &[Value]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        let id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str() {
            Some("function_call") => open.push(id),
            Some("function_call_output") => {
                let at = open.iter().position(|other| *other == id);
                open.remove(at.ok_or_else(|| format!("{id} answers nothing"))?);
            }
            _ if !open.is_empty() => return Err(format!("{open:?} are not answered")),
            _ => {}
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("{open:?} are not answered"))
    }
}

/// The next message after calls is the user's and begins with exactly their results. Instructions stand between a user's
/// message and the assistant's, or last.
fn anthropic(messages: &[Value]) -> Result<(), String> {
    let blocks = |message: &Value, kind: &str, key: &str| -> Vec<String> {
        let content = message["content"].as_array().cloned().unwrap_or_default();
        let of_kind = content.iter().filter(|block| block["type"] == kind);
        of_kind
            .filter_map(|block| block[key].as_str().map(str::to_owned))
            .collect()
    };
    let roles: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["role"].as_str())
        .collect();
    for (at, role) in roles.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| roles[before]);
        let after = roles.get(at + 1).copied();
        if *role == "system"
            && (before != Some("user") || after.is_some_and(|it| it != "assistant"))
        {
            return Err(format!("instructions between {before:?} and {after:?}"));
        }
    }
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        let mut answered = blocks(message, "tool_result", "tool_use_id");
        let first = &message["content"][0]["type"];
        if !open.is_empty() && (message["role"] != "user" || first != "tool_result") {
            return Err(format!("{open:?} are not answered at once"));
        }
        answered.sort();
        open.sort();
        if answered != open {
            return Err(format!("{answered:?} answer {open:?}"));
        }
        open = blocks(message, "tool_use", "id");
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("{open:?} are not answered"))
    }
}

/// The user begins, roles alternate, and the next message after calls begins with exactly their results, in order.
fn bedrock(messages: &[Value]) -> Result<(), String> {
    let ids = |message: &Value, kind: &str| -> Vec<String> {
        let content = message["content"].as_array().cloned().unwrap_or_default();
        let ids = content.iter().map(|block| &block[kind]["toolUseId"]);
        ids.filter_map(|id| id.as_str().map(str::to_owned))
            .collect()
    };
    let mut open: Vec<String> = Vec::new();
    let mut before = "assistant";
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        if role == before {
            return Err(format!(
                "two messages of the {role}, or the assistant begins"
            ));
        }
        before = role;
        let answered = ids(message, "toolResult");
        if answered != open {
            return Err(format!("{answered:?} answer {open:?}"));
        }
        let mut first = (0..answered.len()).map(|at| &message["content"][at]["toolResult"]);
        if !first.all(Value::is_object) {
            return Err(format!("{open:?} are not answered at once"));
        }
        open = ids(message, "toolUse");
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("{open:?} are not answered"))
    }
}

/// The user begins; calls follow the user or results; the next content after calls has as many results, of the same
/// names, in order.
fn gemini(contents: &[Value]) -> Result<(), String> {
    let names = |content: &Value, kind: &str| -> Vec<String> {
        let parts = content["parts"].as_array().cloned().unwrap_or_default();
        let of_kind = parts.iter().filter(|part| part[kind].is_object());
        of_kind
            .filter_map(|part| part[kind]["name"].as_str().map(str::to_owned))
            .collect()
    };
    let mut open: Vec<String> = Vec::new();
    let mut before = "model";
    for content in contents {
        let role = content["role"].as_str().unwrap_or_default();
        if role == "model" && before == "model" {
            return Err("the model speaks twice, or begins".to_owned());
        }
        before = role;
        let answered = names(content, "functionResponse");
        if answered != open {
            return Err(format!("{answered:?} answer {open:?}"));
        }
        open = names(content, "functionCall");
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("{open:?} are not answered"))
    }
}
