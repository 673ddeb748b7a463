//! Storage of OAuth tokens: sealed with a key in the keyring, or in private files.

use std::sync::Arc;

use mcp_auth::{FileStore, TokenStore};

use crate::home;
use crate::store::UserId;

/// The tokens of a user's servers. With a keyring, new ones are sealed by it; without, they are in
/// files that only their owner can read.
pub(super) fn tokens(user: &UserId) -> Arc<dyn TokenStore> {
    let folder = home::folder_of(user).join("tokens");
    let plain = FileStore::new(folder.join("plain"));
    #[cfg(feature = "keyring")]
    if super::secret::keyring_allowed() {
        let sealed = mcp_auth::KeyringStore::new("switchboard", folder.join("sealed"));
        return Arc::new(sealed::Sealed { sealed, plain });
    }
    Arc::new(plain)
}

#[cfg(feature = "keyring")]
mod sealed {
    use async_trait::async_trait;
    use mcp_auth::{FileStore, KeyringStore, StoreLock, TokenStore};
    use mcp_transport::{BoxError, Secret};

    /// The keyring where there is one, files where there is none.
    #[derive(Debug)]
    pub(super) struct Sealed {
        pub(super) sealed: KeyringStore,
        pub(super) plain: FileStore,
    }

    #[async_trait]
    impl TokenStore for Sealed {
        async fn load(&self, name: &str) -> Result<Option<Secret>, BoxError> {
            match self.sealed.load(name).await {
                Ok(Some(value)) => Ok(Some(value)),
                Ok(None) | Err(_) => self.plain.load(name).await,
            }
        }

        async fn save(&self, name: &str, value: &Secret) -> Result<(), BoxError> {
            match self.sealed.save(name, value).await {
                // One that an earlier run had to leave in the open is not needed any more.
                Ok(()) => self.plain.remove(name).await,
                Err(_) => self.plain.save(name, value).await,
            }
        }

        async fn remove(&self, name: &str) -> Result<(), BoxError> {
            self.plain.remove(name).await?;
            self.sealed.remove(name).await
        }

        async fn lock(&self, name: &str) -> Result<StoreLock, BoxError> {
            self.plain.lock(name).await
        }
    }
}
