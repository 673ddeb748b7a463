//! Secrets in memory, for the lifetime of the process.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_transport::{BoxError, Secret};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::store::{StoreLock, TokenStore};

/// Keeps everything in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    values: Mutex<BTreeMap<String, Secret>>,
    locks: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl TokenStore for MemoryStore {
    async fn load(&self, name: &str) -> Result<Option<Secret>, BoxError> {
        Ok(self.values.lock().get(name).cloned())
    }

    async fn save(&self, name: &str, value: &Secret) -> Result<(), BoxError> {
        self.values.lock().insert(name.to_owned(), value.clone());
        Ok(())
    }

    async fn remove(&self, name: &str) -> Result<(), BoxError> {
        self.values.lock().remove(name);
        Ok(())
    }

    async fn lock(&self, name: &str) -> Result<StoreLock, BoxError> {
        let semaphore = self
            .locks
            .lock()
            .entry(name.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(1)))
            .clone();
        Ok(StoreLock::new(semaphore.acquire_owned().await?))
    }
}
