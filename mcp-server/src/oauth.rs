//! An OAuth resource server: bearer tokens that an authorization server has signed.

mod jwk;
mod jwt;
mod keys;

use async_trait::async_trait;
use http::{HeaderMap, header};
use serde_json::json;

use crate::handler::caller::Caller;
use crate::http::auth::{Authenticator, Denied};
use crate::server::timestamp::unix_seconds;
use jwt::Rejected;
pub use keys::{JwksUrl, KeySource};

/// Largest token that is looked at, in bytes.
const MAX_TOKEN_BYTES: usize = 16 << 10;
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Accepts bearer tokens (RFC 6750) that are JWTs signed by one issuer for one resource, and
/// publishes the protected-resource metadata (RFC 9728) that tells clients where to get one.
///
/// Signatures may be RS256, RS384, RS512, ES256, ES384 or EdDSA. The issuer, the audience and the
/// validity in time have to be right, with a minute's leeway; the subject becomes the
/// [`Caller`]'s id.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// use mcp_server::oauth::{JwksUrl, JwtAuthenticator};
///
/// let keys = JwksUrl::new("https://auth.example.com/jwks.json")?;
/// let authenticator =
///     JwtAuthenticator::new("https://auth.example.com", "https://mcp.example.com/mcp", keys)
///         .require_scope("tools");
/// # let _ = authenticator;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct JwtAuthenticator {
    issuer: String,
    resource: String,
    scopes: Vec<String>,
    keys: keys::KeyCache,
}

impl JwtAuthenticator {
    /// For tokens that `issuer` has signed for `resource`, the URL of the endpoint.
    pub fn new(
        issuer: impl Into<String>,
        resource: impl Into<String>,
        keys: impl KeySource,
    ) -> Self {
        Self {
            issuer: issuer.into(),
            resource: resource.into(),
            scopes: Vec::new(),
            keys: keys::KeyCache::new(keys),
        }
    }

    /// Requires a scope of every token.
    #[must_use]
    pub fn require_scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Origin and path of the resource.
    fn parts(&self) -> (&str, &str) {
        let start = self.resource.find("://").map_or(0, |at| at + 3);
        let host = self.resource.get(start..).unwrap_or_default();
        match host.find('/') {
            Some(at) => self
                .resource
                .split_at_checked(start + at)
                .unwrap_or((&self.resource, "")),
            None => (&self.resource, ""),
        }
    }

    fn metadata_path(&self) -> String {
        let (_, path) = self.parts();
        format!("{WELL_KNOWN}{}", path.trim_end_matches('/'))
    }

    /// A challenge that names where to find out more (RFC 9728), with an error (RFC 6750).
    fn challenge(&self, error: Option<&str>) -> String {
        let (origin, _) = self.parts();
        let error = error.map(|error| format!("error=\"{error}\", "));
        let scope = match self.scopes.is_empty() {
            true => String::new(),
            false => format!("scope=\"{}\", ", self.scopes.join(" ")),
        };
        format!(
            "Bearer {}{scope}resource_metadata=\"{origin}{}\"",
            error.unwrap_or_default(),
            self.metadata_path()
        )
    }

    async fn caller(&self, token: &str) -> Result<Caller, Denied> {
        let invalid = || Denied::unauthorized(self.challenge(Some("invalid_token")));
        let unverified = jwt::Unverified::read(token).ok_or_else(invalid)?;
        let keys = self
            .keys
            .keys_for(unverified.key_id())
            .await
            .map_err(|error| {
                tracing::warn!(%error, "the issuer's keys cannot be fetched");
                Denied::unavailable()
            })?;
        let claims = unverified.verify(&keys).ok_or_else(invalid)?;
        let rules = jwt::Rules {
            issuer: &self.issuer,
            audience: &self.resource,
            scopes: &self.scopes,
        };
        rules
            .check(claims, unix_seconds())
            .map_err(|rejected| match rejected {
                Rejected::Invalid => invalid(),
                Rejected::Scope => Denied::forbidden(self.challenge(Some("insufficient_scope"))),
            })
    }
}

#[async_trait]
impl Authenticator for JwtAuthenticator {
    async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, Denied> {
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let value = match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        };
        let token = value.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme
                .eq_ignore_ascii_case("bearer")
                .then_some(token.trim())
        });
        match token.filter(|token| token.len() <= MAX_TOKEN_BYTES) {
            Some(token) => self.caller(token).await,
            None => Err(Denied::unauthorized(self.challenge(None))),
        }
    }

    fn document(&self, path: &str) -> Option<String> {
        if path != WELL_KNOWN && path != self.metadata_path() {
            return None;
        }
        let mut document = json!({
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
        });
        if !self.scopes.is_empty() {
            document
                .as_object_mut()?
                .insert("scopes_supported".to_owned(), json!(self.scopes));
        }
        Some(document.to_string())
    }
}
