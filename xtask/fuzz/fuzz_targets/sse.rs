//! Any bytes as server-sent events: cuts do not matter, limits hold, and without limits the
//! events are those of the standard's algorithm.
#![no_main]

use fuzz::however_cut;
use libfuzzer_sys::fuzz_target;
use mcp_jsonrpc::sse::{SseFrame, SseParser};

/// Small, so that short streams break it.
const LIMIT: usize = 32;

fuzz_target!(|bytes: &[u8]| {
    let (frames, _, _) = however_cut(bytes, |pieces| read(pieces, LIMIT));
    for (at, frame) in frames.iter().enumerate() {
        match frame {
            SseFrame::Event(event) => assert!(event.data.len() <= LIMIT),
            SseFrame::TooLarge { head } => assert!(head.len() <= LIMIT),
            SseFrame::Endless => assert_eq!(at + 1, frames.len()),
            other => panic!("{other:?}"),
        }
    }
    let (frames, id, retry) = however_cut(bytes, |pieces| read(pieces, usize::MAX / 32));
    let frames: Vec<_> = frames
        .into_iter()
        .map(|frame| match frame {
            SseFrame::Event(event) => (event.event, event.data),
            other => panic!("{other:?}"),
        })
        .collect();
    let plain = Plain::read(bytes);
    assert_eq!(frames, plain.events);
    assert_eq!(id.unwrap_or_default(), plain.id);
    assert_eq!(retry, plain.retry);
});

fn read(pieces: &[&[u8]], limit: usize) -> (Vec<SseFrame>, Option<String>, Option<u128>) {
    let mut parser = SseParser::new(limit);
    let mut frames = Vec::new();
    for piece in pieces {
        parser.push(piece);
        frames.extend(std::iter::from_fn(|| parser.next_frame()));
    }
    let id = parser.last_event_id().map(str::to_owned);
    (frames, id, parser.retry().map(|time| time.as_millis()))
}

/// Section 9.2.6 of the HTML standard, for a whole stream.
#[derive(Default)]
struct Plain {
    events: Vec<(String, Vec<u8>)>,
    id: String,
    retry: Option<u128>,
}

impl Plain {
    fn read(stream: &[u8]) -> Self {
        let mut plain = Self::default();
        let (mut event, mut data, mut id) = (String::new(), None::<Vec<u8>>, None);
        for line in lines(stream) {
            let colon = line.iter().position(|byte| *byte == b':');
            let (name, value) = match colon {
                Some(at) => (&line[..at], &line[at + 1..]),
                None => (&line[..], &b""[..]),
            };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            let text = String::from_utf8_lossy(value).into_owned();
            match name {
                _ if line.is_empty() => {
                    plain.id = id.take().unwrap_or(plain.id);
                    let kind = std::mem::take(&mut event);
                    if let Some(data) = data.take() {
                        let kind = if kind.is_empty() {
                            "message".into()
                        } else {
                            kind
                        };
                        plain.events.push((kind, data));
                    }
                }
                b"data" => match &mut data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => data = Some(value.to_vec()),
                },
                b"event" => event = text,
                b"id" if !value.contains(&0) => id = Some(text),
                b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                    plain.retry = Some(text.parse::<u64>().unwrap_or(u64::MAX).into());
                }
                _ => {}
            }
        }
        plain
    }
}

/// The finished lines: ended by LF, CR or CRLF.
fn lines(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let mut lines = Vec::new();
    while let Some(end) = rest.iter().position(|byte| b"\r\n".contains(byte)) {
        lines.push(rest[..end].to_vec());
        rest = &rest[end..];
        rest = rest.strip_prefix(b"\r\n").unwrap_or(&rest[1..]);
    }
    lines
}
