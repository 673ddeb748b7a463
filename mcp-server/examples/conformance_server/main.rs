//! The server under test of the official conformance suites: `--port N [--era legacy|modern|both]`.
//!
//! The names, and the texts where they matter, are those the suites expect.

#![allow(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a program; indexing JSON does not panic"
)]

mod content;
mod questions;
mod tasks;

use std::error::Error;

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{CacheScope, Implementation, Tool};
use mcp_server::http::{HttpService, serve};
use mcp_server::{Eras, Server};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (mut port, mut eras) = (0, Eras::Both);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        match (name.as_str(), value.as_str()) {
            ("--port", number) => port = number.parse()?,
            ("--era", "legacy") => eras = Eras::Legacy,
            ("--era", "modern") => eras = Eras::Modern,
            ("--era", "both") => eras = Eras::Both,
            _ => return Err(format!("unknown argument: {name} {value}").into()),
        }
    }
    let server = Server::new(Implementation::new(
        "conformance",
        env!("CARGO_PKG_VERSION"),
    ))
    .instructions("Offers what the conformance suites call.")
    .eras(eras)
    .cache(std::time::Duration::from_secs(60), CacheScope::Public);
    let server = content::add(server)?;
    let server = questions::add(server)?;
    let service = tasks::add(server)?.build();
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    serve(listener, HttpService::new(&service).legacy_sse()).await?;
    Ok(())
}

/// A tool with this schema.
fn tool(name: &str, description: &str, schema: &Value) -> Result<Tool, Box<dyn Error>> {
    let mut tool = Tool::new(name, RawObject::from_serialize(schema)?);
    tool.description = Some(description.to_owned());
    Ok(tool)
}

/// A tool without arguments.
fn plain(name: &str, description: &str) -> Result<Tool, Box<dyn Error>> {
    tool(
        name,
        description,
        &json!({"type": "object", "properties": {}}),
    )
}

/// A tool with string arguments, all required.
fn strings(name: &str, description: &str, names: &[&str]) -> Result<Tool, Box<dyn Error>> {
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|&name| (name.to_owned(), json!({"type": "string"})))
        .collect();
    let schema = json!({"type": "object", "properties": properties, "required": names});
    tool(name, description, &schema)
}
