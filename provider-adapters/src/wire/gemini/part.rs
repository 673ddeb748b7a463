//! Parts of a Gemini turn.

use std::borrow::Cow;

use crate::adapter::content::{MediaRef, SourceRef, is_document};
use crate::adapter::wire_call::WireCall;
use crate::json::writer::{Json, Object};

/// Stands in for the signature of a call that another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(crate) fn text_part(text: Cow<'_, str>) -> Json<'_> {
    Object::default().set("text", text).into()
}

/// A call of another model. The first of a turn must be signed.
pub(crate) fn call_part<'a>(call: &WireCall<'a>, first: bool) -> Object<'a> {
    let function = Object::default()
        .set("id", call.id.clone())
        .set("name", call.name.clone())
        .set("args", Json::Raw(call.arguments.clone()));
    Object::default()
        .set("functionCall", function)
        .maybe("thoughtSignature", first.then_some(NO_SIGNATURE))
}

/// An image, a sound or a file.
pub(crate) fn media_part<'a>(media: &MediaRef<'a>, limit: usize) -> Option<Object<'a>> {
    let known = |kind: &str| match kind.split_once('/') {
        Some(("image", image)) => matches!(image, "png" | "jpeg" | "webp" | "heic" | "heif"),
        Some(("audio" | "video", _)) => true,
        _ => is_document(kind),
    };
    if !media.is_known(known) {
        return None;
    }
    match media.source {
        SourceRef::Data(_) => {
            let blob = Object::default()
                .set("mimeType", media.mime_type?)
                .set("data", media.data(limit)?);
            Some(Object::default().set("inlineData", blob))
        }
        SourceRef::Url(uri) | SourceRef::FileId(uri) => {
            let file = Object::default()
                .maybe("mimeType", media.mime_type)
                .set("fileUri", uri);
            Some(Object::default().set("fileData", file))
        }
        SourceRef::Absent => None,
    }
}
