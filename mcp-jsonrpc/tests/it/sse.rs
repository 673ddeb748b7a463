//! Server-sent events.

use std::time::Duration;

use mcp_jsonrpc::sse::{SseFrame, SseParser};
use proptest::prelude::*;

const LIMIT: usize = 28;

/// What a reader of the stream gets to know.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// Events as `type: data`; oversized ones as `too large: head`.
    frames: Vec<String>,
    id: Option<String>,
    retry: Option<Duration>,
}

/// Reads the stream in chunks of these sizes, over and over.
fn read(stream: &[u8], chunks: &[usize]) -> Seen {
    let mut parser = SseParser::new(LIMIT);
    let mut frames = Vec::new();
    let mut rest = stream;
    for size in chunks.iter().cycle() {
        let (chunk, left) = rest.split_at((*size).min(rest.len()));
        parser.push(chunk);
        frames.extend(
            std::iter::from_fn(|| parser.next_frame()).map(|frame| match frame {
                SseFrame::Event(event) => format!("{}: {}", event.event, escape(&event.data)),
                SseFrame::TooLarge { head } => format!("too large: {}", escape(&head)),
                SseFrame::Endless => "endless".to_owned(),
            }),
        );
        rest = left;
        if rest.is_empty() {
            break;
        }
    }
    Seen {
        frames,
        id: parser.last_event_id().map(str::to_owned),
        retry: parser.retry(),
    }
}

fn escape(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

#[track_caller]
fn check(stream: &[u8], frames: &[&str]) -> Seen {
    let whole = read(stream, &[stream.len().max(1)]);
    assert_eq!(whole.frames, frames);
    for size in 1..stream.len() {
        assert_eq!(read(stream, &[size]), whole, "in chunks of {size}");
    }
    whole
}

#[test]
fn lines_end_with_lf_cr_or_crlf() {
    check(
        b"data: a\n\ndata: b\r\rdata: c\r\n\r\n",
        &["message: a", "message: b", "message: c"],
    );
}

#[test]
fn an_event_ended_by_cr_is_there_before_the_next_byte() {
    let mut parser = SseParser::new(LIMIT);
    parser.push(b"data: a\r\r");
    assert!(matches!(parser.next_frame(), Some(SseFrame::Event(_))));
}

#[test]
fn one_byte_order_mark_is_dropped() {
    check(b"\xEF\xBB\xBFdata: a\n\n", &["message: a"]);
    check(b"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n", &[]);
}

#[test]
fn data_lines_are_joined_and_only_one_space_is_eaten() {
    check(
        b"data:a\ndata:  b\ndata\ndata: c\n\n",
        &["message: a\\n b\\n\\nc"],
    );
}

#[test]
fn comments_unknown_fields_and_lines_without_colon_are_no_data() {
    check(
        b": hello\nfoo: bar\nbaz\nevent: ping\ndata: x\n\ndata: y\n\n",
        &["ping: x", "message: y"],
    );
}

#[test]
fn an_event_without_data_is_not_dispatched_but_its_id_counts() {
    let seen = check(b"id: 7\n\nevent: x\n\n", &[]);
    assert_eq!(seen.id.as_deref(), Some("7"));
    let seen = check(b"id: 7\ndata:\n\n", &["message: "]);
    assert_eq!(seen.id.as_deref(), Some("7"));
}

#[test]
fn an_unfinished_event_counts_for_nothing() {
    let seen = check(b"id: 1\ndata: a\n\nid: 2\ndata: b\n", &["message: a"]);
    assert_eq!(seen.id.as_deref(), Some("1"));
}

#[test]
fn an_id_lasts_until_another_and_an_empty_one_takes_it_back() {
    assert_eq!(
        check(b"id: 1\n\ndata: a\n\n", &["message: a"])
            .id
            .as_deref(),
        Some("1")
    );
    assert_eq!(check(b"id: 1\n\nid\n\n", &[]).id, None);
    assert_eq!(check(b"id: 1\n\nid: 2\0\n\n", &[]).id.as_deref(), Some("1"));
}

#[test]
fn only_digits_make_a_retry() {
    assert_eq!(
        check(b"retry: 1500\n", &[]).retry,
        Some(Duration::from_millis(1500))
    );
    for bad in [
        "retry: 1s\n",
        "retry: -1\n",
        "retry:\n",
        "retry: 1 \n",
        "retry: +1\n",
    ] {
        assert_eq!(check(bad.as_bytes(), &[]).retry, None, "{bad}");
    }
    let endless = check(b"retry: 99999999999999999999\n", &[]).retry;
    assert_eq!(endless, Some(Duration::from_millis(u64::MAX)));
}

#[test]
fn an_event_over_the_limit_is_reported_once_and_the_next_one_is_read() {
    let long = [
        b"id: 9\ndata: ".as_slice(),
        &[b'x'; 40],
        b"\ndata: more\n\ndata: ok\n\n",
    ]
    .concat();
    let seen = check(
        &long,
        &[
            &format!("too large: {}", "x".repeat(LIMIT - 6)),
            "message: ok",
        ],
    );
    assert_eq!(seen.id.as_deref(), Some("9"));
    let many = b"data: 0123456789\ndata: 0123456789\ndata: 0123456789\n\ndata: ok\n\n";
    check(
        many,
        &["too large: 0123456789\\n0123456789\\n012345", "message: ok"],
    );
}

#[test]
fn an_overlong_comment_harms_nothing() {
    let stream = [b"data: a\n:".as_slice(), &[b'x'; 40], b"\ndata: b\n\n"].concat();
    check(&stream, &["message: a\\nb"]);
}

#[test]
fn what_never_ends_ends_the_stream() {
    let head = format!("too large: {}", "x".repeat(LIMIT - 5));
    check(
        &[b"data:".as_slice(), &[b'x'; 17 * LIMIT]].concat(),
        &[&head, "endless"],
    );
    check(
        &[b":".as_slice(), &[b'x'; 17 * LIMIT]].concat(),
        &["endless"],
    );
    let lines = b"data: 0123456789\n".repeat(100);
    check(
        &lines,
        &["too large: 0123456789\\n0123456789\\n012345", "endless"],
    );
}

/// The standard's algorithm, said plainly for a whole stream without limits.
fn model(stream: &str) -> Seen {
    let stream = stream.strip_prefix('\u{FEFF}').unwrap_or(stream);
    let stream = stream.replace("\r\n", "\n").replace('\r', "\n");
    let mut seen = Seen::default();
    let (mut event, mut data, mut id) = (String::new(), String::new(), String::new());
    let mut lines = stream.split('\n').collect::<Vec<_>>();
    lines.pop(); // unfinished
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            _ if line.is_empty() => {
                seen.id = Some(id.clone()).filter(|id| !id.is_empty());
                if let Some(data) = data.strip_suffix('\n') {
                    let event = if event.is_empty() { "message" } else { &event };
                    seen.frames
                        .push(format!("{event}: {}", escape(data.as_bytes())));
                }
                data.clear();
                event.clear();
            }
            "data" => data += &format!("{value}\n"),
            "event" => event = value.to_owned(),
            "id" if !value.contains('\0') => id = value.to_owned(),
            "retry" if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) => {
                seen.retry = value.parse().ok().map(Duration::from_millis);
            }
            _ => {}
        }
    }
    seen
}

fn pieces() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec![
            "\n", "\r", "\r\n", ":", ": ", "data", "data:", "data: a", "event: e", "id: 1", "id",
            "id: \0", "retry: 20", "retry: x", "é", "\u{FEFF}", " ",
        ]).prop_map(str::to_owned),
        1 => "[a-z]{0,3}",
    ]
}

proptest! {
    #[test]
    fn chunking_does_not_matter(
        stream in prop::collection::vec(prop_oneof![
            pieces().prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..40),
        ], 0..40),
        chunks in prop::collection::vec(1..50_usize, 1..20),
    ) {
        let stream = stream.concat();
        prop_assert_eq!(read(&stream, &chunks), read(&stream, &[stream.len().max(1)]));
    }

    #[test]
    fn short_streams_read_as_the_standard_says(lines in prop::collection::vec(
        (prop::collection::vec(pieces(), 0..2), prop::sample::select(vec!["\n", "\r", "\r\n"])),
        0..12,
    )) {
        let stream: String = lines
            .iter()
            .map(|(line, end)| format!("{}{end}", line.concat()))
            .collect();
        let want = model(&stream);
        prop_assume!(want.frames.iter().all(|frame| frame.len() < LIMIT));
        prop_assert_eq!(read(stream.as_bytes(), &[1]), want);
    }
}
