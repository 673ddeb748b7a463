//! Numbers.

use super::Reader;
use crate::json::read_error::ReadError;
use crate::message::id::whole;

impl<'a> Reader<'a> {
    /// Consumes an integer; `60000.0` counts as one.
    pub(crate) fn integer(&mut self) -> Result<i64, ReadError> {
        let text = self.number("an integer")?;
        text.parse()
            .ok()
            .or_else(|| text.parse().ok().and_then(whole))
            .ok_or_else(|| ReadError::shape(format!("expected a 64-bit integer, found {text}")))
    }

    /// Consumes any number.
    pub(crate) fn float(&mut self) -> Result<f64, ReadError> {
        let text = self.number("a number")?;
        match text.parse() {
            Ok(number) if f64::is_finite(number) => Ok(number),
            _ => Err(ReadError::shape(format!(
                "{text} is too large for a number"
            ))),
        }
    }

    /// Consumes a number and returns its text.
    pub(super) fn raw_number(&mut self) -> Result<&'a str, ReadError> {
        let start = self.at;
        self.take(b"-");
        if !self.take(b"0") {
            self.digits()?;
        }
        if self.take(b".") {
            self.digits()?;
        }
        if self.take(b"eE") {
            self.take(b"+-");
            self.digits()?;
        }
        Ok(self.since(start))
    }

    fn number(&mut self, expected: &'static str) -> Result<&'a str, ReadError> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.raw_number(),
            _ => Err(self.mismatch(expected)),
        }
    }

    /// Consumes one of these bytes, if it is next.
    fn take(&mut self, any_of: &[u8]) -> bool {
        let there = self.byte().is_some_and(|byte| any_of.contains(&byte));
        self.at += usize::from(there);
        there
    }

    /// Consumes one or more digits.
    fn digits(&mut self) -> Result<(), ReadError> {
        let count = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        self.at += count;
        if count == 0 {
            Err(self.expected("a digit"))
        } else {
            Ok(())
        }
    }
}
