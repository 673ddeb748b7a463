//! The rules of the eras for requests and results. Pure.

use mcp_jsonrpc::Revision;
use serde_json::{Map, Value, json};

use crate::script::Script;
use crate::wire::Headers;
use crate::{Era, Refusal, TaskSupport};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(super) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
pub(super) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The era of a request: a modern one declares it.
pub(crate) fn era_of(request: &Value) -> Era {
    let discovers = request
        .get("method")
        .is_some_and(|m| m == "server/discover");
    if discovers || meta(request, VERSION).is_some() {
        Era::Modern
    } else {
        Era::Legacy
    }
}

/// A member of the request's `_meta`.
pub(super) fn meta<'a>(request: &'a Value, key: &str) -> Option<&'a Value> {
    request.get("params")?.get("_meta")?.get(key)
}

/// The client's capabilities in a modern request.
pub(super) fn client_capabilities(request: &Value) -> Value {
    meta(request, CAPABILITIES).cloned().unwrap_or_default()
}

/// Whether the request follows its era's rules; over HTTP its headers must agree with it.
pub(super) fn check(
    script: &Script,
    request: &Value,
    headers: Option<&Headers>,
) -> Result<(), Refusal> {
    let method = request
        .get("method")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match era_of(request) {
        Era::Legacy if script.speaks(Era::Legacy) => Ok(()),
        Era::Legacy => Err(unsupported(
            script,
            request.pointer("/params/protocolVersion"),
        )),
        Era::Modern if !script.speaks(Era::Modern) => {
            Err(Refusal::new(-32601, format!("Method not found: {method}")))
        }
        Era::Modern => check_modern(script, method, request, headers),
    }
}

fn check_modern(
    script: &Script,
    method: &str,
    request: &Value,
    headers: Option<&Headers>,
) -> Result<(), Refusal> {
    let version = meta(request, VERSION);
    if let Some(headers) = headers {
        let expected = [
            ("mcp-protocol-version", version.and_then(Value::as_str)),
            ("mcp-method", Some(method)),
            ("mcp-name", subject(method, request)),
        ];
        for (name, expected) in expected {
            let got = headers.get(name).map(decode_header);
            if expected.is_some() && got.as_deref() != expected {
                return Err(mismatch(name, expected, got.as_deref()));
            }
        }
    }
    match version.and_then(Value::as_str) {
        Some(modern) if modern == Revision::LATEST.as_str() => {}
        Some(_) => return Err(unsupported(script, version)),
        None => return Err(Refusal::new(-32602, format!("_meta lacks {VERSION}"))),
    }
    if !client_capabilities(request).is_object() {
        return Err(Refusal::new(-32602, format!("_meta lacks {CAPABILITIES}")));
    }
    match (headers, method) {
        (Some(headers), "tools/call") => mirrored_headers_match(script, request, headers),
        _ => Ok(()),
    }
}

/// Whether each argument marked with `x-mcp-header` is mirrored in its header.
fn mirrored_headers_match(
    script: &Script,
    request: &Value,
    headers: &Headers,
) -> Result<(), Refusal> {
    let name = request
        .pointer("/params/name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let properties = script.tool(name).and_then(|tool| {
        tool.declared
            .pointer("/inputSchema/properties")?
            .as_object()
    });
    for (property, schema) in properties.into_iter().flatten() {
        let Some(header) = schema.get("x-mcp-header").and_then(Value::as_str) else {
            continue;
        };
        let header = format!("mcp-param-{}", header.to_ascii_lowercase());
        let argument = request
            .get("params")
            .and_then(|p| p.get("arguments")?.get(property));
        let expected = match argument {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        };
        let got = headers.get(&header).map(decode_header);
        if got != expected {
            return Err(mismatch(&header, expected.as_deref(), got.as_deref()));
        }
    }
    Ok(())
}

/// The value that `Mcp-Name` must repeat.
fn subject<'a>(method: &str, request: &'a Value) -> Option<&'a str> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    request.get("params")?.get(member)?.as_str()
}

fn mismatch(header: &str, expected: Option<&str>, got: Option<&str>) -> Refusal {
    let show = |value: Option<&str>| value.map_or("absent".to_owned(), |v| format!("'{v}'"));
    Refusal::new(
        -32020,
        format!(
            "Header mismatch: {header} is {}, the body says {}",
            show(got),
            show(expected)
        ),
    )
}

fn unsupported(script: &Script, requested: Option<&Value>) -> Refusal {
    Refusal::new(-32022, "Unsupported protocol version").with_data(json!({
        "supported": supported(script),
        "requested": requested.cloned().unwrap_or_else(|| "".into()),
    }))
}

/// Every revision the server speaks.
pub(super) fn supported(script: &Script) -> Vec<&'static str> {
    let legacy = script
        .revisions
        .iter()
        .filter(|_| script.speaks(Era::Legacy));
    let modern = script.speaks(Era::Modern).then_some(&Revision::LATEST);
    legacy
        .chain(modern)
        .map(|revision| revision.as_str())
        .collect()
}

/// The result of `initialize`'s negotiation: the requested revision, or else the newest one.
pub(super) fn negotiate(script: &Script, requested: &Value) -> Revision {
    let mut known = script.revisions.iter();
    known
        .find(|revision| requested == revision.as_str())
        .or(script.revisions.last())
        .copied()
        .unwrap_or(Revision::LATEST_LEGACY)
}

pub(super) fn capabilities(script: &Script, era: Era) -> Value {
    let mut set = Map::new();
    let mut offer = |name: &str, value: Value| set.insert(name.to_owned(), value);
    if !script.tools.is_empty() {
        offer("tools", json!({"listChanged": true}));
    }
    if !script.resources.is_empty() || !script.templates.is_empty() {
        offer("resources", json!({"listChanged": true, "subscribe": true}));
    }
    if !script.prompts.is_empty() {
        offer("prompts", json!({"listChanged": true}));
        offer("completions", json!({}));
    }
    offer("logging", json!({}));
    if script
        .tools
        .iter()
        .any(|tool| tool.task != TaskSupport::Forbidden)
    {
        match era {
            Era::Legacy => offer(
                "tasks",
                json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}),
            ),
            Era::Modern => offer("extensions", json!({TASKS: {}})),
        };
    }
    Value::Object(set)
}

/// Adds the members of every modern result.
pub(super) fn stamp(script: &Script, method: &str, result: &mut Value) {
    let Some(members) = result.as_object_mut() else {
        return;
    };
    members
        .entry("resultType")
        .or_insert_with(|| "complete".into());
    if let Some(meta) = members
        .entry("_meta")
        .or_insert_with(|| json!({}))
        .as_object_mut()
    {
        meta.insert(
            "io.modelcontextprotocol/serverInfo".to_owned(),
            script.info.clone(),
        );
    }
    let cacheable = matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    );
    if cacheable
        && members
            .get("resultType")
            .is_some_and(|kind| kind == "complete")
    {
        let ttl = u64::try_from(script.ttl.as_millis()).unwrap_or(u64::MAX);
        members.insert("ttlMs".to_owned(), ttl.into());
        members.insert("cacheScope".to_owned(), "private".into());
    }
}

/// The HTTP status for a response.
pub(super) fn status(era: Era, answer: &Value) -> u16 {
    match (era, answer.pointer("/error/code").and_then(Value::as_i64)) {
        (_, Some(-32022)) => 400,
        (Era::Modern, Some(-32602 | -32020 | -32021)) => 400,
        (Era::Modern, Some(-32601)) => 404,
        _ => 200,
    }
}

/// Decodes the `=?base64?…?=` form of header values.
fn decode_header(value: &str) -> String {
    let inner = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match inner.and_then(decode_base64) {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None => value.to_owned(),
    }
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0_u32);
    for letter in text.trim_end_matches('=').bytes() {
        let digit = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_may_be_base64() {
        assert_eq!(decode_header("=?base64?w6lzdA==?="), "ést");
        assert_eq!(decode_header("=?base64?IHg=?="), " x");
        assert_eq!(decode_header("plain text"), "plain text");
        assert_eq!(decode_header("=?base64?!?="), "=?base64?!?=");
    }
}
