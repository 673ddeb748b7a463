//! What servers do to tool calls, row by row, and what must come out all the same.

mod anthropic;
mod call;
mod chat;
mod gemini;
mod responses;

use provider_adapters::{Adapter, Expected, Reply, ReplyEvent};

/// What comes out of these bytes: whole, and byte by byte.
#[track_caller]
fn read(adapter: &dyn Adapter, bytes: &str) -> Reply {
    let decode = |size: usize| {
        let mut decoder = adapter.decoder(Expected::default());
        let mut events = Vec::new();
        for piece in bytes.as_bytes().chunks(size) {
            decoder.push(piece, &mut events);
        }
        let reply = decoder.finish(&mut events);
        (events, reply)
    };
    let (events, reply) = decode(bytes.len().max(1));
    assert_eq!(decode(1), (events.clone(), reply.clone()));
    check_order(&events);
    reply
}

/// Starts come before chunks, chunks before ends, and every start has its end.
#[track_caller]
fn check_order(events: &[ReplyEvent]) {
    let mut open: Vec<String> = Vec::new();
    for event in events {
        match event {
            ReplyEvent::ToolCallStart { tool_call_id, .. } => open.push(tool_call_id.to_string()),
            ReplyEvent::ToolCallChunk { tool_call_id, .. } => {
                assert!(open.contains(&tool_call_id.to_string()), "{events:?}");
            }
            ReplyEvent::ToolCallEnd { tool_call_id, .. } => {
                let at = open
                    .iter()
                    .position(|id| *id == tool_call_id.to_string())
                    .unwrap();
                open.remove(at);
            }
            _ => {}
        }
    }
    assert_eq!(open, Vec::<String>::new(), "{events:?}");
}

/// The calls as `id name arguments`, an exclamation mark before those that must not be executed.
fn calls(reply: &Reply) -> Vec<String> {
    let summary = |call: &provider_adapters::ToolCall| {
        let mark = if call.executable().is_some() { "" } else { "!" };
        let id = if call.generated {
            "*"
        } else {
            call.id.as_str()
        };
        let arguments = call
            .arguments
            .object()
            .map_or(call.arguments.text(), |object| object.get());
        format!("{mark}{id} {} {arguments}", call.name)
    };
    reply.calls().map(summary).collect()
}
