//! Storage of outputs that are too long for the model.

use std::sync::Arc;

use agent_loop::ResultStore;
use async_trait::async_trait;

use crate::store::{Blob, BlobId, Change, ConversationId, Store};

/// Keeps long tool outputs of a conversation in the store, where the model can read on and users
/// can save them, even after a restart. An output larger than a row of the store (64 MiB by
/// default) is not kept.
#[derive(Clone, Debug)]
pub struct StoredOutputs {
    store: Arc<dyn Store>,
    conversation: ConversationId,
}

impl StoredOutputs {
    /// The outputs of this conversation, which must be stored already when one is kept.
    pub fn new(store: Arc<dyn Store>, conversation: ConversationId) -> Self {
        Self {
            store,
            conversation,
        }
    }

    async fn put(&self, mime: &str, text: &str) -> Option<String> {
        let bytes = text.as_bytes().to_vec();
        let blob = Blob::new(self.conversation.clone(), mime, bytes);
        let id = blob.id.to_string();
        let kept = self.store.commit(vec![Change::PutBlob(blob)]).await;
        kept.ok().map(|_| id)
    }
}

#[async_trait]
impl ResultStore for StoredOutputs {
    async fn keep(&self, text: &str) -> Option<String> {
        self.put("text/plain; charset=utf-8", text).await
    }

    async fn keep_result(&self, json: &str) -> Option<String> {
        self.put("application/json", json).await
    }

    async fn read(&self, id: &str) -> Option<String> {
        let blob = self.store.blob(&self.conversation, &BlobId::new(id)).await;
        let bytes = blob.ok().flatten()?.bytes;
        String::from_utf8(bytes).ok()
    }
}
