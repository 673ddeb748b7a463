//! Starts a server under its suggested profile, and lists its tools:
//! `cargo run -p mcp-sandbox --example contained -- [--host HOST]… PROGRAM [ARGUMENT]…`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use mcp_client::ClientBuilder;
use mcp_sandbox::{Denial, Network, PathKind, Sandbox, suggest};
use mcp_transport::{ServerCommand, StdioConnect};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut hosts = Vec::new();
    while args.first().is_some_and(|arg| arg == "--host") && args.len() > 1 {
        let host: Vec<String> = args.drain(..2).collect();
        hosts.push(host.concat().trim_start_matches("--host").parse()?);
    }
    let mut args = args.into_iter();
    let program = args.next().ok_or("which program?")?;
    let command = ServerCommand::new(program).with_args(args);

    let kind = |path: &Path| match path.metadata() {
        Ok(it) if it.is_dir() => PathKind::Folder,
        Ok(_) => PathKind::File,
        Err(_) => PathKind::Missing,
    };
    let (mut profile, reasons) = suggest(&command, kind);
    for suggestion in reasons {
        let path = suggestion.path.display();
        println!("{:?} {path}: {}", suggestion.access, suggestion.reason);
    }
    if !hosts.is_empty() {
        profile = profile.with_network(Network::Hosts(hosts));
    }
    let own = std::env::temp_dir().join(format!("contained-{}", std::process::id()));
    let sandbox = Sandbox::new(profile.weaker_if_need_be(), &own);
    println!("{}", sandbox.containment());

    let connect = StdioConnect::new(command, Arc::new(sandbox.clone()));
    let home = std::env::var_os("HOME");
    match ClientBuilder::new(Arc::new(connect)).connect().await {
        Ok(client) => {
            let tools = client.list_tools().await?.items;
            println!("{} tools", tools.len());
            client.close().await;
        }
        Err(error) => {
            // The causes carry the tail of the server's standard error.
            let mut said = String::new();
            let mut cause: Option<&dyn Error> = Some(&error);
            while let Some(error) = cause {
                said.push_str(&format!("{error}\n"));
                cause = error.source();
            }
            println!("{said}");
            let home = home.as_deref().map(Path::new);
            for denial in Denial::in_text(&said, home) {
                println!("{denial}");
            }
        }
    }
    for denial in sandbox.denials() {
        println!("{denial}");
    }
    std::fs::remove_dir_all(own)?;
    Ok(())
}
