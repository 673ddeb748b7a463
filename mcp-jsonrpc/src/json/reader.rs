//! A pull reader over JSON text: it reads the values requested, skips the others, and can go back.
//!
//! Messages consist mostly of long strings, and of schemas and structures that are not read right away. Therefore any
//! value can be kept as a span, and strings are scanned block by block.

mod number;
mod special;
mod string;

pub(crate) use string::RawText;

use crate::json::read_error::ReadError;

/// The maximum nesting depth of a value that is skipped or kept raw.
pub(crate) const MAX_DEPTH: usize = 128;

/// A position in a JSON text.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning of `text`.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Checks that nothing but whitespace is left.
    pub(crate) fn end(&mut self) -> Result<(), ReadError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end")),
        }
    }

    /// The next byte after whitespace.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Consumes `null`, if it is next.
    pub(crate) fn null(&mut self) -> Result<bool, ReadError> {
        match self.peek() {
            Some(b'n') => self.literal("null").map(|()| true),
            _ => Ok(false),
        }
    }

    /// Consumes `true` or `false`.
    pub(crate) fn boolean(&mut self) -> Result<bool, ReadError> {
        match self.peek() {
            Some(b't') => self.literal("true").map(|()| true),
            Some(b'f') => self.literal("false").map(|()| false),
            _ => Err(self.mismatch("a boolean")),
        }
    }

    /// Consumes any value and returns its text; it may nest `levels` deep.
    pub(crate) fn raw(&mut self, levels: usize) -> Result<&'a str, ReadError> {
        self.peek();
        let start = self.at;
        self.skip(levels)?;
        Ok(self.since(start))
    }

    /// Consumes any value, checking that it is JSON and nests at most `levels` deep.
    pub(crate) fn skip(&mut self, levels: usize) -> Result<(), ReadError> {
        match self.peek() {
            Some(b'"') => self.raw_string().map(|_| ()),
            Some(b'{' | b'[') if levels == 0 => Err(ReadError::depth()),
            Some(b'{') => {
                let mut members = self.object()?;
                while members.next(self)?.is_some() {
                    self.skip(levels - 1)?;
                }
                Ok(())
            }
            Some(b'[') => {
                let mut items = self.array()?;
                while items.next(self)? {
                    self.skip(levels - 1)?;
                }
                Ok(())
            }
            Some(b'n') => self.literal("null"),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'-' | b'0'..=b'9') => self.raw_number().map(|_| ()),
            _ => Err(self.expected("a value")),
        }
    }

    /// Like [`raw`](Self::raw), for values deeper than [`MAX_DEPTH`]: it uses no stack, but a byte of memory per level.
    pub(crate) fn raw_deep(&mut self, levels: usize) -> Result<&'a str, ReadError> {
        self.peek();
        let start = self.at;
        // Whether each open bracket is that of an object.
        let mut open: Vec<bool> = Vec::new();
        loop {
            let mut first = true;
            match self.peek() {
                Some(b'{' | b'[') if open.len() >= levels => return Err(ReadError::depth()),
                Some(b'{') => {
                    self.object()?;
                    open.push(true);
                }
                Some(b'[') => {
                    self.array()?;
                    open.push(false);
                }
                _ => {
                    self.skip(0)?;
                    first = false;
                }
            }
            // Advance to the next value, closing what ends here.
            loop {
                let is_there = match open.last() {
                    None => return Ok(self.since(start)),
                    Some(true) => Members { first }.next(self)?.is_some(),
                    Some(false) => Items { first }.next(self)?,
                };
                if is_there {
                    break;
                }
                open.pop();
                first = false;
            }
        }
    }

    /// Consumes a value of any depth, looking at brackets and strings only.
    pub(crate) fn skip_brackets(&mut self) -> Result<(), ReadError> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth = depth.saturating_sub(1),
                Some(b'"') => {
                    self.raw_string()?;
                    continue;
                }
                Some(_) => {}
                None => return Err(self.expected("a closing bracket")),
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Enters an object.
    pub(crate) fn object(&mut self) -> Result<Members, ReadError> {
        match self.peek() {
            Some(b'{') => {
                self.at += 1;
                Ok(Members { first: true })
            }
            _ => Err(self.mismatch("an object")),
        }
    }

    /// Enters an array.
    pub(crate) fn array(&mut self) -> Result<Items, ReadError> {
        match self.peek() {
            Some(b'[') => {
                self.at += 1;
                Ok(Items { first: true })
            }
            _ => Err(self.mismatch("an array")),
        }
    }

    /// The error for a next value that has the wrong type or is not a value.
    pub(crate) fn mismatch(&mut self, expected: &'static str) -> ReadError {
        let found = match self.peek() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b'n') => "null",
            Some(b't' | b'f') => "a boolean",
            Some(b'-' | b'0'..=b'9') => "a number",
            _ => return self.expected(expected),
        };
        ReadError::shape(format!("expected {expected}, found {found}"))
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The bytes still to be read.
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The text from `start` to here.
    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn literal(&mut self, word: &'static str) -> Result<(), ReadError> {
        if self.rest().starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.expected(word))
        }
    }

    fn expected(&self, what: &'static str) -> ReadError {
        ReadError::syntax(what, self.at)
    }
}

/// Walks the members of an object.
pub(crate) struct Members {
    first: bool,
}

impl Members {
    /// Takes the next member's name and colon, or the end of the object.
    pub(crate) fn next<'a>(
        &mut self,
        reader: &mut Reader<'a>,
    ) -> Result<Option<RawText<'a>>, ReadError> {
        let first = std::mem::replace(&mut self.first, false);
        match reader.peek() {
            Some(b'}') => {
                reader.at += 1;
                return Ok(None);
            }
            Some(b',') if !first => reader.at += 1,
            _ if first => {}
            _ => return Err(reader.expected("`,` or `}`")),
        }
        if reader.peek() != Some(b'"') {
            return Err(reader.expected("a member's name"));
        }
        let name = reader.raw_string()?;
        if reader.peek() != Some(b':') {
            return Err(reader.expected("`:`"));
        }
        reader.at += 1;
        Ok(Some(name))
    }
}

/// Walks the items of an array.
pub(crate) struct Items {
    first: bool,
}

impl Items {
    /// Steps to the next item; false at the end of the array.
    pub(crate) fn next(&mut self, reader: &mut Reader<'_>) -> Result<bool, ReadError> {
        let first = std::mem::replace(&mut self.first, false);
        match reader.peek() {
            Some(b']') => {
                reader.at += 1;
                Ok(false)
            }
            Some(_) if first => Ok(true),
            Some(b',') => {
                reader.at += 1;
                Ok(true)
            }
            _ => Err(reader.expected("`,` or `]`")),
        }
    }
}
