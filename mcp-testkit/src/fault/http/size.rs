//! Oversized bodies, events and heads.

use std::io;

use super::{Hit, JSON, On, TEXT, http, json_head};
use crate::fault::Fault;
use crate::wire::event;
use crate::wire::gzip::{bomb_run, bomb_start};

const MIB: usize = 1 << 20;
/// The amount sent as "endless", in MiB: 1 GiB.
const FLOOD: u64 = 1_024;

pub(super) const FAULTS: &[Fault] = &[
    http(
        "json-4m",
        "answers calls with a body of 4 MiB (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let body = four_mib(hit);
                hit.conn.reply(200, JSON, &[], &body).await
            })
        },
    ),
    http(
        "sse-event-4m",
        "answers calls with an event of 4 MiB (no fault)",
        On::Call,
        |hit| {
            Box::pin(async move {
                let event = event(&four_mib(hit), None);
                hit.conn.begin_events(&[]).await?;
                for chunk in event.chunks(MIB) {
                    hit.conn.chunk(chunk).await?;
                }
                hit.conn.end().await
            })
        },
    ),
    http(
        "endless-json",
        "answers calls with a JSON body of 1 GiB",
        On::Call,
        |hit| {
            Box::pin(async move {
                let start = hit.text_prefix();
                hit.conn.begin(200, JSON, &[]).await?;
                flood(hit, &start, &vec![b'A'; MIB]).await
            })
        },
    ),
    http(
        "content-length-huge",
        "promises a body of 2^50 bytes and sends sixteen",
        On::Call,
        |hit| {
            Box::pin(async move {
                hit.conn.raw(&json_head(1_u64 << 50)).await?;
                hit.conn.raw(br#"{"jsonrpc":"2.0""#).await?;
                hit.conn.hang().await
            })
        },
    ),
    http(
        "endless-error-body",
        "answers calls with 500 and a body of 1 GiB",
        On::Call,
        |hit| {
            Box::pin(async move {
                hit.conn.begin(500, TEXT, &[]).await?;
                flood(hit, b"error: ", &vec![b'E'; MIB]).await
            })
        },
    ),
    http(
        "endless-sse-event",
        "answers calls with one event line of 1 GiB",
        On::Call,
        |hit| {
            Box::pin(async move {
                hit.conn.begin_events(&[]).await?;
                flood(hit, b"data: ", &vec![b'A'; MIB]).await
            })
        },
    ),
    http(
        "endless-sse-lines",
        "answers calls with one event of 1 GiB in short lines",
        On::Call,
        |hit| {
            Box::pin(async move {
                let line = [b"data: ".as_slice(), &[b'A'; 57], b"\n"].concat();
                hit.conn.begin_events(&[]).await?;
                flood(hit, b":\n", &line.repeat(MIB / line.len())).await
            })
        },
    ),
    http(
        "sse-comment-flood",
        "sends 60 MB of comments before the answers to calls",
        On::Call,
        |hit| {
            Box::pin(async move {
                let comments = b": keepalive keepalive keepalive keepalive keepalive keepalive\n"
                    .repeat(16_384);
                let good = event(&hit.good().await, None);
                hit.conn.begin_events(&[]).await?;
                for _ in 0..60 {
                    hit.conn.chunk(&comments).await?;
                }
                hit.conn.chunk(&good).await?;
                hit.conn.end().await
            })
        },
    ),
    http(
        "endless-headers",
        "answers calls with 1 GiB of headers",
        On::Call,
        |hit| {
            Box::pin(async move {
                let fields: Vec<u8> = (0..1_000)
                    .flat_map(|n| format!("X-Fill-{n}: {}\r\n", "A".repeat(1_000)).into_bytes())
                    .collect();
                hit.conn.raw(b"HTTP/1.1 200 OK\r\n").await?;
                hit.conn.repeat(&fields, FLOOD).await?;
                hit.mark("flood-complete");
                hit.conn.close().await
            })
        },
    ),
    http(
        "gzip-bomb",
        "answers calls with 1 GiB packed into 7 MB of gzip",
        On::Call,
        |hit| {
            Box::pin(async move {
                let start = bomb_start(&hit.text_prefix());
                // Each thirteen bytes unpack to 8 × 258.
                let run = bomb_run().repeat(4_096);
                let runs = (FLOOD << 20) / (4_096 * 8 * 258);
                hit.conn
                    .begin(200, JSON, &[("Content-Encoding", "gzip")])
                    .await?;
                hit.conn.chunk(&start).await?;
                for _ in 0..runs {
                    hit.conn.chunk(&run).await?;
                }
                hit.mark("flood-complete");
                hit.conn.end().await
            })
        },
    ),
];

fn four_mib(hit: &Hit<'_>) -> Vec<u8> {
    [hit.text_prefix(), vec![b'x'; 4 * MIB], br#""}]}}"#.to_vec()].concat()
}

/// Sends one start, then the same block until a gigabyte is sent.
async fn flood(hit: &mut Hit<'_>, start: &[u8], block: &[u8]) -> io::Result<()> {
    hit.conn.chunk(start).await?;
    for _ in 0..FLOOD {
        hit.conn.chunk(block).await?;
    }
    hit.mark("flood-complete");
    hit.conn.close().await
}
