//! A gateway for the official conformance suites to judge: `--upstream URL [--port N]`.
//!
//! Names have no prefix, because the suites know them, and callers are not authenticated, because the
//! suites send no token.

#![allow(clippy::print_stdout, reason = "a program")]

use std::error::Error;

use mcp_gateway::{Gateway, Upstream};
use mcp_jsonrpc::model::Implementation;
use mcp_manager::{RemoteEndpoint, ServerConfig};
use mcp_server::http::{HttpService, serve};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (mut port, mut upstream) = (0, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--port" => port = value.parse()?,
            "--upstream" => upstream = Some(value),
            _ => return Err(format!("unknown argument: {name} {value}").into()),
        }
    }
    let upstream = upstream.ok_or("--upstream is missing")?;
    let config = ServerConfig::remote("fixture".parse()?, RemoteEndpoint::new(upstream));
    let (gateway, startup) = Gateway::builder(Implementation::new("gateway", "1"))
        .upstream(Upstream::new(config).with_prefix(""))
        .start()
        .await;
    if let Some((server, error)) = startup.errors.first() {
        return Err(format!("{server}: {error}").into());
    }
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    serve(listener, HttpService::new(gateway.service())).await?;
    Ok(())
}
