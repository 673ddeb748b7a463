//! Bytes around and inside lines.

use super::{End, STYLE, lines, live_on, serve};
use crate::fault::Fault;
use crate::protocol::Piece;
use crate::wire::Style;

const MIB: usize = 1 << 20;

pub(super) const FAULTS: &[Fault] = &[
    lines(
        "log-garbage",
        "writes log lines, blank lines and stray JSON to standard output between its messages",
        Style {
            before: b"DEBUG about to send {'python': 'repr'}\n\n",
            ..STYLE
        },
        |lines| {
            Box::pin(async move {
                let noise = b"Starting server v1.2.3 ...\n\n[INFO] listening\n{ not json\n\"a string\"\n42\n";
                lines.out.send(Piece::raw(noise.as_slice())).await;
                serve(lines).await
            })
        },
    ),
    lines(
        "blank-lines",
        "writes blank lines between its messages",
        Style {
            before: b"\n \n\r\n",
            ..STYLE
        },
        |lines| {
            Box::pin(async move {
                lines
                    .out
                    .send(Piece::raw(b"\n\n   \n\r\n\t\n".as_slice()))
                    .await;
                serve(lines).await
            })
        },
    ),
    lines(
        "bom",
        "writes a byte order mark before its first message",
        STYLE,
        |lines| {
            Box::pin(async move {
                lines.out.send(Piece::raw(b"\xef\xbb\xbf".as_slice())).await;
                serve(lines).await
            })
        },
    ),
    lines(
        "crlf",
        "ends its lines with CRLF",
        Style {
            end: b"\r\n",
            ..STYLE
        },
        |lines| Box::pin(serve(lines)),
    ),
    lines(
        "invalid-utf8-log",
        "writes log lines that are not UTF-8 between its messages",
        Style {
            before: b"\xff\xff junk\n",
            ..STYLE
        },
        |lines| {
            Box::pin(async move {
                lines
                    .out
                    .send(Piece::raw(
                        b"caf\xe9 \xff\xfe \xc3\x28 log line\n".as_slice(),
                    ))
                    .await;
                serve(lines).await
            })
        },
    ),
    lines(
        "one-byte-writes",
        "writes one byte at a time",
        Style { step: 1, ..STYLE },
        |lines| Box::pin(serve(lines)),
    ),
    lines(
        "line-endless",
        "answers the first call with a line of 1 GiB",
        STYLE,
        |lines| {
            Box::pin(async move {
                let Some(call) = lines.until("tools/call").await? else {
                    return Ok(End::Closed);
                };
                let id = call.get("id").map(ToString::to_string).unwrap_or_default();
                let start = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#
                );
                lines.out.send(Piece::raw(start.into_bytes())).await;
                lines
                    .out
                    .send(Piece::Raw(vec![b'A'; MIB].into(), 1_024))
                    .await;
                if lines.out.flush().await {
                    lines.session.world.log.mark("flood-complete", 1 << 30);
                }
                live_on().await
            })
        },
    ),
    lines(
        "no-newline-eof",
        "answers the first call without a line end, then closes",
        STYLE,
        |lines| {
            Box::pin(async move {
                if let Some(call) = lines.until("tools/call").await? {
                    let answer = lines.answer(&call).await;
                    lines.out.send(Piece::raw(answer)).await;
                    lines.out.flush().await;
                }
                Ok(End::Closed)
            })
        },
    ),
];
