//! The response of a token endpoint (RFC 6749, section 5), and the lifetime of a token.

pub(crate) mod dpop;
pub(crate) mod form;
pub(crate) mod id_jag;
pub(crate) mod refresh;
pub(crate) mod scope;
pub(crate) mod terms;
pub(crate) mod token_endpoint;

use std::time::Duration;

use mcp_transport::Secret;
use serde_json::Value;

use crate::discovery::document::{self, Document};
use crate::token::scope::Scopes;

/// How a token is presented to the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TokenKind {
    /// As a bearer token.
    Bearer,
    /// With a proof of the key it is bound to.
    Dpop,
}

/// A successful response of a token endpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Issued {
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    pub(crate) kind: TokenKind,
    /// The granted scopes, if they differ from the requested ones.
    pub(crate) scope: Option<Scopes>,
    pub(crate) expires_in: Option<u64>,
    /// The identity of the person (OpenID Connect).
    pub(crate) id_token: Option<Secret>,
    /// The type of token that a token exchange (RFC 8693) returned.
    pub(crate) issued_type: Option<String>,
}

/// A response without a token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum NotIssued {
    /// The endpoint rejected the request. Its description may quote the request.
    Rejected {
        /// The error code.
        error: String,
        /// Its description.
        description: Option<String>,
    },
    /// The endpoint failed; the same request may work later.
    Failing {
        /// The failure.
        detail: String,
    },
    /// The response is invalid; perhaps it came from an intermediary.
    Malformed {
        /// The problem.
        detail: String,
    },
}

/// Distinguishes a token, a refusal and an outage.
pub(crate) fn read(status: u16, body: &[u8]) -> Result<Issued, NotIssued> {
    let document = match serde_json::from_slice(body) {
        Ok(Value::Object(document)) => document,
        _ => Document::new(),
    };
    // An error is an error even with status 200; some servers send that.
    if let Some(error) = document::text(&document, "error") {
        let temporary = matches!(
            error.as_str(),
            "server_error" | "temporarily_unavailable" | "slow_down"
        );
        if temporary || status == 429 || status >= 500 {
            return Err(NotIssued::Failing {
                detail: format!("HTTP {status}"),
            });
        }
        let description = document::text(&document, "error_description");
        return Err(NotIssued::Rejected { error, description });
    }
    match status {
        200..=299 => issued(&document),
        408 | 425 | 429 | 500.. => Err(NotIssued::Failing {
            detail: format!("HTTP {status}"),
        }),
        _ => Err(NotIssued::Malformed {
            detail: format!("HTTP {status} without an OAuth error"),
        }),
    }
}

fn issued(document: &Document) -> Result<Issued, NotIssued> {
    let malformed = |detail: &str| NotIssued::Malformed {
        detail: detail.to_owned(),
    };
    let access = document::text(document, "access_token")
        .filter(|token| is_token(token))
        .ok_or(malformed("there is no access token in it"))?;
    let kind = document::text(document, "token_type").unwrap_or_else(|| "Bearer".to_owned());
    let kind = match kind.to_ascii_lowercase().as_str() {
        "bearer" | "n_a" => TokenKind::Bearer,
        "dpop" => TokenKind::Dpop,
        _ => {
            return Err(malformed(
                "the token is neither a bearer token nor bound to a key",
            ));
        }
    };
    let refresh = document::text(document, "refresh_token").filter(|token| is_token(token));
    Ok(Issued {
        access: Secret::new(access),
        refresh: refresh.map(Secret::new),
        kind,
        scope: document::text(document, "scope").map(|scope| Scopes::parse(&scope)),
        expires_in: document::seconds(document, "expires_in"),
        id_token: document::text(document, "id_token")
            .filter(|token| is_token(token))
            .map(Secret::new),
        issued_type: document::text(document, "issued_token_type"),
    })
}

/// Whether a text can be sent in a header unchanged.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic())
}

/// The lifetime of a token.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Lifetime {
    /// When it was issued, in seconds since 1970.
    pub(crate) issued_at: u64,
    /// When it expires, if known.
    pub(crate) expires_at: Option<u64>,
}

impl Lifetime {
    pub(crate) fn starting(now: u64, expires_in: Option<u64>) -> Self {
        Self {
            issued_at: now,
            expires_at: expires_in.map(|seconds| now.saturating_add(seconds)),
        }
    }

    /// Whether it has expired.
    pub(crate) fn is_over(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether it expires within `margin` or, if it is short-lived, is in its last quarter.
    pub(crate) fn ends_soon(&self, now: u64, margin: Duration) -> bool {
        self.expires_at.is_some_and(|end| {
            let quarter = end.saturating_sub(self.issued_at) / 4;
            end.saturating_sub(now) <= quarter.min(margin.as_secs())
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rejected(error: &str) -> Result<Issued, NotIssued> {
        Err(NotIssued::Rejected {
            error: error.into(),
            description: None,
        })
    }

    #[test]
    fn a_refusal_is_distinguished_from_an_outage() {
        assert_eq!(
            read(400, br#"{"error":"invalid_grant"}"#),
            rejected("invalid_grant")
        );
        assert_eq!(
            read(200, br#"{"error":"invalid_grant"}"#),
            rejected("invalid_grant")
        );
        assert!(matches!(
            read(404, b"<html>"),
            Err(NotIssued::Malformed { .. })
        ));
        for (status, body) in [
            (503, "{}"),
            (500, r#"{"error":"invalid_grant"}"#),
            (429, ""),
            (408, ""),
            (400, r#"{"error":"temporarily_unavailable"}"#),
        ] {
            let answer = read(status, body.as_bytes());
            assert!(
                matches!(answer, Err(NotIssued::Failing { .. })),
                "{status} {body}"
            );
        }
        assert!(matches!(
            read(200, b"<html>welcome"),
            Err(NotIssued::Malformed { .. })
        ));
    }

    #[test]
    fn sloppy_answers_are_still_tokens() {
        let token = read(
            200,
            br#"{"access_token":"T","token_type":"bearer","expires_in":"60","scope":"a b"}"#,
        )
        .unwrap();
        assert_eq!(token.expires_in, Some(60));
        assert_eq!(token.scope, Some(Scopes::parse("a b")));
        assert_eq!(
            read(201, br#"{"access_token":"T","expires_in":1.5}"#)
                .unwrap()
                .expires_in,
            Some(1)
        );
        assert_eq!(
            read(200, br#"{"access_token":"T","token_type":"DPoP"}"#)
                .unwrap()
                .kind,
            TokenKind::Dpop
        );
        for bad in [
            r#"{"access_token":"T","token_type":"mac"}"#,
            r#"{"access_token":"a\r\nb"}"#,
            r#"{"access_token":""}"#,
            "{}",
        ] {
            assert!(
                matches!(read(200, bad.as_bytes()), Err(NotIssued::Malformed { .. })),
                "{bad}"
            );
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics(status in 100u16..600, body in any::<Vec<u8>>()) {
            let _ = read(status, &body);
        }

        #[test]
        fn what_is_over_ends_soon(now in any::<u64>(), at in any::<u64>(), expires_in in any::<Option<u64>>(), margin in 0u64..1000) {
            let lifetime = Lifetime::starting(at, expires_in);
            prop_assert!(!lifetime.is_over(now) || lifetime.ends_soon(now, Duration::from_secs(margin)));
        }

        #[test]
        fn a_new_token_is_never_renewed_at_once(at in 0u64..1 << 40, expires_in in 1u64..1 << 40) {
            prop_assert!(!Lifetime::starting(at, Some(expires_in)).ends_soon(at, Duration::from_secs(60)));
        }
    }
}
