//! Strings.

use std::borrow::Cow;

use super::Reader;
use super::plain_run::plain_run;
use crate::read_error::ReadError;

/// A string as it is written, without its quotes.
#[derive(Clone, Copy)]
pub(crate) struct RawText<'a> {
    written: &'a str,
    escaped: bool,
}

impl<'a> RawText<'a> {
    /// What it says. Fails on half of a surrogate pair, which no Rust string can hold.
    pub(crate) fn decode(self) -> Result<Cow<'a, str>, ReadError> {
        if self.escaped {
            let mut out = String::with_capacity(self.written.len());
            Reader::new(self.written).unescape(&mut out)?;
            Ok(Cow::Owned(out))
        } else {
            Ok(Cow::Borrowed(self.written))
        }
    }
}

impl<'a> Reader<'a> {
    /// Takes a string.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, ReadError> {
        if self.peek() != Some(b'"') {
            return Err(self.mismatch("a string"));
        }
        self.at += 1;
        let start = self.at;
        self.at += plain_run(self.rest());
        if self.byte() == Some(b'"') {
            let plain = self.since(start);
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut out = String::with_capacity(2 * (self.at - start));
        out.push_str(self.since(start));
        self.unescape(&mut out)?;
        match self.byte() {
            Some(b'"') => {
                self.at += 1;
                Ok(Cow::Owned(out))
            }
            _ => Err(self.broken_string()),
        }
    }

    /// Takes a string, which must be next, checking it without reading it.
    pub(super) fn raw_string(&mut self) -> Result<RawText<'a>, ReadError> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += plain_run(self.rest());
            match self.rest() {
                [b'"', ..] => {
                    let written = self.since(start);
                    self.at += 1;
                    return Ok(RawText { written, escaped });
                }
                [
                    b'\\',
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't',
                    ..,
                ] => self.at += 2,
                // Half of a surrogate pair is fine as long as nobody reads it.
                [b'\\', b'u', digits @ ..] if unit(digits).is_some() => self.at += 6,
                _ => return Err(self.broken_string()),
            }
            escaped = true;
        }
    }

    /// Takes text and escapes, up to whatever is neither.
    fn unescape(&mut self, out: &mut String) -> Result<(), ReadError> {
        loop {
            let start = self.at;
            self.at += plain_run(self.rest());
            out.push_str(self.since(start));
            let character = match self.rest() {
                [b'\\', b'n', ..] => '\n',
                [b'\\', b'"', ..] => '"',
                [b'\\', b'\\', ..] => '\\',
                [b'\\', b'/', ..] => '/',
                [b'\\', b't', ..] => '\t',
                [b'\\', b'r', ..] => '\r',
                [b'\\', b'b', ..] => '\u{8}',
                [b'\\', b'f', ..] => '\u{c}',
                [b'\\', b'u', digits @ ..] => {
                    out.push(self.unicode_escape(digits)?);
                    continue;
                }
                [b'\\', ..] => return Err(self.broken_string()),
                _ => return Ok(()),
            };
            out.push(character);
            self.at += 2;
        }
    }

    /// Takes `\u` with its digits, and the second half where it takes two.
    fn unicode_escape(&mut self, digits: &[u8]) -> Result<char, ReadError> {
        let first = unit(digits).ok_or_else(|| self.broken_string())?;
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
        let character = code
            .and_then(char::from_u32)
            .ok_or_else(|| ReadError::shape("a string holds half of a surrogate pair"))?;
        self.at += length;
        Ok(character)
    }

    fn broken_string(&self) -> ReadError {
        self.expected(match self.byte() {
            Some(b'\\') => "an escape",
            Some(_) => "no control character",
            None => "a closing quote",
        })
    }
}

/// The number four hexadecimal digits make.
fn unit(digits: &[u8]) -> Option<u32> {
    digits
        .first_chunk::<4>()?
        .iter()
        .try_fold(0, |unit, digit| {
            Some(unit << 4 | char::from(*digit).to_digit(16)?)
        })
}
