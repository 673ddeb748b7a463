//! Both ends of a connection in one process: the server answers pings.
//!
//! ```text
//! cargo run -p mcp-transport --example in_memory
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;

use mcp_jsonrpc::{DecodeLimits, MessageRef, decode};
use mcp_transport::{Connect, Incoming, Outgoing, Transport, memory};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (connect, mut listener) = memory::listen();
    tokio::spawn(async move {
        while let Some(client) = listener.accept().await {
            tokio::spawn(async move { answer_pings(client).await });
        }
    });

    // A `ServerCommand` or an `HttpConfig` connects in the same way; everything else is the same.
    let connection = connect.connect().await?;
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec();
    connection
        .send(Outgoing::request(1.into(), "ping", ping))
        .await?;
    match connection.recv().await {
        Incoming::Message { body, .. } => println!("{}", String::from_utf8_lossy(&body)),
        Incoming::Closed(closed) => println!("closed: {:?}", closed.error),
        _ => {}
    }
    connection.close().await;
    Ok(())
}

async fn answer_pings(client: impl Transport) {
    while let Incoming::Message { body, .. } = client.recv().await {
        // A transport does not parse messages; `mcp-jsonrpc` does.
        let Ok(mcp_jsonrpc::Incoming::Single(MessageRef::Request { id, .. })) =
            decode(&body, &DecodeLimits::default())
        else {
            continue;
        };
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        if client
            .send(Outgoing::response(id, answer.into_bytes()))
            .await
            .is_err()
        {
            return;
        }
    }
}
