//! Authentication of HTTP requests.

use std::fmt;

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::handler::caller::Caller;
use crate::http::reply::{self, HttpReply};

/// Determines the caller of a request.
#[async_trait]
pub trait Authenticator: Send + Sync + 'static {
    /// The caller of a request with these headers.
    ///
    /// # Errors
    ///
    /// The request is denied.
    async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, Denied>;

    /// The denial of a call whose handler needs [more scopes](crate::Error::insufficient_scope) than the caller has.
    fn insufficient_scope(&self, scopes: &[String]) -> Denied {
        let scopes = scopes.join(" ");
        Denied::forbidden(format!(
            "Bearer error=\"insufficient_scope\", scope=\"{scopes}\""
        ))
    }

    /// A public JSON document at this path: protected-resource metadata.
    fn document(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }
}

/// The rejection of a request: its status, and its challenge for the client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Denied {
    status: StatusCode,
    challenge: Option<String>,
}

impl Denied {
    /// The request has no valid credentials (401).
    pub fn unauthorized(challenge: impl Into<String>) -> Self {
        Self {
            status: StatusCode::UNAUTHORIZED,
            challenge: Some(challenge.into()),
        }
    }

    /// The credentials are valid, but not sufficient (403).
    pub fn forbidden(challenge: impl Into<String>) -> Self {
        Self {
            status: StatusCode::FORBIDDEN,
            challenge: Some(challenge.into()),
        }
    }

    /// The credentials could not be checked (503).
    pub fn unavailable() -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            challenge: None,
        }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// The `WWW-Authenticate` header.
    pub fn challenge(&self) -> Option<&str> {
        self.challenge.as_deref()
    }

    pub(crate) fn into_reply(self) -> HttpReply {
        let reply = reply::refusal(self.status, self.to_string());
        self.challenged(reply)
    }

    /// A reply with the challenge.
    pub(crate) fn challenged(self, mut reply: HttpReply) -> HttpReply {
        let challenge = self
            .challenge
            .and_then(|it| HeaderValue::from_str(&it).ok());
        if let Some(challenge) = challenge {
            reply
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge);
        }
        reply
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.status {
            StatusCode::UNAUTHORIZED => "authentication required",
            StatusCode::FORBIDDEN => "insufficient scope",
            _ => "authentication is not available",
        })
    }
}

impl std::error::Error for Denied {}
