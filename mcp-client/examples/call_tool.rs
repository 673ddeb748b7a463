//! Lists a server's tools and calls one: on the server at a URL, or on its own test server.
//!
//! ```text
//! cargo run -p switchboard-mcp-client --example call_tool [URL TOOL ARGUMENTS]
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;

use mcp_client::{CallError, Client};
use mcp_transport::HttpConfig;
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let test_server = mcp_testkit::Server::default().start_http().await?;
    let mut given = std::env::args().skip(1);
    let url = given.next().unwrap_or_else(|| test_server.url());
    let tool = given.next().unwrap_or_else(|| "add".to_owned());
    let arguments = given
        .next()
        .unwrap_or_else(|| r#"{"a": 2, "b": 3}"#.to_owned());
    let arguments: Value = serde_json::from_str(&arguments)?;

    let client = Client::builder(HttpConfig::new(&url)?).connect().await?;
    for tool in client.list_tools().await?.items {
        println!("{}: {}", tool.name, tool.description.unwrap_or_default());
    }
    match client.call_tool(&tool, arguments).await {
        Ok(result) if result.failed() => println!("{tool} failed: {:?}", result.content),
        Ok(result) => println!("{tool} answered: {:?}", result.content),
        Err(CallError::OutcomeUnknown { .. }) => println!("{tool} may have run"),
        Err(error) => return Err(error.into()),
    }
    client.close().await;
    test_server.shutdown().await;
    Ok(())
}
