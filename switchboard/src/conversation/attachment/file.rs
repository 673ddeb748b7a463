//! One file, and what kind it is.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use super::{AttachmentError, MAX_BYTES, attached};
use crate::store::{Message, Store, StoreError};

/// The longest name, in characters.
const NAME: usize = 200;
/// The most bytes of a text: more than models read.
const TEXT: usize = 1 << 20;
/// What can be attached, for people.
const KINDS: &str = "images (PNG, JPEG, WebP, GIF, HEIC), sound (WAV, MP3, Ogg, FLAC, M4A), PDF, \
    and text in UTF-8 can be attached";

/// A file that can go with a message. Its kind is read from its bytes: what a name or a sender says
/// of them does not count.
#[derive(Clone, Eq, PartialEq)]
pub struct Attachment {
    name: String,
    mime_type: &'static str,
    bytes: Vec<u8>,
}

impl Attachment {
    /// These bytes, under a file's name.
    ///
    /// # Errors
    /// If there are none or too many, or if they are of no kind that can be attached.
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Self, AttachmentError> {
        let name = plain(name);
        let refused = |why: &str| Err(AttachmentError::of(0, format!("{name} {why}")));
        if bytes.is_empty() {
            return refused("is empty");
        }
        if bytes.len() > MAX_BYTES {
            return refused(&format!("is larger than {} MiB", MAX_BYTES >> 20));
        }
        match kind(&bytes) {
            Some("text/plain") if bytes.len() > TEXT => {
                refused(&format!("is a text of more than {} KiB", TEXT >> 10))
            }
            Some(mime_type) => Ok(Self {
                name,
                mime_type,
                bytes,
            }),
            None => refused(&format!("has an unsupported type: {KINDS}")),
        }
    }

    /// The file at this path.
    ///
    /// # Errors
    /// If it cannot be read, or as [`new`](Self::new) does.
    pub fn read(path: &Path) -> Result<Self, AttachmentError> {
        let shown = path.display();
        let unread = |error| AttachmentError::of(0, format!("{shown} cannot be read: {error}"));
        // Looked at first: opening a pipe would wait for who writes to it.
        if !std::fs::metadata(path).map_err(unread)?.is_file() {
            return Err(AttachmentError::of(0, format!("{shown} is not a file")));
        }
        let file = std::fs::File::open(path).map_err(unread)?;
        let mut bytes = Vec::new();
        // One more than it may have, so that a larger one is seen to be.
        let mut limited = file.take(MAX_BYTES as u64 + 1);
        limited.read_to_end(&mut bytes).map_err(unread)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self::new(&name.to_string_lossy(), bytes)
    }

    /// The files of a stored message.
    pub(crate) async fn of_message(
        store: &dyn Store,
        message: &Message,
    ) -> Result<Vec<Self>, StoreError> {
        let mut files = Vec::new();
        for file in attached(message) {
            let found = store.blob(&message.conversation_id, &file.blob).await?;
            let again = found.map(|blob| Self::new(&file.name, blob.bytes));
            files.extend(again.and_then(Result::ok));
        }
        Ok(files)
    }

    /// Its name, without folders.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its media type.
    pub fn mime_type(&self) -> &'static str {
        self.mime_type
    }

    /// Whether it is text, which every model can read.
    pub fn is_text(&self) -> bool {
        self.mime_type.starts_with("text/")
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl fmt::Debug for Attachment {
    /// Without its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment")
            .field("name", &self.name)
            .field("mime_type", &self.mime_type)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// A name without folders and without what could be taken for markup.
fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept = |sign: &char| !sign.is_control() && !matches!(sign, '"' | '<' | '>');
    let name: String = last.chars().filter(kept).take(NAME).collect();
    match name.trim() {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

/// The media type that the first bytes show, or that all of them are text.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    let at = |from: usize, sign: &[u8]| bytes.get(from..).is_some_and(|it| it.starts_with(sign));
    let begins = |sign: &[u8]| at(0, sign);
    let boxed = |brand: &[u8]| at(4, b"ftyp") && at(8, brand);
    Some(match () {
        () if begins(b"\x89PNG\r\n\x1a\n") => "image/png",
        () if begins(b"\xff\xd8\xff") => "image/jpeg",
        () if begins(b"GIF87a") || begins(b"GIF89a") => "image/gif",
        () if begins(b"RIFF") && at(8, b"WEBP") => "image/webp",
        () if boxed(b"heic") || boxed(b"heix") || boxed(b"mif1") => "image/heic",
        () if begins(b"%PDF-") => "application/pdf",
        () if begins(b"RIFF") && at(8, b"WAVE") => "audio/wav",
        () if begins(b"ID3") => "audio/mpeg",
        () if begins(b"\xff\xfb") || begins(b"\xff\xf3") || begins(b"\xff\xf2") => "audio/mpeg",
        () if begins(b"OggS") => "audio/ogg",
        () if begins(b"fLaC") => "audio/flac",
        () if boxed(b"M4A") => "audio/mp4",
        () if !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok() => "text/plain",
        () => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_bytes_are_and_not_what_its_name_says() {
        for (name, bytes, mime_type) in [
            ("a.txt", &b"\x89PNG\r\n\x1a\nrest"[..], "image/png"),
            ("a.png", b"\xff\xd8\xff\xe0", "image/jpeg"),
            ("a", b"RIFF\x04\0\0\0WEBPVP8 ", "image/webp"),
            ("a", b"RIFF\x04\0\0\0WAVEfmt ", "audio/wav"),
            ("a", b"\0\0\0\x18ftypheic", "image/heic"),
            ("a", b"\0\0\0\x18ftypM4A ", "audio/mp4"),
            ("a.exe", b"%PDF-1.7", "application/pdf"),
            ("a.svg", "<svg>\u{e9}".as_bytes(), "text/plain"),
        ] {
            let attachment = Attachment::new(name, bytes.to_vec()).unwrap();
            assert_eq!(attachment.mime_type(), mime_type);
            assert_eq!(attachment.name(), name);
        }
        for bytes in [&b""[..], b"MZ\x90\0", b"text\0", b"\xfftext"] {
            Attachment::new("a.txt", bytes.to_vec()).unwrap_err();
        }
    }

    #[test]
    fn a_name_has_no_folders_and_no_markup() {
        for (given, kept) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\pictures\\cat.png", "cat.png"),
            ("a\"b<c>\n.txt", "abc.txt"),
            ("  ", "file"),
        ] {
            assert_eq!(plain(given), kept);
        }
    }
}
