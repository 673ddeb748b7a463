//! The content of tool results, in pieces that every wire supports.

use std::borrow::Cow;

use mcp_jsonrpc::model::{ContentBlock, flatten};

use crate::conversation::media::{Media, MediaSource};
use crate::conversation::part::UserPart;
use crate::conversation::tool_result::ToolResult;
use crate::json::text::minify;
use crate::request::Omitted;

/// The user's turn before a conversation that the assistant begins, on wires that refuse one without.
pub(crate) const ASSISTANT_FIRST: &str = "(The assistant begins.)";

/// A piece of content.
#[derive(Clone, Debug)]
pub(crate) enum Piece<'a> {
    Text(Cow<'a, str>),
    Media(MediaRef<'a>),
}

/// An image, a sound or a file, borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediaRef<'a> {
    pub(crate) kind: Kind,
    pub(crate) mime_type: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) source: SourceRef<'a>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Image,
    Audio,
    File,
}

/// Where the bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SourceRef<'a> {
    Data(&'a str),
    Url(&'a str),
    FileId(&'a str),
    /// Nowhere a provider could find it.
    Absent,
}

impl<'a> MediaRef<'a> {
    pub(crate) fn new(kind: Kind, media: &'a Media) -> Self {
        Self {
            kind,
            mime_type: media.mime_type.as_deref(),
            name: media.name.as_deref(),
            source: match &media.source {
                MediaSource::Data(data) => SourceRef::Data(data),
                MediaSource::Url(url) => SourceRef::Url(url),
                MediaSource::FileId(id) => SourceRef::FileId(id),
                MediaSource::Stored(_) => SourceRef::Absent,
            },
        }
    }

    /// Leaves it out and returns the placeholder for the model.
    pub(crate) fn omit(&self, omitted: &mut Vec<Omitted>) -> String {
        let placeholder = self.placeholder();
        omitted.push(Omitted::Media(placeholder.clone()));
        placeholder
    }

    /// The placeholder for content that cannot be sent.
    pub(crate) fn placeholder(&self) -> String {
        let kind = match self.kind {
            Kind::Image => "Image",
            Kind::Audio => "Audio",
            Kind::File => "File",
        };
        let what = match self.source {
            SourceRef::Url(place) | SourceRef::FileId(place) => Some(place),
            SourceRef::Data(_) if self.kind != Kind::File => self.mime_type,
            _ => self.name.or(self.mime_type),
        };
        format!("[{kind}: {}]", what.unwrap_or("unknown"))
    }

    /// Whether the bytes, if they are here, are of a kind that `knows` knows. Of bytes elsewhere
    /// the provider will see for itself.
    pub(crate) fn is_known(&self, knows: impl FnOnce(&str) -> bool) -> bool {
        match self.source {
            SourceRef::Data(_) => self.mime_type.is_some_and(knows),
            SourceRef::Absent => false,
            _ => true,
        }
    }

    /// The bytes in base64, if they are here and not more than `limit`.
    pub(crate) fn data(&self, limit: usize) -> Option<&'a str> {
        match self.source {
            SourceRef::Data(data) if data.len() <= limit => Some(data),
            _ => None,
        }
    }

    /// The bytes as a `data:` URL, or where they are on the web.
    pub(crate) fn url(&self, limit: usize) -> Option<Cow<'a, str>> {
        match self.source {
            SourceRef::Url(url) => Some(Cow::Borrowed(url)),
            _ => {
                let (mime_type, data) = (self.mime_type?, self.data(limit)?);
                Some(Cow::Owned(format!("data:{mime_type};base64,{data}")))
            }
        }
    }
}

/// What the user says, in pieces.
pub(crate) fn user_piece(part: &UserPart) -> Piece<'_> {
    match part {
        UserPart::Text { text } => Piece::Text(Cow::Borrowed(text)),
        UserPart::Image(media) => Piece::Media(MediaRef::new(Kind::Image, media)),
        UserPart::Audio(media) => Piece::Media(MediaRef::new(Kind::Audio, media)),
        UserPart::File(media) => Piece::Media(MediaRef::new(Kind::File, media)),
    }
}

/// What a tool answered, in pieces. Structured content counts only where there is nothing else.
pub(crate) fn result_pieces(result: &ToolResult) -> Vec<Piece<'_>> {
    match (&result.structured, result.content.is_empty()) {
        (Some(structured), true) => vec![Piece::Text(Cow::Owned(minify(structured.get())))],
        _ => result.content.iter().map(piece).collect(),
    }
}

fn piece(block: &ContentBlock) -> Piece<'_> {
    let data = |kind, mime_type, data| {
        Piece::Media(MediaRef {
            kind,
            mime_type,
            name: None,
            source: SourceRef::Data(data),
        })
    };
    match block {
        ContentBlock::Text(content) => Piece::Text(Cow::Borrowed(&content.text)),
        ContentBlock::Image(content) => {
            data(Kind::Image, Some(content.mime_type.as_str()), &content.data)
        }
        ContentBlock::Audio(content) => {
            data(Kind::Audio, Some(content.mime_type.as_str()), &content.data)
        }
        ContentBlock::Resource(content) => {
            let resource = &content.resource;
            match (&resource.text, &resource.blob) {
                (Some(text), _) => Piece::Text(Cow::Borrowed(text)),
                (None, Some(blob)) => {
                    let mime_type = resource.mime_type.as_deref();
                    let kind = match mime_type.and_then(|kind| kind.split('/').next()) {
                        Some("image") => Kind::Image,
                        Some("audio") => Kind::Audio,
                        _ => Kind::File,
                    };
                    let source = SourceRef::Data(blob);
                    Piece::Media(MediaRef {
                        kind,
                        mime_type,
                        name: Some(&resource.uri),
                        source,
                    })
                }
                (None, None) => placeholder(block),
            }
        }
        _ => placeholder(block),
    }
}

/// What stands for content that no wire has a place for.
fn placeholder(block: &ContentBlock) -> Piece<'_> {
    Piece::Text(Cow::Owned(flatten(std::slice::from_ref(block))))
}

/// The kinds of image that every provider with eyes knows.
pub(crate) fn is_web_image(mime_type: &str) -> bool {
    matches!(
        mime_type,
        "image/png" | "image/jpeg" | "image/webp" | "image/gif"
    )
}

/// The kinds of file that can be read as a document.
pub(crate) fn is_document(mime_type: &str) -> bool {
    mime_type == "application/pdf" || mime_type.starts_with("text/")
}
