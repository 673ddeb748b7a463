//! Credentials for HTTP requests: a provider that is called before every request and after every refusal.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{BoxError, Secret};

/// Supplies the credentials of HTTP requests.
///
/// It is called for **every** request, so that a token can be refreshed or a request signed. The transport does not
/// depend on OAuth: an implementation may open a browser in [`challenged`](Self::challenged).
#[async_trait]
pub trait AuthProvider: Debug + Send + Sync {
    /// Headers to add to this request. They never leave the server's origin.
    async fn headers(&self, request: &AuthRequest<'_>) -> Result<Vec<(String, Secret)>, BoxError>;

    /// The server rejected a request with 401, or with 403 and a challenge.
    ///
    /// This may take long, because a person may have to log in. Concurrent refusals call it concurrently;
    /// [`Challenge::sent`] shows whether the rejected credentials are still the current ones. An error fails the
    /// request and is shown to the user.
    async fn challenged(&self, challenge: &Challenge<'_>) -> Result<AuthVerdict, BoxError> {
        let _ = challenge;
        Ok(AuthVerdict::Fail)
    }

    /// A response arrived, with any status: the provider can record a nonce. Called before
    /// [`challenged`](Self::challenged) for the same response.
    fn observed(&self, request: &AuthRequest<'_>, headers: &[(&str, &str)]) {
        let _ = (request, headers);
    }
}

/// A request about to be sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AuthRequest<'a> {
    /// `POST`, `GET` or `DELETE`.
    pub method: &'a str,
    /// Its URL.
    pub url: &'a str,
    /// The MCP endpoint as the user configured it.
    pub server: &'a str,
}

/// A rejected request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Challenge<'a> {
    /// The rejected request.
    pub request: AuthRequest<'a>,
    /// 401 or 403.
    pub status: u16,
    /// Every `WWW-Authenticate` header, in order.
    pub www_authenticate: &'a [String],
    /// The headers this provider supplied for the rejected request.
    pub sent: &'a [(String, Secret)],
    /// The number of refusals of this request, including this one.
    pub attempt: u32,
}

/// The action after a refusal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AuthVerdict {
    /// The credentials have changed: get the headers again and repeat the request, within the
    /// transport's limit of attempts.
    Retry,
    /// Fail the request with its status.
    Fail,
}

/// Sends no credentials.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopAuth;

#[async_trait]
impl AuthProvider for NoopAuth {
    async fn headers(&self, _: &AuthRequest<'_>) -> Result<Vec<(String, Secret)>, BoxError> {
        Ok(Vec::new())
    }
}

/// Sends one fixed bearer token.
#[derive(Clone, Debug)]
pub struct StaticTokenAuth {
    token: Secret,
}

impl StaticTokenAuth {
    /// Creates a provider for `token`, without the word `Bearer`.
    pub fn new(token: impl Into<String>) -> Self {
        Self {
            token: Secret::new(token),
        }
    }
}

#[async_trait]
impl AuthProvider for StaticTokenAuth {
    async fn headers(&self, _: &AuthRequest<'_>) -> Result<Vec<(String, Secret)>, BoxError> {
        let value = Secret::new(format!("Bearer {}", self.token.expose()));
        Ok(vec![("Authorization".to_owned(), value)])
    }
}

impl<'a> AuthRequest<'a> {
    /// Describes a request.
    pub fn new(method: &'a str, url: &'a str, server: &'a str) -> Self {
        Self {
            method,
            url,
            server,
        }
    }
}

impl<'a> Challenge<'a> {
    /// Describes the first refusal of `request`.
    pub fn new(request: AuthRequest<'a>, status: u16) -> Self {
        Self {
            request,
            status,
            www_authenticate: &[],
            sent: &[],
            attempt: 1,
        }
    }

    /// Adds the `WWW-Authenticate` headers.
    #[must_use]
    pub fn with_www_authenticate(mut self, headers: &'a [String]) -> Self {
        self.www_authenticate = headers;
        self
    }

    /// Adds the rejected credentials.
    #[must_use]
    pub fn with_sent(mut self, sent: &'a [(String, Secret)]) -> Self {
        self.sent = sent;
        self
    }

    /// Sets the number of refusals of the request.
    #[must_use]
    pub fn with_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }
}
