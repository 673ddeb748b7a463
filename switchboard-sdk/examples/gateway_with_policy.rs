//! A gateway in front of the servers at some URLs, or of its own demo server: deletions are neither listed nor called,
//! reading needs no approval, and for all other calls the client is asked.
//!
//! ```text
//! cargo run -p switchboard-sdk --features gateway --example gateway_with_policy [URL…] &
//! switchboard tools http://127.0.0.1:8080/mcp
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;

use serde_json::Value;
use switchboard_sdk::policy::{Effect, Mode, Policy, Rule};
use switchboard_sdk::prelude::*;
use switchboard_sdk::protocol::RawObject;
use switchboard_sdk::server::http::{HttpService, serve};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut urls: Vec<String> = std::env::args().skip(1).collect();
    if urls.is_empty() {
        urls.push(start_files().await?);
    }
    let policy = Policy::new(Mode::Ask)
        .with_rule(Rule::new(Effect::Deny, "*", "delete*"))
        .with_rule(Rule::new(Effect::Allow, "*", "read*"));
    let mut gateway = Gateway::builder(Implementation::new("gateway", "1.0.0")).policy(policy);
    for (number, url) in urls.into_iter().enumerate() {
        gateway = gateway.upstream(Upstream::new(ServerConfig::url(
            &format!("server{number}"),
            url,
        )?));
    }
    let (gateway, startup) = gateway.start().await;
    for (server, error) in &startup.errors {
        println!("{server} is left out: {error}");
    }
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    serve(listener, HttpService::new(gateway.service())).await?;
    Ok(())
}

/// A server with three tools, at a loopback URL.
async fn start_files() -> Result<String, Box<dyn Error>> {
    let mut server = Server::new(Implementation::new("files", "1.0.0"));
    for name in ["read", "write", "delete"] {
        let tool = Tool::new(name, RawObject::empty());
        let answer = format!("This is all that {name} does.");
        server = server.tool_with_schema(tool, move |_: Value, _: Context| {
            let answer = answer.clone();
            async move { answer }
        });
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(serve(listener, HttpService::new(&server.build())));
    Ok(url)
}
