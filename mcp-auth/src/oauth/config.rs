//! The configuration of a provider.

use std::sync::Arc;

use crate::AuthLimits;
use crate::identity::assertion::Assertion;
use crate::identity::client::RegisteredClient;
use crate::login::authorizer::Authorizer;
use crate::token::id_jag::EnterpriseLogin;

/// The configuration of a provider.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) client_name: String,
    pub(crate) registered: Option<RegisteredClient>,
    /// The URL of our metadata document.
    pub(crate) document: Option<String>,
    pub(crate) authorizer: Option<Arc<dyn Authorizer>>,
    pub(crate) grant: Grant,
    pub(crate) dpop: Dpop,
    pub(crate) resource: ResourceParameter,
    pub(crate) pkce: Pkce,
    pub(crate) limits: AuthLimits,
}

/// The way tokens are obtained.
#[derive(Debug)]
pub(crate) enum Grant {
    /// A person logs in.
    Login,
    /// Client credentials.
    ClientCredentials,
    /// An enterprise's identity provider.
    Enterprise(EnterpriseLogin),
    /// Workload identity.
    Workload(Assertion),
}

/// When tokens are bound to a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Dpop {
    /// If the server requests it.
    WhenAsked,
    /// Always; a token that is not bound is rejected.
    Always,
}

/// The `resource` parameter (RFC 8707).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum ResourceParameter {
    /// The identifier from the server's metadata, byte for byte; else the server's URL.
    #[default]
    FromServer,
    /// None, for authorization servers that reject the parameter.
    Omit,
    /// This text.
    Exactly(String),
}

/// Whether an authorization server must declare PKCE support.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pkce {
    MustBeAdvertised,
    Presumed,
}
