//! Images, sound and files of a tool result, stored as blobs beside it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::store::{Blob, BlobId, ConversationId};

/// Base64 up to this length stays where it is.
const SMALL: usize = 1024;

/// Takes long base64 out of an answer. In its place stands `{"blob": ID, "mime": TYPE}`.
pub(super) fn detach(response: &mut Value, conversation: &ConversationId) -> Vec<Blob> {
    let mut blobs = Vec::new();
    each(response, |mime, data| {
        let Some(text) = data.as_str().filter(|text| text.len() > SMALL) else {
            return;
        };
        // What cannot be decoded is not base64 and stays.
        if let Ok(bytes) = STANDARD.decode(text) {
            let blob = Blob::new(conversation.clone(), mime, bytes);
            *data = json!({ "blob": blob.id, "mime": mime });
            blobs.push(blob);
        }
    });
    blobs
}

/// The blobs an answer names, each to be replaced.
pub(super) fn blobs(response: &mut Value) -> Vec<(BlobId, &mut Value)> {
    let mut found = Vec::new();
    let blocks = response.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        if let Some((_, data)) = data_of(block)
            && let Some(blob) = data.get_mut("blob")
            && let Some(id) = blob.as_str().map(BlobId::new)
        {
            found.push((id, blob));
        }
    }
    found
}

fn each(response: &mut Value, mut visit: impl FnMut(&str, &mut Value)) {
    let blocks = response.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        if let Some((mime, data)) = data_of(block) {
            visit(&mime, data);
        }
    }
}

/// The media type and the data of a block of content that is not text.
fn data_of(block: &mut Value) -> Option<(String, &mut Value)> {
    let (holder, name) = match block.get("type")?.as_str()? {
        "image" | "audio" => (block, "data"),
        "resource" => (block.get_mut("resource")?, "blob"),
        _ => return None,
    };
    let mime = holder.get("mimeType").and_then(Value::as_str);
    let mime = mime.unwrap_or("application/octet-stream").to_owned();
    Some((mime, holder.get_mut(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_data_is_taken_out_and_small_or_odd_data_stays() {
        let long = STANDARD.encode([7; 3000]);
        let mut response = json!({"content": [
            {"type": "text", "text": long},
            {"type": "image", "mimeType": "image/png", "data": long},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "audio", "mimeType": "audio/wav", "data": "?".repeat(3000)},
            {"type": "resource", "resource": {"uri": "a:b", "blob": long}},
        ]});
        let before = response.clone();
        let taken = detach(&mut response, &ConversationId::new("c"));
        let mimes: Vec<&str> = taken.iter().map(|blob| blob.mime.as_str()).collect();
        assert_eq!(mimes, ["image/png", "application/octet-stream"]);
        assert!(taken.iter().all(|blob| blob.bytes == [7; 3000]));
        for stays in [0, 2, 3] {
            assert_eq!(response["content"][stays], before["content"][stays]);
        }
        let named: Vec<BlobId> = blobs(&mut response).into_iter().map(|(id, _)| id).collect();
        assert_eq!(named, [taken[0].id.clone(), taken[1].id.clone()]);
        assert!(detach(&mut response, &ConversationId::new("c")).is_empty());
    }
}
