//! The server's stdout, split into messages and stray lines. Pure.

use super::StdioLimits;
use crate::{Incoming, Line, LineFramer, TransportError};

/// The part of a stray line that is kept.
const SAMPLE_CHARS: usize = 300;

pub(super) struct Inbox {
    pub(super) framer: LineFramer,
    /// Stray lines since the last message.
    strays: usize,
    stray_limit: usize,
    /// The first stray line.
    pub(super) sample: Option<String>,
}

impl Inbox {
    pub(super) fn new(limits: &StdioLimits) -> Self {
        Self {
            framer: LineFramer::new(limits.line_bytes),
            strays: 0,
            stray_limit: limits.stray_lines,
            sample: None,
        }
    }

    /// The next message; `None` until more bytes arrive. An error ends the connection.
    pub(super) fn next(&mut self) -> Option<Result<Incoming, TransportError>> {
        loop {
            let (line, is_whole) = match self.framer.next_line()? {
                Line::Whole(line) => (line, true),
                Line::TooLarge { head } => (head, false),
                Line::Endless => {
                    let limit = self.framer.limit();
                    return Some(Err(TransportError::TooLarge {
                        what: "a line on stdout",
                        limit,
                    }));
                }
            };
            if !may_be_message(&line) {
                self.strays += 1;
                self.sample.get_or_insert_with(|| sample(&line));
                if self.strays > self.stray_limit {
                    return Some(Err(self.too_many_strays()));
                }
                continue;
            }
            self.strays = 0;
            return Some(Ok(if is_whole {
                Incoming::Message {
                    body: line,
                    stream: None,
                }
            } else {
                Incoming::TooLarge {
                    head: line,
                    limit: self.framer.limit(),
                }
            }));
        }
    }

    fn too_many_strays(&self) -> TransportError {
        let sample = self.sample.as_deref().unwrap_or_default();
        TransportError::Malformed {
            detail: format!(
                "{} lines in a row on stdout are no JSON messages, first: {sample}",
                self.strays
            ),
        }
    }
}

/// A message is an object, or an array of them. Log lines in brackets (`[info] …`) are neither.
fn may_be_message(line: &[u8]) -> bool {
    match line.trim_ascii_start() {
        [b'{', ..] => true,
        [b'[', rest @ ..] => rest.trim_ascii_start().starts_with(b"{"),
        _ => false,
    }
}

fn sample(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.trim()
        .chars()
        .filter(|c| !c.is_control())
        .take(SAMPLE_CHARS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_are_not_taken_for_messages() {
        for message in [
            "{",
            " {\"a\":1}",
            "[{}]",
            "[ \t{\"id\":1}]",
            "{not json at all",
        ] {
            assert!(may_be_message(message.as_bytes()), "{message}");
        }
        for stray in [
            "",
            "[]",
            "[info] up",
            "[2026-01-01] {}",
            "info: {}",
            "null",
            "\"{\"",
            "[[{}]]",
        ] {
            assert!(!may_be_message(stray.as_bytes()), "{stray}");
        }
    }

    #[test]
    fn a_sample_is_short_and_printable() {
        assert_eq!(sample(b"  \x1b[31mred\x07 \xff "), "[31mred \u{fffd}");
        assert_eq!(sample(&[b'x'; 5000]).len(), SAMPLE_CHARS);
    }

    #[test]
    fn an_oversized_stray_line_is_only_a_stray_line() {
        let mut inbox = Inbox::new(&StdioLimits::default().with_line_bytes(10));
        inbox
            .framer
            .push(b"0123456789abcdef\n{\"long\":\"enough\"}\n{}\n");
        assert!(matches!(
            inbox.next(),
            Some(Ok(Incoming::TooLarge { limit: 10, .. }))
        ));
        assert!(matches!(inbox.next(), Some(Ok(Incoming::Message { .. }))));
        assert_eq!(inbox.sample.as_deref(), Some("0123456789"));
    }
}
