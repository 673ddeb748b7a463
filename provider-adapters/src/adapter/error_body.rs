//! Parses error messages of a provider, or of an intermediary.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::model::provider_error::{ErrorKind, ProviderError};

/// How much of an unreadable body is shown.
const SHOWN: usize = 300;

/// The error in `body`, if it is one: `{"error": …}`, a list with one in it, or a body that is no
/// reply and has only a `message` or a `detail`.
pub(crate) fn find(body: &[u8]) -> Option<ProviderError> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let object = object(&value)?;
    let has = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
    let is_reply = [
        "choices",
        "output",
        "content",
        "candidates",
        "promptFeedback",
    ]
    .into_iter()
    .any(has);
    if !has("error") && (is_reply || !["message", "detail"].into_iter().any(has)) {
        return None;
    }
    // Some replies carry an `error` of their own; whole replies say what they are.
    if object.get("object").and_then(Value::as_str) == Some("response") {
        return None;
    }
    Some(from_object(None, object))
}

/// The error of a reply with this status, whatever its body is.
pub(crate) fn read(status: Option<u16>, body: &[u8]) -> ProviderError {
    let value = serde_json::from_slice::<Value>(body).ok();
    if let Some(object) = value.as_ref().and_then(object) {
        return from_object(status, object);
    }
    let text = String::from_utf8_lossy(body);
    let title = text
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split_once("</title>"));
    let shown: String = match title {
        Some((title, _)) => title.trim().to_owned(),
        None => text.trim().chars().take(SHOWN).collect(),
    };
    let message = if shown.is_empty() {
        "no reason given".to_owned()
    } else {
        shown
    };
    let fallback = if status.is_some() {
        ErrorKind::Server
    } else {
        ErrorKind::Malformed
    };
    let kind = status.and_then(kind_of_status).unwrap_or(fallback);
    ProviderError {
        status,
        ..ProviderError::new(kind, message)
    }
}

/// The error in one event of a stream.
pub(crate) fn from_event(value: &Value) -> ProviderError {
    match object(value) {
        Some(object) => from_object(None, object),
        None => ProviderError::new(ErrorKind::Server, value.to_string()),
    }
}

/// An exception of an event stream, by its name and what it says.
pub(crate) fn exception(name: &str, said: &str, payload: &[u8]) -> ProviderError {
    let mut error = read(None, payload);
    if payload.is_empty() && !said.is_empty() {
        said.clone_into(&mut error.message);
    }
    if !name.is_empty() {
        let words = [Some(name), None];
        error.kind = match kind_of_word(name).unwrap_or(ErrorKind::Server) {
            ErrorKind::Request if exceeds_context(words, &error.message) => {
                ErrorKind::ContextWindow
            }
            kind => kind,
        };
        error.code = Some(name.to_owned());
    }
    error
}

fn object(value: &Value) -> Option<&Map<String, Value>> {
    match value {
        Value::Array(list) => list.first()?.as_object(),
        _ => value.as_object(),
    }
}

fn from_object(status: Option<u16>, outer: &Map<String, Value>) -> ProviderError {
    let inner = outer.get("error").unwrap_or(&Value::Null);
    let inside = inner.as_object().unwrap_or(outer);
    let text = |key: &str| match inside.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let message = inner
        .as_str()
        .map(str::to_owned)
        .or_else(|| text("message"))
        .or_else(|| text("detail"))
        .or_else(|| inside.get("detail").map(Value::to_string))
        .unwrap_or_else(|| {
            Value::Object(outer.clone())
                .to_string()
                .chars()
                .take(SHOWN)
                .collect()
        });
    let details = inside.get("details");
    let code = text("code").or_else(|| details?.get("error_code")?.as_str().map(str::to_owned));
    let error_type = text("type").or_else(|| text("status"));
    let number = code.as_deref().and_then(|code| code.parse().ok());
    let words = [code.as_deref(), error_type.as_deref()];
    let kind = words
        .into_iter()
        .flatten()
        .find_map(kind_of_word)
        .or_else(|| status.or(number).and_then(kind_of_status))
        .unwrap_or(ErrorKind::Server);
    let kind = match kind {
        ErrorKind::Request | ErrorKind::Server if exceeds_context(words, &message) => {
            ErrorKind::ContextWindow
        }
        kind => kind,
    };
    ProviderError {
        error_type,
        param: text("param"),
        status,
        request_id: outer
            .get("request_id")
            .and_then(Value::as_str)
            .map(str::to_owned),
        retry_after: details.and_then(retry_delay),
        code,
        ..ProviderError::new(kind, message)
    }
}

/// Whether a refused request was too long for the model's context window. Few providers have a code
/// for it.
fn exceeds_context(words: [Option<&str>; 2], message: &str) -> bool {
    const CODES: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];
    const PHRASES: [&str; 8] = [
        "input is too long for requested model",
        "prompt is too long",
        "maximum context length",
        "exceeds the context window",
        "exceed context limit",
        "exceeds the available context size",
        "input token count",
        "reduce the length of the messages",
    ];
    let message = message.to_lowercase();
    words
        .into_iter()
        .flatten()
        .any(|word| CODES.contains(&word))
        || PHRASES.iter().any(|phrase| message.contains(phrase))
}

/// Google's `retryDelay`, such as `34s`, among the details of an error.
fn retry_delay(details: &Value) -> Option<Duration> {
    let delay = details
        .as_array()?
        .iter()
        .find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn kind_of_word(word: &str) -> Option<ErrorKind> {
    if let Some(name) = word.strip_suffix("Exception") {
        return Some(kind_of_exception(name));
    }
    Some(match word {
        "insufficient_quota" | "billing_error" | "billing_hard_limit_reached" => ErrorKind::Quota,
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => ErrorKind::RateLimit,
        "authentication_error"
        | "permission_error"
        | "invalid_api_key"
        | "UNAUTHENTICATED"
        | "PERMISSION_DENIED" => ErrorKind::Credentials,
        "invalid_request_error"
        | "not_found_error"
        | "request_too_large"
        | "INVALID_ARGUMENT"
        | "NOT_FOUND"
        | "FAILED_PRECONDITION"
        | "OUT_OF_RANGE" => ErrorKind::Request,
        "overloaded_error" | "api_error" | "timeout_error" | "server_error" | "UNAVAILABLE"
        | "INTERNAL" | "DEADLINE_EXCEEDED" => ErrorKind::Server,
        _ => return None,
    })
}

/// The kind of an exception of AWS. A stream writes the first letter small.
fn kind_of_exception(name: &str) -> ErrorKind {
    match name.to_ascii_lowercase().as_str() {
        "throttling" | "toomanyrequests" => ErrorKind::RateLimit,
        "servicequotaexceeded" => ErrorKind::Quota,
        "accessdenied"
        | "expiredtoken"
        | "unrecognizedclient"
        | "invalidsignature"
        | "missingauthenticationtoken"
        | "incompletesignature" => ErrorKind::Credentials,
        "validation" | "resourcenotfound" | "conflict" => ErrorKind::Request,
        _ => ErrorKind::Server,
    }
}

fn kind_of_status(status: u16) -> Option<ErrorKind> {
    Some(match status {
        401 | 403 => ErrorKind::Credentials,
        402 => ErrorKind::Quota,
        408 | 409 => ErrorKind::Server,
        429 => ErrorKind::RateLimit,
        // A redirect is not followed: the address is wrong.
        300..=499 => ErrorKind::Request,
        500..=599 => ErrorKind::Server,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, kind: ErrorKind, message: &str) -> ProviderError {
        let error = read(Some(status), body.as_bytes());
        assert_eq!((error.kind, error.message.as_str()), (kind, message));
        error
    }

    #[test]
    fn every_shape_of_error_is_read() {
        check(
            400,
            r#"{"error":{"message":"a","type":"invalid_request_error"}}"#,
            ErrorKind::Request,
            "a",
        );
        check(
            429,
            r#"{"error":{"message":"a","code":"insufficient_quota"}}"#,
            ErrorKind::Quota,
            "a",
        );
        check(
            400,
            r#"{"error":{"message":"a","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ErrorKind::ContextWindow,
            "a",
        );
        check(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            ErrorKind::ContextWindow,
            "prompt is too long: 9 tokens > 8 maximum",
        );
        check(500, r#"{"error":"a"}"#, ErrorKind::Server, "a");
        check(422, r#"{"detail":"a"}"#, ErrorKind::Request, "a");
        check(
            422,
            r#"{"detail":[{"loc":1}]}"#,
            ErrorKind::Request,
            r#"[{"loc":1}]"#,
        );
        check(401, r#"{"message":"a"}"#, ErrorKind::Credentials, "a");
        check(
            502,
            "<html><title>502 Bad Gateway</title>",
            ErrorKind::Server,
            "502 Bad Gateway",
        );
        check(503, "", ErrorKind::Server, "no reason given");
        let google = r#"[{"error":{"code":429,"message":"a","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34s"}]}}]"#;
        let error = check(429, google, ErrorKind::RateLimit, "a");
        assert_eq!(error.retry_after, Some(Duration::from_secs(34)));
        let anthropic = r#"{"type":"error","error":{"type":"overloaded_error","message":"a"},"request_id":"req_1"}"#;
        let error = check(529, anthropic, ErrorKind::Server, "a");
        assert_eq!(error.request_id.as_deref(), Some("req_1"));
    }
}
