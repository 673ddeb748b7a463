//! Any lines from a client: the server does not panic, writes only JSON-RPC messages, and answers every
//! request that can be read exactly once, unless it was cancelled.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use mcp_jsonrpc::model::{Implementation, Resource, Tool};
use mcp_jsonrpc::{DecodeLimits, Incoming, MessageRef, RawObject, decode};
use mcp_server::{Context, ServerLimits, Roots, Server};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Longest input: all of it fits into the pipe.
const LIMIT: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    if bytes.len() > LIMIT {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let written = runtime.block_on(serve(bytes));
    let mut replies: BTreeMap<String, usize> = BTreeMap::new();
    for line in written
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        match decode(line, &DecodeLimits::default()) {
            Ok(Incoming::Single(message)) => count(&message, &mut replies),
            Ok(Incoming::Batch(batch)) => {
                for message in batch {
                    count(&message.unwrap(), &mut replies);
                }
            }
            Err(error) => panic!("{error}: {}", String::from_utf8_lossy(line)),
        }
    }
    // Only where ids are used once is it clear what belongs together.
    let Some(asked) = requests(bytes) else {
        return;
    };
    for id in asked {
        assert_eq!(replies.get(&id), Some(&1), "{id}");
    }
});

fn count(message: &MessageRef<'_>, replies: &mut BTreeMap<String, usize>) {
    if let MessageRef::Response { id: Some(id), .. } = message {
        *replies.entry(id.to_string()).or_default() += 1;
    }
}

/// The ids of all requests; `None` if one is used twice, or something may end one without a response.
fn requests(bytes: &[u8]) -> Option<Vec<String>> {
    let mut ids = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        match decode(
            line,
            &DecodeLimits::default()
                .with_message_bytes(LIMIT)
                .with_depth(64),
        ) {
            Ok(Incoming::Single(MessageRef::Request { id, method, .. })) => {
                let id = id.to_string();
                if method == "subscriptions/listen" || ids.contains(&id) {
                    return None;
                }
                ids.push(id);
            }
            Ok(Incoming::Single(MessageRef::Notification { method, .. })) => {
                if method == "notifications/cancelled" {
                    return None;
                }
            }
            Ok(Incoming::Single(MessageRef::Response { .. })) => {}
            // What cannot be read may have an id that can.
            Ok(Incoming::Batch(_)) | Err(_) => return None,
        }
    }
    Some(ids)
}

async fn serve(bytes: &[u8]) -> Vec<u8> {
    let service = Server::new(Implementation::new("fuzz", "1"))
        .tool_with_schema(
            Tool::new("echo", RawObject::empty()),
            |arguments: Value, _: Context| async move { arguments.to_string() },
        )
        .tool_with_schema(
            Tool::new("ask", RawObject::empty()),
            |_: Value, cx: Context| async move {
                cx.ask("roots", Roots::new())
                    .await
                    .map(|roots| roots.len().to_string())
            },
        )
        .resource(Resource::new("test://a", "a"), |_| async { "a" })
        .limits(
            ServerLimits::default()
                .with_message_bytes(LIMIT)
                .with_in_flight(usize::MAX),
        )
        .build();
    let (ours, theirs) = tokio::io::duplex(LIMIT);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(async move { service.serve_streams(reader, writer).await });
    let (mut reader, mut writer) = tokio::io::split(ours);
    let reading = tokio::spawn(async move {
        let mut all = Vec::new();
        let _ = reader.read_to_end(&mut all).await;
        all
    });
    let _ = writer.write_all(bytes).await;
    let _ = writer.shutdown().await;
    serving.await.unwrap();
    reading.await.unwrap()
}
