//! Classifies each line of a recorded MCP conversation.
//!
//! ```text
//! cargo run -p mcp-jsonrpc --example read_messages [FILE]
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;

use mcp_jsonrpc::model::CallToolResult;
use mcp_jsonrpc::{Body, DecodeLimits, Incoming, MessageRef, decode};

const SAMPLE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"clock"}}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}
{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"noon"}]}}
{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}
{"jsonrpc":"2.0","id":3,"result":"#;

fn main() -> Result<(), Box<dyn Error>> {
    let text = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => SAMPLE.to_owned(),
    };
    for line in text.lines() {
        match decode(line.as_bytes(), &DecodeLimits::default()) {
            Ok(Incoming::Single(message)) => describe(&message),
            Ok(Incoming::Batch(entries)) => println!("a batch of {}", entries.len()),
            // The id is known even for an invalid message, so that its call can fail at once.
            Err(error) => println!("not a message: {error}"),
        }
    }
    Ok(())
}

fn describe(message: &MessageRef<'_>) {
    match message {
        MessageRef::Request { id, method, .. } => println!("request {id}: {method}"),
        MessageRef::Notification { method, .. } => println!("notification: {method}"),
        MessageRef::Response { id, outcome } => {
            let id = id.as_ref().map(ToString::to_string).unwrap_or_default();
            match outcome {
                // Bodies stay raw until they are read as the expected type.
                Ok(result) => match CallToolResult::read(*result) {
                    Ok(result) => println!("result of {id}: {:?}", result.content),
                    Err(error) => println!("result of {id}, not a tool's: {error}"),
                },
                Err(error) => println!("error of {id}: {}", error.message),
            }
        }
    }
}
