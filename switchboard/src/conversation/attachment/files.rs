//! The files of a conversation, for its export.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Attached, attached};
use crate::store::{BlobId, Message, Store, StoreError};

/// The most bytes that an export has of them all; of further files it has the names.
const EXPORTED: usize = 256 << 20;

/// The bytes of a conversation's files.
#[derive(Debug, Default)]
pub(crate) struct Files {
    bytes: BTreeMap<BlobId, Vec<u8>>,
}

impl Files {
    /// Reads the files of these messages.
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
        }
        Ok(files)
    }

    /// A file in base64, if it is here.
    pub(crate) fn base64(&self, file: &Attached) -> Option<String> {
        self.bytes
            .get(&file.blob)
            .map(|bytes| STANDARD.encode(bytes))
    }
}
