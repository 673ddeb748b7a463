//! A gateway for the official conformance suites: `--upstream URL… [--port N]`.
//!
//! The names of a single server have no prefix, because the suites know them; those of several servers have one.
//! Callers are not authenticated, because the suites send no token.

#![allow(clippy::print_stdout, reason = "a program")]

use std::error::Error;

use mcp_gateway::{Gateway, Upstream};
use mcp_jsonrpc::model::Implementation;
use mcp_manager::{RemoteEndpoint, ServerConfig};
use mcp_server::http::{HttpService, serve};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (mut port, mut upstreams) = (0, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--port" => port = value.parse()?,
            "--upstream" => upstreams.push(value),
            _ => return Err(format!("unknown argument: {name} {value}").into()),
        }
    }
    let mut builder = Gateway::builder(Implementation::new("gateway", "1"));
    let is_single = match upstreams.len() {
        0 => return Err("--upstream is missing".into()),
        count => count == 1,
    };
    for (number, url) in upstreams.into_iter().enumerate() {
        let name = format!("fixture{number}").parse()?;
        let upstream = Upstream::new(ServerConfig::remote(name, RemoteEndpoint::new(url)));
        builder = builder.upstream(match is_single {
            true => upstream.with_prefix(""),
            false => upstream,
        });
    }
    let (gateway, startup) = builder.start().await;
    if let Some((server, error)) = startup.errors.first() {
        return Err(format!("{server}: {error}").into());
    }
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    serve(listener, HttpService::new(gateway.service())).await?;
    Ok(())
}
