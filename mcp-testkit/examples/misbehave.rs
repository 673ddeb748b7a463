//! A misbehaving server, and its log. The client here is a few lines of text; replace it with yours, over a pipe as
//! here, or at the URL of `start_http`.
//!
//! ```text
//! cargo run -p mcp-testkit --example misbehave [FAULT]
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::time::Duration;

use mcp_testkit::{Fault, Script, Server, Tool};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lines","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"dice","arguments":{}}}
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1);
    let name = name.as_deref().unwrap_or("answers-twice");
    let fault = Fault::named(name).ok_or_else(|| format!("there is no fault {name}"))?;
    let dice = Tool::new("dice").answering(|_| json!({"content": [{"type": "text", "text": "4"}]}));
    let server = Server::new(Script::minimal().with_tool(dice)).with_fault(fault);

    let (mut stream, running) = server.pipe()?;
    stream.write_all(HELLO.as_bytes()).await?;
    let mut lines = BufReader::new(stream).lines();
    // Some faults make the server go silent.
    while let Ok(Ok(Some(line))) = timeout(Duration::from_secs(1), lines.next_line()).await {
        println!("<- {line}");
    }
    println!("the server saw: {:?}", running.log().methods());
    running.shutdown().await;
    Ok(())
}
