//! Stores for tokens and client registrations.

use std::fmt;

use async_trait::async_trait;
use mcp_transport::{BoxError, Secret};

pub(crate) mod file;
#[cfg(feature = "keyring")]
pub(crate) mod keyring;
pub(crate) mod memory;

/// A store of secrets by name.
///
/// The values are opaque and secret: tokens, client secrets, keys. The names are not secret; they identify the server
/// or the authorization server of a value.
///
/// Several providers, in several processes, may share one store. Therefore [`lock`](Self::lock) is part of the
/// contract: a refresh token that may be used only once is read, used and replaced under it. A store that cannot lock
/// across processes must not be shared between them.
#[async_trait]
pub trait TokenStore: fmt::Debug + Send + Sync {
    /// The value of a name, if it has one.
    async fn load(&self, name: &str) -> Result<Option<Secret>, BoxError>;

    /// Replaces the value of a name, atomically.
    async fn save(&self, name: &str, value: &Secret) -> Result<(), BoxError>;

    /// Removes a name's value, if it has one.
    async fn remove(&self, name: &str) -> Result<(), BoxError>;

    /// Acquires the lock of this name, which is held until the result is dropped. To limit the wait, the caller drops
    /// the future.
    async fn lock(&self, name: &str) -> Result<StoreLock, BoxError>;
}

/// The lock of a name in a [`TokenStore`]; released on drop.
pub struct StoreLock {
    _held: Box<dyn Send + Sync>,
}

impl StoreLock {
    /// Wraps a guard that releases the lock on drop.
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
