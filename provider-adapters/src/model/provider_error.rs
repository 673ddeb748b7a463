//! Errors reported by a provider.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The reason why a request or a reply failed, as reported by the provider or inferred from its reply.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProviderError {
    /// The kind of failure, which determines the reaction.
    pub kind: ErrorKind,
    /// The provider's own message.
    pub message: String,
    /// The provider's error type, such as `overloaded_error`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The provider's code, such as `rate_limit_exceeded` or `503`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The field of the request that caused the error, such as `tools[3].parameters`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's id for the request, for its support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The delay the provider requests before a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
}

/// The kinds of failure, by the possible reactions.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is invalid; sending it again will not help.
    Request,
    /// The conversation does not fit the model's context window; a shorter one may.
    ContextWindow,
    /// The key is missing, invalid, or lacks permission.
    Credentials,
    /// The credit or quota is exhausted; waiting will not help.
    Quota,
    /// Too many requests; waiting will help.
    RateLimit,
    /// The provider is overloaded or has failed; a retry may help.
    Server,
    /// The reply ended prematurely.
    Truncated,
    /// The reply does not match the wire's format.
    Malformed,
    /// The reply exceeds the limits.
    TooLarge,
}

impl ProviderError {
    /// Creates an error of this kind, with a message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            error_type: None,
            code: None,
            param: None,
            status: None,
            request_id: None,
            retry_after: None,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::RateLimit | ErrorKind::Server | ErrorKind::Truncated
        )
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ErrorKind::Request => "the provider refused the request",
            ErrorKind::ContextWindow => "the conversation exceeds the model's context window",
            ErrorKind::Credentials => "the provider refused the key",
            ErrorKind::Quota => "the provider's quota is used up",
            ErrorKind::RateLimit => "the provider's rate limit is reached",
            ErrorKind::Server => "the provider failed",
            ErrorKind::Truncated => "the reply broke off",
            ErrorKind::Malformed => "the reply is malformed",
            ErrorKind::TooLarge => "the reply is too large",
        };
        write!(f, "{kind}: {}", self.message)?;
        let details = [
            ("type", self.error_type.as_deref()),
            ("code", self.code.as_deref()),
            ("param", self.param.as_deref()),
            ("request", self.request_id.as_deref()),
        ];
        for (name, value) in details {
            if let Some(value) = value {
                write!(f, ", {name} {value}")?;
            }
        }
        match self.status {
            Some(status) => write!(f, " (HTTP {status})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ProviderError {}
