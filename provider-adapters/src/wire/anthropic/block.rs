//! Content blocks for images and files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::adapter::content::{Kind, MediaRef, SourceRef, is_web_image};
use crate::json::writer::{Object, typed};

/// An image or a document, if the server knows its kind. It knows no sound.
pub(crate) fn media_block<'a>(media: &MediaRef<'a>, limit: usize) -> Option<Object<'a>> {
    match media.kind {
        Kind::Image => {
            let source = source(media, limit, is_web_image)?;
            Some(typed("image").set("source", source))
        }
        Kind::File => {
            let source = match plain_text(media, limit) {
                Some(text) => typed("text")
                    .set("media_type", "text/plain")
                    .set("data", text),
                None => source(media, limit, |kind| kind == "application/pdf")?,
            };
            Some(
                typed("document")
                    .set("source", source)
                    .maybe("title", media.name),
            )
        }
        Kind::Audio => None,
    }
}

/// The text of a file that is text.
fn plain_text(media: &MediaRef<'_>, limit: usize) -> Option<String> {
    let is_text = media
        .mime_type
        .is_some_and(|kind| kind.starts_with("text/"));
    let bytes = STANDARD
        .decode(media.data(limit).filter(|_| is_text)?)
        .ok()?;
    String::from_utf8(bytes).ok()
}

fn source<'a>(
    media: &MediaRef<'a>,
    limit: usize,
    knows: impl FnOnce(&str) -> bool,
) -> Option<Object<'a>> {
    match media.source {
        SourceRef::Url(url) => Some(typed("url").set("url", url)),
        SourceRef::FileId(id) => Some(typed("file").set("file_id", id)),
        SourceRef::Absent => None,
        SourceRef::Data(_) => {
            let mime_type = media.mime_type.filter(|kind| knows(kind))?;
            let data = media.data(limit)?;
            Some(
                typed("base64")
                    .set("media_type", mime_type)
                    .set("data", data),
            )
        }
    }
}
