//! Strings.

use std::borrow::Cow;

use super::Reader;
use super::special::{BLOCK, plain_blocks, plain_run, plain_word, special_bits};
use crate::json::read_error::ReadError;

/// A string as written, without its quotes.
#[derive(Clone, Copy)]
pub(crate) struct RawText<'a> {
    written: &'a str,
    escaped: bool,
}

impl<'a> RawText<'a> {
    /// The decoded text. Fails on an unpaired surrogate, which no Rust string can hold.
    pub(crate) fn decode(self) -> Result<Cow<'a, str>, ReadError> {
        if !self.escaped {
            return Ok(Cow::Borrowed(self.written));
        }
        let mut out = String::with_capacity(self.written.len());
        let mut rest = self.written;
        while let Some((plain, escape)) = rest.split_at_checked(plain_run(rest.as_bytes())) {
            out.push_str(plain);
            if escape.is_empty() {
                break;
            }
            let (character, length) = unescape(escape.as_bytes()).map_err(|bad| bad.at(0))?;
            out.push(character);
            rest = escape.get(length..).unwrap_or_default();
        }
        Ok(Cow::Owned(out))
    }
}

impl<'a> Reader<'a> {
    /// Consumes a string.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, ReadError> {
        if self.peek() != Some(b'"') {
            return Err(self.mismatch("a string"));
        }
        let mut out = String::new();
        let last = self.walk_string(|plain, escape| {
            let (character, length) = unescape(escape)?;
            if out.is_empty() {
                out.reserve(plain.len() + escape.len().min(GUESS));
            }
            out.push_str(plain);
            out.push(character);
            Ok(length)
        })?;
        if out.is_empty() {
            return Ok(Cow::Borrowed(last));
        }
        out.push_str(last);
        Ok(Cow::Owned(out))
    }

    /// Consumes a string, which must be next, and checks its syntax without decoding it: an unpaired surrogate is
    /// accepted.
    pub(super) fn raw_string(&mut self) -> Result<RawText<'a>, ReadError> {
        let start = self.at + 1;
        let mut escaped = false;
        self.walk_string(|_, escape| {
            escaped = true;
            match escape {
                [
                    _,
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't',
                    ..,
                ] => Ok(2),
                [_, b'u', digits @ ..] => unit(digits).map(|_| 6).ok_or(BadEscape::Form),
                _ => Err(BadEscape::Form),
            }
        })?;
        let written = self.text.get(start..self.at - 1).unwrap_or_default();
        Ok(RawText { written, escaped })
    }

    /// Consumes a string, which must be next. Each escape is passed with the plain text before it and everything after
    /// it; `escape` returns its length. Returns the plain text at the end.
    fn walk_string(
        &mut self,
        mut escape: impl FnMut(&'a str, &'a [u8]) -> Result<usize, BadEscape>,
    ) -> Result<&'a str, ReadError> {
        self.at += 1;
        let mut plain = self.at;
        let (mut bits, mut width) = short_bits(self.rest());
        loop {
            let base = self.at;
            while bits != 0 {
                let ahead = bits.trailing_zeros() as usize;
                self.at = base + ahead;
                match self.byte() {
                    Some(b'"') => {
                        let last = self.since(plain);
                        self.at += 1;
                        return Ok(last);
                    }
                    Some(b'\\') => {
                        let length = escape(self.since(plain), self.rest())
                            .map_err(|bad| bad.at(self.at))?;
                        self.at += length;
                        plain = self.at;
                        bits = bits
                            .checked_shr((ahead + length) as u32)
                            .unwrap_or_default();
                        bits = bits
                            .checked_shl((ahead + length) as u32)
                            .unwrap_or_default();
                    }
                    _ => return Err(self.expected("a printable character")),
                }
            }
            self.at = self.at.max(base + width);
            if self.at - plain >= LONG {
                self.at += plain_blocks(self.rest());
            }
            (bits, width) = match self.rest() {
                [] => return Err(self.expected("a closing quote")),
                rest => match rest.first_chunk::<BLOCK>() {
                    Some(block) => (special_bits(block), BLOCK),
                    None => first_bit(rest),
                },
            };
        }
    }
}

/// After this much plain text, more is likely.
const LONG: usize = 4 * BLOCK;

/// The part of a string that may follow its first escape without another allocation.
const GUESS: usize = 128;

/// The bit of the first special byte of a short string, and the number of bytes covered.
fn short_bits(bytes: &[u8]) -> (u64, usize) {
    let Some((first, rest)) = bytes.split_first_chunk::<8>() else {
        return (0, 0);
    };
    match (plain_word(*first), rest.first_chunk::<8>()) {
        (8, Some(second)) => match plain_word(*second) {
            8 => (0, 16),
            run => (1 << (8 + run), 9 + run),
        },
        (8, None) => (0, 8),
        (run, _) => (1 << run, run + 1),
    }
}

/// The bit of the first special byte, and the number of bytes covered.
fn first_bit(bytes: &[u8]) -> (u64, usize) {
    match plain_run(bytes) {
        run if run < bytes.len() => (1 << run, run + 1),
        run => (0, run),
    }
}

/// Resolves the escape at the beginning of `text`: the character, and the length of the escape.
fn unescape(text: &[u8]) -> Result<(char, usize), BadEscape> {
    let character = match text {
        [_, b'n', ..] => '\n',
        [_, b'"', ..] => '"',
        [_, b'\\', ..] => '\\',
        [_, b'/', ..] => '/',
        [_, b't', ..] => '\t',
        [_, b'r', ..] => '\r',
        [_, b'b', ..] => '\u{8}',
        [_, b'f', ..] => '\u{c}',
        [_, b'u', digits @ ..] => return unescape_unicode(digits),
        _ => return Err(BadEscape::Form),
    };
    Ok((character, 2))
}

/// Resolves `\u` from its digits, and from the second surrogate where there is one.
fn unescape_unicode(digits: &[u8]) -> Result<(char, usize), BadEscape> {
    let first = unit(digits).ok_or(BadEscape::Form)?;
    let (code, length) = match (first, digits) {
        (0xD800..0xDC00, [_, _, _, _, b'\\', b'u', digits @ ..]) => {
            let second = unit(digits).filter(|unit| (0xDC00..0xE000).contains(unit));
            (
                second.map(|second| 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)),
                12,
            )
        }
        _ => (Some(first), 6),
    };
    match code.and_then(char::from_u32) {
        Some(character) => Ok((character, length)),
        None => Err(BadEscape::HalfPair),
    }
}

enum BadEscape {
    /// There is no such escape.
    Form,
    /// An unpaired surrogate.
    HalfPair,
}

impl BadEscape {
    fn at(self, at: usize) -> ReadError {
        match self {
            Self::Form => ReadError::syntax("an escape", at),
            Self::HalfPair => ReadError::shape("a string holds half of a surrogate pair"),
        }
    }
}

/// The number written with four hexadecimal digits.
fn unit(digits: &[u8]) -> Option<u32> {
    digits
        .first_chunk::<4>()?
        .iter()
        .try_fold(0, |unit, digit| {
            Some(unit << 4 | char::from(*digit).to_digit(16)?)
        })
}
