//! Images, audio and files.

use serde::{Deserialize, Serialize};

/// An image, audio or a file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Media {
    /// Its media type, such as `image/png`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// A file's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The source of its bytes.
    #[serde(flatten)]
    pub source: MediaSource,
}

/// The source of the bytes of an image, audio or a file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaSource {
    /// Inline, in base64.
    Data(String),
    /// At a URL; the provider fetches them.
    Url(String),
    /// At the provider, under this id.
    FileId(String),
    /// Stored by the caller, under this id. The caller inserts the bytes before sending the request; no wire can send a
    /// stored source.
    Stored(String),
}

impl Media {
    /// Creates media with bytes in base64.
    pub fn data(mime_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self {
            mime_type: Some(mime_type.into()),
            name: None,
            source: MediaSource::Data(base64.into()),
        }
    }

    /// Creates media at a URL.
    pub fn url(url: impl Into<String>) -> Self {
        Self {
            mime_type: None,
            name: None,
            source: MediaSource::Url(url.into()),
        }
    }

    /// Creates media that the provider already has.
    pub fn file_id(id: impl Into<String>) -> Self {
        Self {
            mime_type: None,
            name: None,
            source: MediaSource::FileId(id.into()),
        }
    }

    /// Creates media whose bytes are inserted later, just before they are sent.
    pub fn stored(id: impl Into<String>) -> Self {
        Self {
            mime_type: None,
            name: None,
            source: MediaSource::Stored(id.into()),
        }
    }

    /// Sets the media type, where the source does not include it.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the file name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}
