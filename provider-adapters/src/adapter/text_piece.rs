//! Text from JSON strings, whole even if a server splits a character.
//!
//! Servers that escape everything beyond ASCII may cut between the two halves of a surrogate pair:
//! `"\ud83d"` in one event, `"\ude00"` in the next. Neither half is a character, so a plain string
//! parser refuses the whole event. Here the halves are kept and joined.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// The content of a JSON string, as bytes: UTF-8, but for halves of surrogate pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextPiece<'a>(Cow<'a, [u8]>);

impl<'a> TextPiece<'a> {
    pub(crate) fn from_bytes(bytes: Cow<'a, [u8]>) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of a name or a keyword; nothing if it is no text.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Appends `more` to it.
    pub(crate) fn extend(&mut self, more: &TextPiece<'_>) {
        self.0.to_mut().extend_from_slice(&more.0);
    }
}

impl<'a> From<&'a str> for TextPiece<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }
}

impl From<String> for TextPiece<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text.into_bytes()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TextPiece<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(PieceVisitor)
    }
}

struct PieceVisitor;

impl<'de> Visitor<'de> for PieceVisitor {
    type Value = TextPiece<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<TextPiece<'de>, E> {
        Ok(TextPiece(Cow::Borrowed(bytes)))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<TextPiece<'de>, E> {
        Ok(TextPiece(Cow::Owned(bytes.to_owned())))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TextPiece<'de>, E> {
        self.visit_bytes(text.as_bytes())
    }
}

/// Joins pieces into text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Joiner {
    /// The first half of a surrogate pair whose second half may come next.
    half: Option<u16>,
}

impl Joiner {
    /// The text that is certain once `piece` is there.
    pub(crate) fn push<'p>(&mut self, piece: &'p TextPiece<'_>) -> Cow<'p, str> {
        match std::str::from_utf8(&piece.0) {
            Ok(text) if self.half.is_none() || text.is_empty() => Cow::Borrowed(text),
            _ => Cow::Owned(self.join(&piece.0)),
        }
    }

    /// What is left when nothing more comes.
    pub(crate) fn finish(&mut self) -> Option<char> {
        self.half.take().map(|_| char::REPLACEMENT_CHARACTER)
    }

    fn join(&mut self, piece: &[u8]) -> String {
        let mut out = String::with_capacity(piece.len() + 4);
        let mut rest = piece;
        while !rest.is_empty() {
            if let Some((unit, after)) = surrogate(rest) {
                rest = after;
                self.unit(unit, &mut out);
                continue;
            }
            let valid = match std::str::from_utf8(rest) {
                Ok(text) => text,
                Err(error) => {
                    let good = rest.get(..error.valid_up_to()).unwrap_or_default();
                    std::str::from_utf8(good).unwrap_or_default()
                }
            };
            if self.half.take().is_some() {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            out.push_str(valid);
            rest = rest.get(valid.len()..).unwrap_or_default();
            if !rest.is_empty() && surrogate(rest).is_none() {
                out.push(char::REPLACEMENT_CHARACTER);
                rest = rest.get(1..).unwrap_or_default();
            }
        }
        out
    }

    fn unit(&mut self, unit: u16, out: &mut String) {
        match (self.half.take(), unit) {
            (Some(half), 0xDC00..) => out.extend(char::decode_utf16([half, unit]).flatten()),
            (None, 0xDC00..) => out.push(char::REPLACEMENT_CHARACTER),
            (half, _) => {
                out.extend(half.map(|_| char::REPLACEMENT_CHARACTER));
                self.half = Some(unit);
            }
        }
    }
}

/// A half of a surrogate pair at the start of `bytes`, and what follows it.
fn surrogate(bytes: &[u8]) -> Option<(u16, &[u8])> {
    match bytes {
        [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, after @ ..] => {
            let unit = 0xD000 | u16::from(second & 0x3F) << 6 | u16::from(third & 0x3F);
            Some((unit, after))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], want: &str) {
        let mut joiner = Joiner::default();
        let mut text = String::new();
        for json in pieces {
            let piece: TextPiece<'_> = serde_json::from_str(json).unwrap();
            text.push_str(&joiner.push(&piece));
        }
        text.extend(joiner.finish());
        assert_eq!(text, want);
    }

    #[test]
    fn halves_of_a_pair_are_joined_across_pieces() {
        check(&[r#""a\ud83d""#, r#""\ude00b""#], "a😀b");
        check(&[r#""\ud83d""#, r#""""#, r#""\ude00""#], "😀");
        check(&[r#""\ud83d\ude00é""#], "😀é");
    }

    #[test]
    fn a_half_without_its_other_half_is_marked() {
        check(&[r#""\ud83d""#], "\u{fffd}");
        check(&[r#""\ud83dx""#], "\u{fffd}x");
        check(&[r#""\ude00x""#], "\u{fffd}x");
        check(&[r#""\ud83d""#, r#""\ud83d""#, r#""\ude00""#], "\u{fffd}😀");
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        let piece: TextPiece<'_> = serde_json::from_slice(b"\"a\xffb\"").unwrap();
        assert_eq!(Joiner::default().push(&piece), "a\u{fffd}b");
    }
}
