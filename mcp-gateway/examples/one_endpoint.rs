//! Two servers behind one gateway, and a client of it, all in one process.
//!
//! ```text
//! cargo run -p switchboard-mcp-gateway --example one_endpoint
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;

use mcp_client::Client;
use mcp_gateway::{Gateway, Upstream};
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{Implementation, Tool};
use mcp_manager::ServerConfig;
use mcp_server::http::{HttpService, serve};
use mcp_server::{Context, Server};
use mcp_transport::memory;
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let kitchen = start("kitchen", "boil", "The water boils.").await?;
    let garden = start("garden", "water", "The roses are wet.").await?;
    let (gateway, startup) = Gateway::builder(Implementation::new("house", "1.0.0"))
        .upstream(Upstream::new(ServerConfig::url("kitchen", kitchen)?))
        .upstream(Upstream::new(ServerConfig::url("garden", garden)?).with_prefix(""))
        .start()
        .await;
    for (server, error) in &startup.errors {
        println!("{server} is left out: {error}");
    }

    // `gateway.service().serve_stdio()` serves the program that started this one, and
    // `HttpService::new(gateway.service())` serves many clients at a URL.
    let (connect, mut listener) = memory::listen();
    let service = gateway.service().clone();
    tokio::spawn(async move {
        while let Some(transport) = listener.accept().await {
            service.serve(transport).await;
        }
    });
    let client = Client::builder(connect).connect().await?;
    for tool in client.list_tools().await?.items {
        let result = client.call_tool(&tool.name, json!({})).await?;
        println!("{}: {:?}", tool.name, result.content);
    }
    client.close().await;
    gateway.shutdown().await;
    Ok(())
}

/// A server with one tool, at a loopback URL.
async fn start(name: &str, tool: &str, answer: &'static str) -> Result<String, Box<dyn Error>> {
    let tool = Tool::new(tool, RawObject::empty());
    let server = Server::new(Implementation::new(name, "1.0.0"))
        .tool_with_schema(tool, move |_: Value, _: Context| async move { answer });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(serve(listener, HttpService::new(&server.build())));
    Ok(url)
}
