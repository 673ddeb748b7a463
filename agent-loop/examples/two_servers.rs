//! Connects two servers, asks a model that may use their tools, and prints the events:
//! `ANTHROPIC_API_KEY=… cargo run --example two_servers -- "What is in this folder?"`
#![allow(clippy::print_stdout, reason = "an example")]

use agent_loop::{Agent, Mode, Policy, RunEvent};
use mcp_manager::ServerConfig;
use provider_adapters::{Anthropic, HttpModel};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Ok(key) = std::env::var("ANTHROPIC_API_KEY") else {
        return Ok(()); // Without a key there is no model to ask.
    };
    let files = ["@modelcontextprotocol/server-filesystem", "."];
    let files = ServerConfig::command("files", "npx", files)?.trusted();
    let time = ServerConfig::command("time", "uvx", ["mcp-server-time"])?;
    let model = HttpModel::new(Anthropic::default())?.with_key(key);
    let agent = Agent::new(model.with_name("claude-sonnet-5-5"))
        .servers([files, time])
        // Read-only tools may run; the others are denied.
        .with_policy(Policy::new(Mode::AutoRead).unattended());
    let mut run = agent.begin(std::env::args().nth(1).unwrap_or_default());
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        match event {
            RunEvent::Text { text } => print!("{text}"),
            RunEvent::Call(call) => println!("[{} {:?}]", call.display_name, call.status),
            RunEvent::Done { reason } => println!("\n[{reason}]"),
            _ => {}
        }
    }
    agent.close().await;
    Ok(())
}
