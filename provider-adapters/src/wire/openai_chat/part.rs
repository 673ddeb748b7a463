//! Content parts of Chat Completions.

use std::borrow::Cow;

use super::dialect::Dialect;
use crate::adapter::content::{Kind, MediaRef, SourceRef, is_document, is_web_image};
use crate::conversation::part::AssistantPart;
use crate::json::writer::{Json, Object, typed};

/// A part on its way into a message.
#[derive(Debug)]
pub(crate) enum Note<'a> {
    Text(Cow<'a, str>),
    Part(Object<'a>),
}

/// A message's content: a string if there is only text, else a list.
pub(crate) fn say(parts: Vec<Note<'_>>, text_only: bool) -> Json<'_> {
    if text_only {
        let mut texts = parts.into_iter().filter_map(|part| match part {
            Note::Text(text) => Some(text),
            Note::Part(_) => None,
        });
        let first = texts.next().unwrap_or_default();
        let all = texts.fold(first, |all, text| Cow::Owned(format!("{all}\n{text}")));
        return all.into();
    }
    let list: Vec<Object<'_>> = parts
        .into_iter()
        .map(|part| match part {
            Note::Text(text) => typed("text").set("text", text),
            Note::Part(part) => part,
        })
        .collect();
    list.into()
}

/// An image, a sound or a file, if the dialect knows it.
pub(crate) fn media_part<'a>(
    media: &MediaRef<'a>,
    dialect: &Dialect,
    limit: usize,
) -> Option<Object<'a>> {
    match media.kind {
        Kind::Image if dialect.images && media.is_known(is_web_image) => {
            let url = Object::default().set("url", media.url(limit)?);
            Some(typed("image_url").set("image_url", url))
        }
        Kind::Audio if dialect.audio => {
            let format = match media.mime_type? {
                "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
                "audio/mpeg" | "audio/mp3" => "mp3",
                _ => return None,
            };
            let audio = Object::default()
                .set("data", media.data(limit)?)
                .set("format", format);
            Some(typed("input_audio").set("input_audio", audio))
        }
        Kind::File if dialect.files && media.is_known(is_document) => {
            let file = match media.source {
                SourceRef::FileId(id) => Object::default().set("file_id", id),
                SourceRef::Url(_) | SourceRef::Absent => return None,
                SourceRef::Data(_) => Object::default()
                    .set("filename", media.name.unwrap_or("file"))
                    .set("file_data", media.url(limit)?),
            };
            Some(typed("file").set("file", file))
        }
        _ => None,
    }
}

/// The placeholder for media a model made that cannot be sent back.
pub(crate) fn shown(part: &AssistantPart) -> String {
    let (kind, media) = match part {
        AssistantPart::Image(media) => (Kind::Image, media),
        AssistantPart::Audio(media) => (Kind::Audio, media),
        AssistantPart::File(media) => (Kind::File, media),
        _ => return String::new(),
    };
    MediaRef::new(kind, media).placeholder()
}
