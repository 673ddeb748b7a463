//! Files that a user sends with a message: read, checked, and made part of the user's turn.
//!
//! The bytes are stored once, as a blob of the conversation. The turn only names the blob, so that
//! a run's state stays small; [`WithAttachments`] puts the bytes in its place when the model is asked.

mod file;
mod files;
mod sent;

use std::fmt;

use provider_adapters::{Media, MediaSource, Turn, UserPart, UserTurn};
use serde_json::{Value, json};

use crate::conversation::fork::whole;
use crate::models::Choice;
use crate::store::{Blob, BlobId, ConversationId, Message, Role};

pub use file::Attachment;
pub(crate) use files::Files;
pub(crate) use sent::WithAttachments;

/// The most files of one message.
pub(crate) const MAX_FILES: usize = 16;
/// The most bytes of one message's files together: what providers take in one request.
pub(crate) const MAX_BYTES: usize = 15 << 20;

/// What a user says: words, files, or both.
#[derive(Clone, Debug, Default)]
pub struct UserMessage {
    text: String,
    attachments: Vec<Attachment>,
    /// Files that are stored already.
    kept: Vec<UserPart>,
}

impl UserMessage {
    /// Words with files.
    ///
    /// # Errors
    /// If there are more than 16 files, or they have more than 15 MiB together.
    pub fn new(
        text: impl Into<String>,
        attachments: Vec<Attachment>,
    ) -> Result<Self, AttachmentError> {
        if attachments.len() > MAX_FILES {
            let reason = format!(
                "there are {} files, and a message takes {MAX_FILES}",
                attachments.len()
            );
            return Err(AttachmentError::of(MAX_FILES, reason));
        }
        let mut bytes = 0;
        for (index, attachment) in attachments.iter().enumerate() {
            bytes += attachment.len();
            if bytes > MAX_BYTES {
                let reason = format!(
                    "with {} the files of this message are larger than {} MiB together",
                    attachment.name(),
                    MAX_BYTES >> 20
                );
                return Err(AttachmentError::of(index, reason));
            }
        }
        Ok(Self {
            text: text.into(),
            attachments,
            kept: Vec::new(),
        })
    }

    /// Whether nothing is said at all.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.attachments.is_empty()
    }

    /// The words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// With the files of a message that it stands for, which are not stored again.
    pub(super) fn with_files_of(mut self, before: &Message) -> Self {
        let turns = whole(before).unwrap_or_default().into_iter();
        let parts = turns.flat_map(|turn| match turn {
            Turn::User(turn) => turn.parts,
            _ => Vec::new(),
        });
        self.kept = parts.filter(is_stored).collect();
        self
    }

    /// What it is about, in a line: its words, or the name of its first file.
    pub(super) fn subject(&self) -> &str {
        match self.attachments.first() {
            Some(first) if self.text.trim().is_empty() => first.name(),
            _ => &self.text,
        }
    }

    /// Whether this model can be sent all of it, before anything is sent.
    ///
    /// # Errors
    /// If the model, or the wire it is asked over, cannot take one of the files.
    pub fn check(&self, choice: &Choice) -> Result<(), AttachmentError> {
        let new = self.attachments.iter();
        let new = new.map(|file| (file.name(), file.mime_type()));
        let kept = self.kept.iter().filter_map(media_of).map(|media| {
            let name = media.name.as_deref().unwrap_or_default();
            (name, media.mime_type.as_deref().unwrap_or_default())
        });
        for (index, (name, mime_type)) in new.chain(kept).enumerate() {
            // Every model reads text.
            let refusal = choice.refusal(mime_type);
            if let Some(reason) = refusal.filter(|_| !mime_type.starts_with("text/")) {
                let reason = format!("{name} cannot be sent: {reason}");
                return Err(AttachmentError::of(index, reason));
            }
        }
        Ok(())
    }

    /// The user's turn, and the blobs that it names.
    pub(super) fn into_turn(self, conversation: &ConversationId) -> (UserTurn, Vec<Blob>) {
        let (mut parts, mut blobs) = (self.kept, Vec::new());
        for attachment in self.attachments {
            let (name, mime_type) = (attachment.name().to_owned(), attachment.mime_type());
            let blob = Blob::new(conversation.clone(), mime_type, attachment.into_bytes());
            let media = Media::stored(blob.id.as_str())
                .with_mime_type(mime_type)
                .with_name(name);
            parts.push(match mime_type.split('/').next() {
                Some("image") => UserPart::Image(media),
                Some("audio") => UserPart::Audio(media),
                _ => UserPart::File(media),
            });
            blobs.push(blob);
        }
        if !self.text.is_empty() || parts.is_empty() {
            parts.push(UserPart::text(self.text));
        }
        (UserTurn::new(parts), blobs)
    }
}

impl From<&str> for UserMessage {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

impl From<String> for UserMessage {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// Why a file cannot go with a message.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AttachmentError {
    /// Which file of the message, from 0.
    pub index: usize,
    reason: String,
}

impl AttachmentError {
    fn of(index: usize, reason: impl Into<String>) -> Self {
        Self {
            index,
            reason: reason.into(),
        }
    }

    /// The same about another file of the message.
    #[must_use]
    pub fn at(mut self, index: usize) -> Self {
        self.index = index;
        self
    }
}

impl fmt::Display for AttachmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for AttachmentError {}

/// A stored file of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Attached {
    pub(crate) blob: BlobId,
    pub(crate) name: String,
    pub(crate) mime_type: String,
}

impl Attached {
    /// As the API shows it.
    pub(crate) fn view(&self) -> Value {
        json!({ "id": self.blob, "name": self.name, "mimeType": self.mime_type })
    }
}

/// The files of a stored message, in order.
pub(crate) fn attached(message: &Message) -> Vec<Attached> {
    let raw = message.provider_raw.as_deref();
    let raw = raw.filter(|_| message.role == Role::User);
    let turns: Option<Vec<Turn>> = raw.and_then(|raw| serde_json::from_str(raw).ok());
    let mut turns = turns.unwrap_or_default();
    let named = stored(&mut turns)
        .into_iter()
        .map(|(blob, media)| Attached {
            blob,
            name: media.name.clone().unwrap_or_default(),
            mime_type: media.mime_type.clone().unwrap_or_default(),
        });
    named.collect()
}

/// Whether a part is a stored file.
pub(super) fn is_stored(part: &UserPart) -> bool {
    media_of(part).is_some_and(|media| matches!(media.source, MediaSource::Stored(_)))
}

fn media_of(part: &UserPart) -> Option<&Media> {
    match part {
        UserPart::Image(media) | UserPart::Audio(media) | UserPart::File(media) => Some(media),
        _ => None,
    }
}

/// What of these turns is a stored file of the user's.
pub(super) fn stored(turns: &mut [Turn]) -> Vec<(BlobId, &mut Media)> {
    let mut found = Vec::new();
    for turn in turns {
        let Turn::User(turn) = turn else { continue };
        for part in &mut turn.parts {
            if let UserPart::Image(media) | UserPart::Audio(media) | UserPart::File(media) = part
                && let MediaSource::Stored(id) = &media.source
            {
                found.push((BlobId::new(id), media));
            }
        }
    }
    found
}
