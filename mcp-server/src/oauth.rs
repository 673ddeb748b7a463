//! An OAuth resource server: verifies bearer tokens signed by an authorization server.

mod jwk;
mod jwt;
mod keys;

use std::fmt;

use async_trait::async_trait;
use http::{HeaderMap, header};
use serde_json::json;

use crate::handler::caller::Caller;
use crate::http::auth::{Authenticator, Denied};
use crate::server::timestamp::unix_seconds;
pub use keys::{JwksUrl, KeySource};

/// Largest token that is looked at, in bytes.
const MAX_TOKEN_BYTES: usize = 16 << 10;
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Accepts bearer tokens (RFC 6750) that are JWTs signed by one issuer for one resource, and publishes the
/// protected-resource metadata (RFC 9728) from which clients learn where to get one.
///
/// Signatures may be RS256, RS384, RS512, ES256, ES384 or EdDSA. The issuer, the audience and the validity period must
/// be right, with a minute's leeway; the subject becomes the [`Caller`]'s id.
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
    verifier: JwtVerifier,
    scopes: Vec<String>,
}

/// Verifies JWTs signed by one issuer for one audience: access tokens, or the ID tokens of OpenID Connect.
///
/// The signature, the issuer, the audience and the validity period must be right, as for [`JwtAuthenticator`]. The
/// caller compares other claims, such as a `nonce`.
#[derive(Debug)]
pub struct JwtVerifier {
    issuer: String,
    audience: String,
    keys: keys::KeyCache,
}

/// The reason why a token is rejected.
#[derive(Debug)]
#[non_exhaustive]
pub enum JwtError {
    /// It is not from the issuer, not for this audience, or not valid now.
    Invalid,
    /// The issuer's keys cannot be fetched.
    Unavailable(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for JwtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "the token is not valid",
            Self::Unavailable(_) => "cannot fetch the issuer's keys",
        })
    }
}

impl std::error::Error for JwtError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Invalid => None,
            Self::Unavailable(error) => Some(&**error),
        }
    }
}

impl JwtVerifier {
    /// Creates a verifier of tokens that `issuer` signs for `audience`.
    pub fn new(
        issuer: impl Into<String>,
        audience: impl Into<String>,
        keys: impl KeySource,
    ) -> Self {
        Self {
            issuer: issuer.into(),
            audience: audience.into(),
            keys: keys::KeyCache::new(keys),
        }
    }

    /// The subject of a token, with all its claims.
    ///
    /// # Errors
    /// If the token is invalid, or the issuer's keys cannot be fetched.
    pub async fn verify(&self, token: &str) -> Result<Caller, JwtError> {
        let token = Some(token).filter(|token| token.len() <= MAX_TOKEN_BYTES);
        let unverified = token.and_then(jwt::Unverified::read);
        let unverified = unverified.ok_or(JwtError::Invalid)?;
        let keys = self.keys.keys_for(unverified.key_id()).await;
        let keys = keys.map_err(JwtError::Unavailable)?;
        let claims = unverified.verify(&keys).ok_or(JwtError::Invalid)?;
        let rules = jwt::Rules {
            issuer: &self.issuer,
            audience: &self.audience,
        };
        let caller = rules.check(claims, unix_seconds());
        caller.ok_or(JwtError::Invalid)
    }
}

impl JwtAuthenticator {
    /// Creates an authenticator for tokens that `issuer` signs for `resource`, the URL of the endpoint.
    pub fn new(
        issuer: impl Into<String>,
        resource: impl Into<String>,
        keys: impl KeySource,
    ) -> Self {
        Self {
            verifier: JwtVerifier::new(issuer, resource, keys),
            scopes: Vec::new(),
        }
    }

    fn resource(&self) -> &str {
        &self.verifier.audience
    }

    /// Requires every token to have this scope.
    #[must_use]
    pub fn require_scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Origin and path of the resource.
    fn parts(&self) -> (&str, &str) {
        let resource = self.resource();
        let start = resource.find("://").map_or(0, |at| at + 3);
        let host = resource.get(start..).unwrap_or_default();
        match host.find('/') {
            Some(at) => resource
                .split_at_checked(start + at)
                .unwrap_or((resource, "")),
            None => (resource, ""),
        }
    }

    fn metadata_path(&self) -> String {
        let (_, path) = self.parts();
        format!("{WELL_KNOWN}{}", path.trim_end_matches('/'))
    }

    /// A challenge that names where to find out more (RFC 9728), with an error (RFC 6750).
    fn challenge(&self, error: Option<&str>) -> String {
        self.challenge_for(error, &self.scopes)
    }

    fn challenge_for(&self, error: Option<&str>, scopes: &[String]) -> String {
        let (origin, _) = self.parts();
        let error = error.map(|error| format!("error=\"{error}\", "));
        let scope = match scopes.is_empty() {
            true => String::new(),
            false => format!("scope=\"{}\", ", scopes.join(" ")),
        };
        format!(
            "Bearer {}{scope}resource_metadata=\"{origin}{}\"",
            error.unwrap_or_default(),
            self.metadata_path()
        )
    }

    async fn caller(&self, token: &str) -> Result<Caller, Denied> {
        let caller = self
            .verifier
            .verify(token)
            .await
            .map_err(|error| match error {
                JwtError::Invalid => Denied::unauthorized(self.challenge(Some("invalid_token"))),
                JwtError::Unavailable(_) => Denied::unavailable(),
            })?;
        match self.scopes.iter().all(|scope| caller.has_scope(scope)) {
            true => Ok(caller),
            false => Err(Denied::forbidden(
                self.challenge(Some("insufficient_scope")),
            )),
        }
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

    /// Names the scopes of the endpoint as well: a new token has to have them all.
    fn insufficient_scope(&self, scopes: &[String]) -> Denied {
        let mut all = self.scopes.clone();
        all.extend(
            scopes
                .iter()
                .filter(|it| !self.scopes.contains(it))
                .cloned(),
        );
        Denied::forbidden(self.challenge_for(Some("insufficient_scope"), &all))
    }

    fn document(&self, path: &str) -> Option<String> {
        if path != WELL_KNOWN && path != self.metadata_path() {
            return None;
        }
        let mut document = json!({
            "resource": self.resource(),
            "authorization_servers": [self.verifier.issuer],
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
