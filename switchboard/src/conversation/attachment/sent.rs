//! The bytes of stored files, put into what the model is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use provider_adapters::{
    Adapter, Conversation as Words, Media, MediaSource, Model, ModelError, ReplyStream, Request,
    Turn, UserPart,
};

use super::{is_stored, stored};
use crate::store::{BlobId, ConversationId, Store, StoreError};

/// The most that all files of a request have in base64. Older ones are left out, and the model
/// reads their names.
const SENT: usize = 20 << 20;

/// A model that is sent a conversation's stored files.
#[derive(Debug)]
pub(crate) struct WithAttachments {
    model: Arc<dyn Model>,
    store: Arc<dyn Store>,
    conversation: ConversationId,
    /// What was read already, in base64: what one request may have, at most.
    read: Mutex<BTreeMap<BlobId, Arc<str>>>,
}

impl WithAttachments {
    pub(crate) fn new(
        model: Arc<dyn Model>,
        store: Arc<dyn Store>,
        conversation: ConversationId,
    ) -> Self {
        Self {
            model,
            store,
            conversation,
            read: Mutex::default(),
        }
    }

    /// A blob in base64; nothing if it is gone.
    async fn data(&self, id: &BlobId) -> Result<Option<Arc<str>>, StoreError> {
        if let Some(data) = self.read.lock().get(id) {
            return Ok(Some(Arc::clone(data)));
        }
        let Some(blob) = self.store.blob(&self.conversation, id).await? else {
            return Ok(None);
        };
        let data: Arc<str> = STANDARD.encode(&blob.bytes).into();
        let mut read = self.read.lock();
        if read.values().map(|data| data.len()).sum::<usize>() + data.len() <= SENT {
            read.insert(id.clone(), Arc::clone(&data));
        }
        Ok(Some(data))
    }

    /// The turns with their files in them, the latest files first as long as there is room.
    async fn filled(&self, words: &Words) -> Result<Words, StoreError> {
        let mut turns = words.turns().to_vec();
        let mut room = SENT;
        for turn in turns.iter_mut().rev() {
            for (id, media) in stored(std::slice::from_mut(turn)).into_iter().rev() {
                if room == 0 {
                    break;
                }
                match self.data(&id).await? {
                    Some(data) if data.len() <= room => {
                        room -= data.len();
                        media.source = MediaSource::Data(data.as_ref().to_owned());
                    }
                    // What is older than one that has no room has none either.
                    Some(_) => room = 0,
                    None => {}
                }
            }
        }
        let mut filled = Words::new();
        if let Some(system) = words.system() {
            filled = filled.with_system(system);
        }
        for mut turn in turns {
            if let Turn::User(user) = &mut turn {
                user.parts.iter_mut().for_each(written_out);
            }
            filled.push(turn);
        }
        Ok(filled)
    }
}

/// Text goes as text, which every wire has a place for.
fn written_out(part: &mut UserPart) {
    let UserPart::File(Media {
        mime_type: Some(mime_type),
        name,
        source: MediaSource::Data(data),
        ..
    }) = part
    else {
        return;
    };
    let bytes = STANDARD.decode(data).ok();
    let bytes = bytes.filter(|_| mime_type.starts_with("text/"));
    if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
        let name = name.as_deref().unwrap_or("file");
        *part = UserPart::text(format!(
            "<attachment title=\"{name}\">\n{text}\n</attachment>"
        ));
    }
}

#[async_trait]
impl Model for WithAttachments {
    fn adapter(&self) -> &dyn Adapter {
        self.model.adapter()
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    async fn start(&self, request: &Request) -> Result<Box<dyn ReplyStream>, ModelError> {
        if !has_files(&request.conversation) {
            return self.model.start(request).await;
        }
        let mut request = request.clone();
        let filled = self.filled(&request.conversation).await;
        request.conversation = filled.map_err(|error| ModelError::Setup(error.into()))?;
        self.model.start(&request).await
    }
}

fn has_files(words: &Words) -> bool {
    words.turns().iter().any(|turn| match turn {
        Turn::User(user) => user.parts.iter().any(is_stored),
        _ => false,
    })
}
