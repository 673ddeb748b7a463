//! Authorization errors: one variant per decision a caller can take.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::http::guard::shown;

/// A cause; shared, because one failed login fails every request that waited for it.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// The reason why there is no token.
///
/// No variant contains or prints a token, a code, a key or a client secret.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AuthError {
    /// The configuration is invalid.
    Config {
        /// The problem.
        detail: String,
    },
    /// A person has to log in, and this provider has no [`Authorizer`](crate::Authorizer).
    LoginRequired {
        /// The server.
        server: String,
    },
    /// The person or the authorization server denied access.
    Denied {
        /// The server the login was for.
        server: String,
        /// The error code, for example `access_denied`.
        error: String,
        /// The authorization server's description.
        description: Option<String>,
    },
    /// The login failed: the listener, the browser or the host's hook reported an error.
    Login {
        /// The server the login was for.
        server: String,
        /// The cause.
        source: Cause,
    },
    /// The login exceeded its time limit.
    LoginTimeout {
        /// The server the login was for.
        server: String,
        /// The limit.
        limit: Duration,
    },
    /// The authorization server supports no way to register: register a client there manually, and configure its id.
    NoClient {
        /// The authorization server.
        issuer: String,
        /// The redirect URI to register.
        redirect_uri: Option<String>,
    },
    /// A rule that protects the user was violated.
    Refused {
        /// The server whose authorization was rejected.
        server: String,
        /// The rule.
        violation: Violation,
    },
    /// No authorization server was found.
    NoAuthorizationServer {
        /// The server.
        server: String,
        /// The attempts.
        detail: String,
    },
    /// An endpoint rejected the request: repeating it is pointless.
    Rejected {
        /// The operation: `refreshing the token`, `registering a client` …
        action: &'static str,
        /// The endpoint.
        url: String,
        /// The error code, for example `invalid_grant`, or the HTTP status.
        error: String,
        /// The endpoint's description.
        description: Option<String>,
    },
    /// An endpoint could not be reached or failed: it may work later.
    Unavailable {
        /// The endpoint.
        url: String,
        /// The cause.
        source: Cause,
    },
    /// An endpoint's response is invalid.
    Malformed {
        /// The endpoint.
        url: String,
        /// What was found, and what was expected.
        detail: String,
    },
    /// The server rejects a token that was just issued for it.
    TokenRefused {
        /// The server.
        server: String,
    },
    /// The server requires scopes that were already requested.
    ScopeRefused {
        /// The server.
        server: String,
        /// The scopes.
        scope: String,
    },
    /// The token store failed.
    Store {
        /// The operation.
        action: &'static str,
        /// The cause.
        source: Cause,
    },
}

/// A violated rule, which ends an authorization.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Violation {
    /// The metadata describes a different resource.
    Resource {
        /// The resource it describes.
        resource: String,
    },
    /// The authorization server's document names a different issuer.
    Issuer {
        /// The expected issuer.
        expected: String,
        /// The issuer in the document.
        found: String,
    },
    /// The authorization response is not from the expected authorization server.
    CallbackIssuer {
        /// The expected issuer.
        expected: String,
        /// The issuer in the response, if it names one.
        found: Option<String>,
    },
    /// The authorization response belongs to another login.
    State,
    /// The authorization server does not declare support for PKCE with S256.
    NoPkce {
        /// The authorization server.
        issuer: String,
    },
    /// A URL that must not be contacted.
    Url {
        /// The URL, without query and credentials.
        url: String,
        /// The reason.
        reason: &'static str,
    },
    /// The configured client belongs to another authorization server.
    ForeignClient {
        /// The authorization server.
        issuer: String,
        /// The authorization server the client was registered with.
        registered_with: String,
    },
}

impl AuthError {
    /// Whether trying again later could help.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Store { .. })
    }

    /// Whether a person has to act: log in, consent, or register a client.
    pub fn needs_person(&self) -> bool {
        matches!(
            self,
            Self::LoginRequired { .. }
                | Self::Denied { .. }
                | Self::Login { .. }
                | Self::LoginTimeout { .. }
                | Self::NoClient { .. }
        )
    }

    pub(crate) fn unavailable(
        url: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Unavailable {
            url: url.into(),
            source: Arc::from(source.into()),
        }
    }

    pub(crate) fn malformed(url: impl AsRef<str>, detail: impl Into<String>) -> Self {
        Self::Malformed {
            url: shown(url.as_ref()),
            detail: detail.into(),
        }
    }

    pub(crate) fn config(detail: impl Into<String>) -> Self {
        Self::Config {
            detail: detail.into(),
        }
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config { detail } => write!(f, "authorization is not set up right: {detail}"),
            Self::LoginRequired { server } => {
                write!(
                    f,
                    "{server} wants you to log in, and nothing here can ask you to: log in first, then try again"
                )
            }
            Self::Denied {
                server,
                error,
                description,
            } => {
                write!(f, "the login for {server} was refused: {error}")?;
                describe(f, description.as_deref())
            }
            Self::Login { server, .. } => write!(f, "the login for {server} could not be made"),
            Self::LoginTimeout { server, limit } => {
                write!(f, "no one finished the login for {server} within {limit:?}")
            }
            Self::NoClient {
                issuer,
                redirect_uri,
            } => {
                write!(
                    f,
                    "{issuer} does not register clients by itself: register one there"
                )?;
                if let Some(uri) = redirect_uri {
                    write!(f, " with the redirect URI {uri}")?;
                }
                write!(f, ", then configure its client id")
            }
            Self::Refused { server, violation } => {
                write!(f, "authorization for {server} was stopped: {violation}")
            }
            Self::NoAuthorizationServer { server, detail } => {
                write!(
                    f,
                    "{server} requires authorization but names no usable authorization server: {detail}"
                )
            }
            Self::Rejected {
                action,
                url,
                error,
                description,
            } => {
                write!(f, "{action} failed, {url} rejected the request: {error}")?;
                describe(f, description.as_deref())
            }
            Self::Unavailable { url, .. } => write!(f, "{url} is not available; try again later"),
            Self::Malformed { url, detail } => write!(f, "invalid response from {url}: {detail}"),
            Self::TokenRefused { server } => {
                write!(
                    f,
                    "{server} refuses the token that was just issued for it: the server and its authorization server \
                     do not agree; tell its operator"
                )
            }
            Self::ScopeRefused { server, scope } => {
                write!(
                    f,
                    "{server} wants the scopes '{scope}', which were asked for but did not \
                     help: your account may lack a permission"
                )
            }
            Self::Store { action, .. } => write!(f, "the token store failed while {action}"),
        }
    }
}

fn describe(f: &mut fmt::Formatter<'_>, description: Option<&str>) -> fmt::Result {
    match description {
        Some(words) => write!(f, " ({words})"),
        None => Ok(()),
    }
}

impl Error for AuthError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Login { source, .. }
            | Self::Unavailable { source, .. }
            | Self::Store { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}

impl std::error::Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource { resource } => {
                write!(f, "its metadata is that of another resource, {resource}")
            }
            Self::Issuer { expected, found } => {
                write!(f, "the metadata of {expected} claims to be that of {found}")
            }
            Self::CallbackIssuer {
                expected,
                found: Some(found),
            } => {
                write!(
                    f,
                    "the login was asked of {expected} but answered by {found}"
                )
            }
            Self::CallbackIssuer {
                expected,
                found: None,
            } => {
                write!(
                    f,
                    "the answer to the login does not say that it comes from {expected}"
                )
            }
            Self::State => write!(f, "the answer belongs to another login"),
            Self::NoPkce { issuer } => {
                write!(
                    f,
                    "{issuer} does not say that it protects logins with PKCE (S256)"
                )
            }
            Self::Url { url, reason } => write!(f, "{url} must not be contacted: {reason}"),
            Self::ForeignClient {
                issuer,
                registered_with,
            } => write!(
                f,
                "it now wants tokens of {issuer}, but the configured client belongs to {registered_with}"
            ),
        }
    }
}
