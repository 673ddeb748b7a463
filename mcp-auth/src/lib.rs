#![doc = include_str!("../README.md")]

mod clock;
mod discovery;
mod error;
mod http;
mod identity;
mod login;
mod network;
mod oauth;
mod openid;
mod random;
mod store;
mod token;

pub use error::{AuthError, Cause, Violation};
pub use identity::assertion::{Assertion, AssertionRequest};
pub use identity::client::RegisteredClient;
pub use identity::jwt::{Algorithm, PrivateKey};
pub use login::authorizer::{Authorizer, HostAuthorizer, LoginPrompt, PendingLogin};
pub use login::loopback::LoopbackAuthorizer;
pub use network::PublicNetwork;
pub use oauth::OAuth;
pub use oauth::builder::OAuthBuilder;
pub use oauth::config::ResourceParameter;
pub use oauth::limits::AuthLimits;
pub use openid::{OpenIdClient, OpenIdLogin, OpenIdTokens};
pub use store::file::FileStore;
#[cfg(feature = "keyring")]
pub use store::keyring::KeyringStore;
pub use store::memory::MemoryStore;
pub use store::{StoreLock, TokenStore};
pub use token::id_jag::EnterpriseLogin;
