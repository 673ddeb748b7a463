//! Finds the end of a JSON value that is still arriving.

use memchr::memchr2;

/// Reads JSON text piece by piece and knows when its first object, array or string is complete.
/// Each byte is looked at once. It trusts the text: only a parser can say whether it is valid.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JsonEnd {
    depth: usize,
    in_string: bool,
    escaped: bool,
    started: bool,
    complete: bool,
}

impl JsonEnd {
    /// Whether the value is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether a string inside is open.
    pub(crate) fn in_string(&self) -> bool {
        self.in_string
    }

    /// Takes the next piece in; the number of its bytes up to and with the end of the value, if
    /// the value ends in it.
    pub(crate) fn push(&mut self, piece: &str) -> Option<usize> {
        if self.complete {
            return None;
        }
        let bytes = piece.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                match memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
                    None => return None,
                    Some(skip) => {
                        at += skip;
                        match bytes.get(at) {
                            Some(b'"') => self.in_string = false,
                            _ => self.escaped = true,
                        }
                    }
                }
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                self.started |= !byte.is_ascii_whitespace();
            }
            at += 1;
            let closed = matches!(bytes.get(at - 1), Some(b'"' | b'}' | b']'));
            if closed && self.started && self.depth == 0 && !self.in_string && !self.escaped {
                self.complete = true;
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, end: Option<usize>) {
        assert_eq!(JsonEnd::default().push(text), end, "{text}");
        let mut tracker = JsonEnd::default();
        let found = text
            .char_indices()
            .find(|(at, c)| tracker.push(&text[*at..*at + c.len_utf8()]).is_some())
            .map(|(at, c)| at + c.len_utf8());
        assert_eq!(found, end, "{text}, one character at a time");
    }

    #[test]
    fn the_end_is_found_at_any_split() {
        check(r#" {"a":[1,{"b":"}\"]"}]} rest"#, Some(23));
        check(r#"{"a":"\\"}"#, Some(10));
        check(r#""é\"x" y"#, Some(7));
        check("[]x", Some(2));
        check(r#"{"a":"}"#, None);
        check("12", None);
        check("", None);
    }
}
