//! Images, sound and files: saved, and shown as a path.

use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::home;
use crate::store::BlobId;

/// The parts of a tool's response that are not text: media type and base64.
pub(crate) fn parts(response: &Value) -> Vec<(&str, &str)> {
    let content = response.get("content").and_then(Value::as_array);
    let mut found = Vec::new();
    for block in content.into_iter().flatten() {
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        if matches!(text("type"), Some("image" | "audio"))
            && let (Some(mime), Some(data)) = (text("mimeType"), text("data"))
        {
            found.push((mime, data));
        }
    }
    found
}

/// Saves bytes in a folder readable by its owner only, and returns the path.
pub(crate) fn save(folder: &Path, mime: &str, base64: &str) -> io::Result<PathBuf> {
    let bytes = STANDARD.decode(base64).map_err(io::Error::other)?;
    let mut make = DirBuilder::new();
    make.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut make, 0o700);
    make.create(folder)?;
    let path = folder.join(format!("{}.{}", BlobId::fresh(), extension(mime)));
    let mut file = home::private().write(true).create_new(true).open(&path)?;
    file.write_all(&bytes)?;
    Ok(path)
}

/// What a file of this type is usually called; never anything that runs.
fn extension(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "text/plain" => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn images_and_sounds_are_saved_under_their_type() {
        let folder = tempfile::tempdir().unwrap();
        let response = json!({"content": [
            {"type": "text", "text": "here"},
            {"type": "image", "mimeType": "image/png", "data": "AAEC"},
        ]});
        let found = parts(&response);
        assert_eq!(found, [("image/png", "AAEC")]);
        let path = save(folder.path(), found[0].0, found[0].1).unwrap();
        assert_eq!(path.extension().unwrap(), "png");
        assert_eq!(std::fs::read(path).unwrap(), [0, 1, 2]);
        assert!(save(folder.path(), "image/png", "not base64!").is_err());
    }
}
