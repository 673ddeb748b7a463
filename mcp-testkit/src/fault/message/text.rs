//! Responses whose text is hard to read: encodings, sizes, depths.

use std::sync::Arc;

use crate::fault::Fault;
use crate::fault::twist::Asked;
use crate::protocol::Piece;

const MIB: usize = 1 << 20;

pub(super) const FAULTS: &[Fault] = &[
    Fault::call(
        "invalid-utf8-text",
        "answers the first call with bytes that are not UTF-8",
        |asked| {
            let mut bytes = prefix(asked);
            bytes.extend_from_slice(b"caf\xe9 \xff");
            bytes.extend_from_slice(SUFFIX);
            vec![Piece::Message(bytes)]
        },
    ),
    Fault::call(
        "lone-surrogate",
        "answers the first call with half a surrogate pair",
        |asked| vec![quoted(asked, r"\ud800 hello")],
    ),
    Fault::call(
        "unicode-valid",
        "answers the first call with a NUL, a line separator, a surrogate pair and an astral letter",
        |asked| vec![quoted(asked, "a\\u0000b\u{2028}c\\ud83d\\ude00\u{1f600}é")],
    ),
    Fault::call(
        "line-4m",
        "answers the first call with 4 MiB of text",
        |asked| vec![quoted(asked, &"x".repeat(4 * MIB))],
    ),
    Fault::call(
        "line-64m",
        "answers the first call with 64 MiB of text",
        |asked| vec![quoted(asked, &"x".repeat(64 * MIB))],
    ),
    Fault::call(
        "huge-numbers",
        "answers the first call with 1e400 and an integer of 5000 digits",
        |asked| {
            let digits = "9".repeat(5_000);
            let meta = format!(
                r#"{{"a":1e400,"b":123456789012345678901234567890,"c":-0.0,"d":1e-400,"e":{digits}}}"#
            );
            vec![with_meta(asked, &meta)]
        },
    ),
    Fault::call(
        "deep-10k",
        "answers the first call with 10 000 nested arrays",
        |asked| vec![deep(asked, 10_000)],
    ),
    Fault::call(
        "deep-1m",
        "answers the first call with 1 000 000 nested arrays",
        |asked| vec![deep(asked, 1_000_000)],
    ),
    Fault::call(
        "deep-unclosed",
        "sends a million times {\"a\": without an end before the good answer to the first call",
        |asked| vec![Piece::Message(br#"{"a":"#.repeat(1_000_000)), asked.good()],
    ),
];

const SUFFIX: &[u8] = br#""}],"resultType":"complete"}}"#;

fn prefix(asked: &Asked<'_>) -> Vec<u8> {
    let id = asked.id();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#)
        .into_bytes()
}

/// A response whose text is given in its escaped form.
fn quoted(asked: &Asked<'_>, text: &str) -> Piece {
    let mut bytes = prefix(asked);
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(SUFFIX);
    Piece::Message(bytes)
}

fn with_meta(asked: &Asked<'_>, meta: &str) -> Piece {
    let mut bytes = prefix(asked);
    bytes.extend_from_slice(
        format!(r#"hello"}}],"resultType":"complete","_meta":{meta}}}}}"#).as_bytes(),
    );
    Piece::Message(bytes)
}

fn deep(asked: &Asked<'_>, levels: usize) -> Piece {
    let nest: Arc<str> = format!("{}{}", "[".repeat(levels), "]".repeat(levels)).into();
    with_meta(asked, &format!(r#"{{"deep":{nest}}}"#))
}
