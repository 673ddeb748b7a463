//! Where tokens and client registrations live between requests, and between runs.

use std::fmt;

use async_trait::async_trait;
use mcp_transport::{BoxError, Secret};

pub(crate) mod file;
#[cfg(feature = "keyring")]
pub(crate) mod keyring;
pub(crate) mod memory;

/// Keeps secrets by name.
///
/// The values are opaque and secret: tokens, client secrets, keys. The names are not secret; they
/// say which server or which authorization server a value belongs to.
///
/// Several providers, in several processes, may share one store. So [`lock`](Self::lock) is part
/// of the contract: a refresh token that may be used only once is read, used and replaced under
/// it. A store that cannot lock across processes must not be shared between them.
#[async_trait]
pub trait TokenStore: fmt::Debug + Send + Sync {
    /// The value of a name, if it has one.
    async fn load(&self, name: &str) -> Result<Option<Secret>, BoxError>;

    /// Replaces the value of a name, all at once: nobody ever sees half of it.
    async fn save(&self, name: &str, value: &Secret) -> Result<(), BoxError>;

    /// Takes a name's value away, if it has one.
    async fn remove(&self, name: &str) -> Result<(), BoxError>;

    /// Waits until nobody else holds this name, then holds it until the answer is dropped. The
    /// caller bounds the wait by dropping the future.
    async fn lock(&self, name: &str) -> Result<StoreLock, BoxError>;
}

/// Holds a name of a [`TokenStore`]; dropping it lets go.
pub struct StoreLock {
    _held: Box<dyn Send + Sync>,
}

impl StoreLock {
    /// Wraps whatever lets go when dropped.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self {
            _held: Box::new(held),
        }
    }
}

impl fmt::Debug for StoreLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreLock")
    }
}
