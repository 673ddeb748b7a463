//! Server-sent events as model providers send them: a pure machine, any chunking.
//!
//! Lines end in LF, CR or CRLF, several `data:` lines are one event, the space after the colon may
//! be missing, comments and a byte order mark are skipped. An event without its blank line is
//! flushed at the end if its data is whole JSON, because some servers forget the blank line.

use memchr::memchr2;
use serde::de::IgnoredAny;

/// A line or an event is longer than the limit.
#[derive(Debug)]
pub(crate) struct TooLong;

/// Bytes in, events out.
#[derive(Debug)]
pub(crate) struct Sse {
    /// The start of a line whose end has not come yet.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a CR: an LF right after it belongs to it.
    after_cr: bool,
    first_line: bool,
    limit: usize,
}

impl Sse {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            name: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            first_line: true,
            limit,
        }
    }

    /// Takes bytes in and hands every event that they complete to `sink`, as its name and data.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), TooLong> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        // The data of the open event while it is a single line of these bytes.
        let mut lone = None;
        while let Some(at) = memchr2(b'\n', b'\r', rest) {
            let (head, tail) = rest.split_at(at);
            rest = match tail {
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [b'\r', b'\n', after @ ..] | [_, after @ ..] => after,
                [] => &[],
            };
            if self.line.is_empty() {
                self.end_line(head, &mut lone, sink)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(head);
                let mut value = None;
                self.end_line(&line, &mut value, sink)?;
                self.data.extend_from_slice(value.unwrap_or_default());
                line.clear();
                self.line = line;
            }
        }
        self.data.extend_from_slice(lone.unwrap_or_default());
        if self.line.len() + rest.len() > self.limit {
            return Err(TooLong);
        }
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// The stream is over. An event that only lacks its blank line still counts.
    pub(crate) fn finish(&mut self, sink: &mut impl FnMut(&[u8], &[u8])) {
        let line = std::mem::take(&mut self.line);
        let mut value = None;
        if !line.is_empty() && self.end_line(&line, &mut value, sink).is_err() {
            return;
        }
        self.data.extend_from_slice(value.unwrap_or_default());
        let whole =
            self.data == b"[DONE]" || serde_json::from_slice::<IgnoredAny>(&self.data).is_ok();
        if self.has_data && whole {
            sink(&self.name, &self.data);
        }
        self.has_data = false;
    }

    /// Takes a whole line in. The first line of an event's data is not copied: it is `lone`.
    fn end_line<'b>(
        &mut self,
        line: &'b [u8],
        lone: &mut Option<&'b [u8]>,
        sink: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), TooLong> {
        let mut line = line;
        if self.first_line {
            self.first_line = false;
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            if self.has_data {
                sink(&self.name, lone.take().unwrap_or(&self.data));
            }
            self.name.clear();
            self.data.clear();
            self.has_data = false;
        } else if let Some(value) = field(line, b"data") {
            let before = lone.map_or(self.data.len(), <[u8]>::len);
            if before + value.len() >= self.limit {
                return Err(TooLong);
            }
            if self.has_data {
                self.data.extend_from_slice(lone.take().unwrap_or_default());
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
            } else {
                *lone = Some(value);
            }
            self.has_data = true;
        } else if let Some(value) = field(line, b"event") {
            self.name.clear();
            self.name.extend_from_slice(value);
        }
        Ok(())
    }
}

/// The value of `line` if it is the field called `name`.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    match line.strip_prefix(name)? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let mut sse = Sse::new(1 << 20);
        let mut out = Vec::new();
        let mut sink = |name: &[u8], data: &[u8]| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            out.push((text(name), text(data)));
        };
        for chunk in chunks {
            sse.push(chunk, &mut sink).unwrap();
        }
        sse.finish(&mut sink);
        out
    }

    #[track_caller]
    fn check(stream: &str, want: &[(&str, &str)]) {
        let want: Vec<(String, String)> = want
            .iter()
            .map(|(name, data)| (name.to_string(), data.to_string()))
            .collect();
        assert_eq!(events(&[stream.as_bytes()]), want);
        let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(events(&bytes), want, "one byte at a time");
    }

    #[test]
    fn all_line_ends_mean_the_same() {
        let want = &[("", "1"), ("a", "2\n3")];
        check("data: 1\n\nevent: a\ndata: 2\ndata: 3\n\n", want);
        check("data: 1\r\revent: a\rdata: 2\rdata: 3\r\r", want);
        check(
            "data: 1\r\n\r\nevent: a\r\ndata: 2\r\ndata: 3\r\n\r\n",
            want,
        );
    }

    #[test]
    fn comments_a_mark_and_a_missing_space_are_fine() {
        check(
            "\u{feff}data:1\n\n: ping\n\n:\n\ndata: 2\nid: 7\nretry: 1\n\n",
            &[("", "1"), ("", "2")],
        );
    }

    #[test]
    fn a_name_lasts_for_one_event() {
        check("event: a\n\ndata: 1\n\n", &[("", "1")]);
        check("event: a\ndata: 1\n\ndata: 2\n\n", &[("a", "1"), ("", "2")]);
    }

    #[test]
    fn a_whole_last_event_needs_no_blank_line() {
        check("data: {\"a\":1}", &[("", "{\"a\":1}")]);
        check("data: [DONE]\n", &[("", "[DONE]")]);
        check("data: {\"a\":", &[]);
    }

    #[test]
    fn a_line_and_an_event_have_an_end() {
        let mut sse = Sse::new(8);
        assert!(sse.push(b"data: 12345", &mut |_, _| {}).is_err());
        let mut sse = Sse::new(8);
        assert!(
            sse.push(b"data: 1234\ndata: 5678\n", &mut |_, _| {})
                .is_err()
        );
    }

    proptest! {
        #[test]
        fn chunking_does_not_matter(
            stream in "(data|event|:|id)(:|: )?[ab]{0,3}(\r|\n|\r\n){1,2}((data|event|:)(: |:)[ab{}]{0,3}(\r|\n|\r\n){1,3}){0,6}(data: 1)?",
            cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            let bytes = stream.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
            at.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for to in at {
                chunks.push(&bytes[from..to]);
                from = to;
            }
            chunks.push(&bytes[from..]);
            prop_assert_eq!(events(&chunks), events(&[bytes]));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            events(&[&bytes]);
        }
    }
}
