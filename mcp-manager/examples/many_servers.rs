//! Two servers behind one catalogue, one of which is down.
//!
//! ```text
//! cargo run -p mcp-manager --example many_servers
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::time::Duration;

use mcp_manager::{CallOptions, Manager, ServerConfig, Wait, flatten};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let test_server = mcp_testkit::Server::default().start_http().await?;
    let kit = ServerConfig::url("kit", test_server.url())?;
    let git = ServerConfig::command("git", "no-such-program", ["--repository", "."])?;

    let manager = Manager::builder().build();
    let wait = Wait::UpTo(Duration::from_secs(5));
    let startup = manager.connect_all([kit, git], wait).await;
    for (server, error) in &startup.errors {
        // The other works, and this one is tried again in the background.
        println!("{server} is down: {error}");
    }
    for tool in manager.catalog().enabled_tools() {
        println!(
            "{}: {}",
            tool.exposed_name(),
            tool.description().unwrap_or_default()
        );
    }
    let sum = json!({"a": 2, "b": 3});
    let result = manager
        .call_by_name("mcp__kit__add", sum, CallOptions::default())
        .await?;
    println!("2 + 3 = {}", flatten(&result.content));

    manager.shutdown().await;
    test_server.shutdown().await;
    Ok(())
}
