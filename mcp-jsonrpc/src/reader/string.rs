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
            unescape(self.written).map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(self.written))
        }
    }
}

impl<'a> Reader<'a> {
    /// Takes a string.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, ReadError> {
        match self.peek() {
            Some(b'"') => self.raw_string()?.decode(),
            _ => Err(self.mismatch("a string")),
        }
    }

    /// Takes a string, which must be next, without reading it.
    pub(super) fn raw_string(&mut self) -> Result<RawText<'a>, ReadError> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += plain_run(self.rest());
            match self.byte() {
                Some(b'"') => {
                    let written = self.since(start);
                    self.at += 1;
                    return Ok(RawText { written, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.expected("no control character")),
                None => return Err(self.expected("a closing quote")),
            }
        }
    }

    /// Takes an escape, checking its form.
    fn escape(&mut self) -> Result<(), ReadError> {
        self.at += 1;
        match self.rest() {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 1,
            [b'u', a, b, c, d, ..]
                if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) =>
            {
                self.at += 5;
            }
            _ => return Err(self.expected("an escape")),
        }
        Ok(())
    }
}

/// Resolves the escapes of a string whose form was checked.
fn unescape(written: &str) -> Result<String, ReadError> {
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    loop {
        let (plain, escape) = rest.split_at(plain_run(rest.as_bytes()));
        out.push_str(plain);
        let Some(escape) = escape.strip_prefix('\\') else {
            return Ok(out);
        };
        let mut chars = escape.chars();
        out.push(match chars.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let (character, after) = unicode(chars.as_str())
                    .ok_or_else(|| ReadError::shape("a string holds half of a surrogate pair"))?;
                out.push(character);
                rest = after;
                continue;
            }
            Some(same) => same,
            None => return Ok(out),
        });
        rest = chars.as_str();
    }
}

/// Reads the digits after `\u`, and the second half where it takes two.
fn unicode(digits: &str) -> Option<(char, &str)> {
    let (first, rest) = unit(digits)?;
    match char::from_u32(first) {
        Some(character) => Some((character, rest)),
        None => {
            let (second, rest) = unit(rest.strip_prefix("\\u")?)?;
            let high = first.checked_sub(0xD800).filter(|high| *high < 0x400)?;
            let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
            Some((char::from_u32(0x1_0000 + (high << 10) + low)?, rest))
        }
    }
}

fn unit(digits: &str) -> Option<(u32, &str)> {
    let (unit, rest) = digits.split_at_checked(4)?;
    Some((u32::from_str_radix(unit, 16).ok()?, rest))
}
