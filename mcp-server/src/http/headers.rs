//! Checks that the headers of a modern request match its body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use mcp_jsonrpc::model::ParamHeader;
use mcp_jsonrpc::{ErrorCode, ErrorObject, RawJson, RawMap, RawRef};
use serde_json::Value;

pub(crate) const VERSION: &str = "mcp-protocol-version";
pub(crate) const METHOD: &str = "mcp-method";
pub(crate) const NAME: &str = "mcp-name";
pub(crate) const SESSION: &str = "mcp-session-id";

/// The members of params that headers repeat, each read by itself: one that is no string hides no other.
pub(crate) struct Named {
    pub(crate) name: Option<String>,
    uri: Option<String>,
    task_id: Option<String>,
    arguments: Option<RawJson>,
}

impl Named {
    pub(crate) fn of(params: Option<RawRef<'_>>) -> Self {
        let params: RawMap = params.and_then(|it| it.parse().ok()).unwrap_or_default();
        Self {
            name: params.read_as("name"),
            uri: params.read_as("uri"),
            task_id: params.read_as("taskId"),
            arguments: params.get("arguments").cloned(),
        }
    }
}

/// Checks the version and the method.
pub(crate) fn check_request(
    headers: &HeaderMap,
    version: &str,
    method: &str,
) -> Result<(), ErrorObject> {
    check(headers, VERSION, version)?;
    check(headers, METHOD, method)
}

/// Checks the name of what the method is about, and the headers that the tool's schema asks for.
pub(crate) fn check_params(
    headers: &HeaderMap,
    method: &str,
    named: Named,
    wanted: &[ParamHeader],
) -> Result<(), ErrorObject> {
    let name = match method {
        "tools/call" | "prompts/get" => named.name,
        "resources/read" => named.uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => named.task_id,
        _ => return Ok(()),
    };
    // Params without it are refused by whoever reads them.
    if let Some(name) = name {
        check(headers, NAME, &name)?;
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let arguments = named.arguments.and_then(|raw| raw.parse().ok());
    let arguments: Value = arguments.unwrap_or_default();
    for header in wanted {
        let name = format!("mcp-param-{}", header.suffix.to_ascii_lowercase());
        match header.value(&arguments) {
            Some(value) => check(headers, &name, &value)?,
            None if headers.contains_key(&name) => {
                return Err(mismatch(&name, "the body has no such value"));
            }
            None => {}
        }
    }
    Ok(())
}

fn check(headers: &HeaderMap, name: &str, want: &str) -> Result<(), ErrorObject> {
    let mut values = headers.get_all(name).iter();
    let value = match (values.next(), values.next()) {
        (Some(value), None) => value,
        (None, _) => return Err(mismatch(name, "it is missing")),
        (Some(_), Some(_)) => return Err(mismatch(name, "sent more than once")),
    };
    let value = value.to_str().ok().and_then(|value| unescape(value.trim()));
    match value {
        Some(value) if value == want => Ok(()),
        Some(_) => Err(mismatch(name, "does not match the body")),
        None => Err(mismatch(name, "its value cannot be read")),
    }
}

fn mismatch(name: &str, why: &str) -> ErrorObject {
    ErrorObject::new(
        ErrorCode::HEADER_MISMATCH,
        format!("header {name} does not match the body: {why}"),
    )
}

/// The value that a header spells; `None` if it is marked as base64 and is not.
fn unescape(value: &str) -> Option<String> {
    let marked = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match marked {
        Some(base64) => String::from_utf8(STANDARD.decode(base64).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_values_are_decoded_and_all_others_are_literal() {
        assert_eq!(unescape("Hello").as_deref(), Some("Hello"));
        assert_eq!(unescape("=?base64?SGVsbG8=?=").as_deref(), Some("Hello"));
        assert_eq!(
            unescape("=?base64?SGVsbG8=").as_deref(),
            Some("=?base64?SGVsbG8=")
        );
        assert_eq!(unescape("SGVsbG8=").as_deref(), Some("SGVsbG8="));
        assert_eq!(unescape("=?base64??=").as_deref(), Some(""));
        for bad in [
            "=?base64?SGVsbG8?=",
            "=?base64?SGVs!!!bG8=?=",
            "=?base64?/w==?=",
        ] {
            assert_eq!(unescape(bad), None, "{bad}");
        }
    }
}
