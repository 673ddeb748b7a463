//! Authorizers: ways to ask a person to log in.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_transport::BoxError;

use crate::http::guard::shown;

/// Asks a person to log in at an authorization server's web page.
///
/// [`LoopbackAuthorizer`](crate::LoopbackAuthorizer) opens a browser and waits on this machine; [`HostAuthorizer`]
/// calls your function.
#[async_trait]
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// Prepares one login. `registered` is the redirect URI of an earlier login that the authorization server knows.
    /// Reuse it if possible, because another one requires a new registration.
    async fn begin(&self, registered: Option<&str>) -> Result<Box<dyn PendingLogin>, BoxError>;
}

/// One login, ready to start.
#[async_trait]
pub trait PendingLogin: Send {
    /// The redirect URI.
    fn redirect_uri(&self) -> &str;

    /// Shows the page and waits. Returns the whole URL that the browser was redirected to, with its query. Dropped when
    /// the login times out.
    async fn finish(self: Box<Self>, prompt: LoginPrompt) -> Result<String, BoxError>;
}

/// A login to show to a person.
#[derive(Clone)]
#[non_exhaustive]
pub struct LoginPrompt {
    /// The page to show: `https`, or `http` on this machine. Pass it to a browser, never to a shell.
    pub url: String,
    /// The redirect URI of the login.
    pub redirect_uri: String,
    /// The MCP server the login is for.
    pub server: String,
    /// The authorization server that asks.
    pub issuer: String,
    /// The requested scopes, separated by spaces; may be empty.
    pub scope: String,
}

/// Calls a function for the login: for hosts that open browsers themselves, that have their own redirect URI, or that
/// let people paste the final URL.
///
/// ```
/// use mcp_auth::HostAuthorizer;
///
/// let authorizer = HostAuthorizer::new("http://localhost:8976/callback", |login| async move {
///     println!("Log in at {}, then paste the address you end up at.", login.url);
///     let mut pasted = String::new();
///     std::io::stdin().read_line(&mut pasted)?;
///     Ok(pasted)
/// });
/// ```
#[derive(Clone)]
pub struct HostAuthorizer {
    redirect_uri: String,
    visit: Visit,
}

type Answer = Pin<Box<dyn Future<Output = Result<String, BoxError>> + Send>>;
type Visit = Arc<dyn Fn(LoginPrompt) -> Answer + Send + Sync>;

impl HostAuthorizer {
    /// `visit` shows the page and returns the URL, or just the query, that the browser was redirected to, which begins
    /// with `redirect_uri`.
    pub fn new<F, R>(redirect_uri: impl Into<String>, visit: F) -> Self
    where
        F: Fn(LoginPrompt) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, BoxError>> + Send + 'static,
    {
        let visit: Visit = Arc::new(move |prompt| Box::pin(visit(prompt)));
        Self {
            redirect_uri: redirect_uri.into(),
            visit,
        }
    }
}

#[async_trait]
impl Authorizer for HostAuthorizer {
    async fn begin(&self, _: Option<&str>) -> Result<Box<dyn PendingLogin>, BoxError> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait]
impl PendingLogin for HostAuthorizer {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    async fn finish(self: Box<Self>, prompt: LoginPrompt) -> Result<String, BoxError> {
        (self.visit)(prompt).await
    }
}

impl fmt::Debug for HostAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostAuthorizer")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for LoginPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The query contains the state, which is a secret until the login has ended.
        let url = shown(&self.url);
        f.debug_struct("LoginPrompt")
            .field("url", &url)
            .field("redirect_uri", &self.redirect_uri)
            .field("server", &self.server)
            .field("issuer", &self.issuer)
            .field("scope", &self.scope)
            .finish()
    }
}
