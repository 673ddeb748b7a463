//! The files and the whole results of a conversation, for its export.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Attached, attached};
use crate::store::{Blob, BlobId, Message, Store, StoreError, ToolCall};

/// The most bytes that an export has of them all; of further files it has the names.
const EXPORTED: usize = 256 << 20;

/// The bytes of a conversation's files, and of the results that messages have in part.
#[derive(Debug, Default)]
pub(crate) struct Files {
    bytes: BTreeMap<BlobId, Vec<u8>>,
    results: BTreeMap<BlobId, Value>,
}

impl Files {
    /// Reads the files of these messages, and the whole results of their calls.
    pub(crate) async fn read(store: &dyn Store, messages: &[Message]) -> Result<Self, StoreError> {
        let (mut files, mut room) = (Self::default(), EXPORTED);
        for message in messages {
            for file in attached(message) {
                let found = store.blob(&message.conversation_id, &file.blob).await?;
                if let Some(blob) = found.filter(|blob| blob.bytes.len() <= room) {
                    room -= blob.bytes.len();
                    files.bytes.insert(blob.id, blob.bytes);
                }
            }
            let results = message.tool_calls.iter();
            for id in results.filter_map(|call| call.result_blob.as_ref()) {
                let found = store.blob(&message.conversation_id, id).await?;
                if let Some(blob) = found.filter(|blob| blob.bytes.len() <= room) {
                    room -= blob.bytes.len();
                    files.results.insert(blob.id.clone(), whole(&blob));
                }
            }
        }
        Ok(files)
    }

    /// A call's result: whole, if it is here.
    pub(crate) fn response<'a>(&'a self, call: &'a ToolCall) -> Option<&'a Value> {
        let whole = call.result_blob.as_ref();
        let whole = whole.and_then(|id| self.results.get(id));
        whole.or(call.response.as_ref())
    }

    /// A file in base64, if it is here.
    pub(crate) fn base64(&self, file: &Attached) -> Option<String> {
        self.bytes
            .get(&file.blob)
            .map(|bytes| STANDARD.encode(bytes))
    }
}

/// A result as its tool answered: one that is nothing but text is stored as that text.
fn whole(blob: &Blob) -> Value {
    let parsed = || serde_json::from_slice(&blob.bytes).ok();
    let parsed: Option<Value> = (blob.mime == "application/json").then(parsed).flatten();
    parsed.unwrap_or_else(|| {
        let text = String::from_utf8_lossy(&blob.bytes);
        json!({ "content": [{ "type": "text", "text": text }] })
    })
}
