//! Line framing.

use mcp_transport::{Line, LineFramer};
use proptest::prelude::*;

const LIMIT: usize = 12;

/// Everything that comes out when the stream arrives in chunks of these sizes, over and over.
fn frame(stream: &[u8], chunks: &[usize]) -> Vec<Line> {
    let mut framer = LineFramer::new(LIMIT);
    let mut lines = Vec::new();
    let mut rest = stream;
    for size in chunks.iter().cycle() {
        let (chunk, left) = rest.split_at((*size).min(rest.len()));
        framer.push(chunk);
        lines.extend(std::iter::from_fn(|| framer.next_line()));
        rest = left;
        if rest.is_empty() {
            break;
        }
    }
    framer.finish();
    lines.extend(std::iter::from_fn(|| framer.next_line()));
    lines
}

/// The same, said plainly: the whole stream at once, no state.
fn model(stream: &[u8]) -> Vec<Line> {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let mut lines = Vec::new();
    for line in stream.split(|byte| *byte == b'\n') {
        if line.len() > LIMIT {
            lines.push(Line::TooLarge {
                head: line[..LIMIT].to_vec(),
            });
            if line.len() - LIMIT > 16 * LIMIT {
                lines.push(Line::Endless);
                break;
            }
        } else if !line.iter().all(u8::is_ascii_whitespace) {
            lines.push(Line::Whole(
                line.strip_suffix(b"\r").unwrap_or(line).to_vec(),
            ));
        }
    }
    lines
}

#[track_caller]
fn check(stream: &[u8], want: &[Line]) {
    for size in 1..=stream.len().max(1) {
        assert_eq!(frame(stream, &[size]), want, "in chunks of {size}");
    }
}

fn whole(line: &str) -> Line {
    Line::Whole(line.as_bytes().to_vec())
}

#[test]
fn lines_end_with_lf_or_crlf_and_blank_ones_are_skipped() {
    check(
        b"a\r\n\n \t \r\nb\nc\n",
        &[whole("a"), whole("b"), whole("c")],
    );
}

#[test]
fn one_byte_order_mark_at_the_start_is_dropped() {
    check(b"\xEF\xBB\xBFa\n", &[whole("a")]);
    check(
        b"a\n\xEF\xBB\xBFb\n",
        &[whole("a"), Line::Whole(b"\xEF\xBB\xBFb".to_vec())],
    );
}

#[test]
fn the_last_line_needs_no_newline() {
    check(b"a\nb", &[whole("a"), whole("b")]);
    check(b"\xEF\xBB", &[Line::Whole(b"\xEF\xBB".to_vec())]);
}

#[test]
fn a_line_over_the_limit_is_reported_once_and_the_next_one_is_read() {
    let head = b"0123456789ab".to_vec();
    check(
        b"0123456789ab\n0123456789abcdef\nok\n",
        &[
            Line::Whole(head.clone()),
            Line::TooLarge { head },
            whole("ok"),
        ],
    );
}

#[test]
fn a_line_that_never_ends_ends_the_stream() {
    let mut stream = vec![b'x'; 17 * LIMIT + 1];
    stream.extend_from_slice(b"\nok\n");
    check(
        &stream,
        &[
            Line::TooLarge {
                head: vec![b'x'; LIMIT],
            },
            Line::Endless,
        ],
    );
    stream.remove(0);
    check(
        &stream,
        &[
            Line::TooLarge {
                head: vec![b'x'; LIMIT],
            },
            whole("ok"),
        ],
    );
}

#[test]
fn large_lines_come_out_whole_wherever_they_lie_in_the_buffer() {
    let mut framer = LineFramer::new(1 << 20);
    let large = vec![b'x'; 200_000];
    framer.push(b"first\n");
    framer.push(&large);
    framer.push(b"\nlast\nrest");
    assert_eq!(framer.next_line(), Some(whole("first")));
    assert_eq!(framer.next_line(), Some(Line::Whole(large)));
    assert_eq!(framer.next_line(), Some(whole("last")));
    assert_eq!(framer.next_line(), None);
    framer.push(b" of it\n");
    assert_eq!(framer.next_line(), Some(whole("rest of it")));
}

#[test]
fn a_second_large_line_takes_no_more_room_than_it_needs() {
    let mut framer = LineFramer::new(1 << 20);
    let mut read = |size| {
        for _ in 0..size / 1000 {
            framer.push(&[b'x'; 1000]);
            assert_eq!(framer.next_line(), None);
        }
        framer.push(b"\n");
        match framer.next_line() {
            Some(Line::Whole(line)) => (line.len(), line.capacity()),
            other => panic!("{other:?}"),
        }
    };
    read(600_000);
    for size in [600_000, 590_000, 90_000] {
        let (length, capacity) = read(size);
        assert_eq!(length, size);
        assert!(capacity <= 600_000 + 64 * 1024, "{capacity}");
    }
    // One that is larger than the last is read all the same.
    assert_eq!(read(300_000).0, 300_000);
}

#[test]
fn an_endless_line_is_not_kept() {
    let mut framer = LineFramer::new(1000);
    for _ in 0..1000 {
        framer.push(&[b'x'; 1000]);
        while framer.next_line().is_some() {}
        assert!(framer.room().capacity() <= 4 * 64 * 1024);
    }
}

/// Streams of the bytes that matter, long enough to break the limits.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..6),
        4 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b" \t".to_vec()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
        1 => (1..20 * LIMIT).prop_map(|size| vec![b'x'; size]),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn chunking_does_not_matter(
        stream in streams(),
        chunks in prop::collection::vec(1..40_usize, 1..20),
    ) {
        prop_assert_eq!(frame(&stream, &chunks), model(&stream));
    }
}
