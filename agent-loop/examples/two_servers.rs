//! Connects two servers, asks a model that may use their tools, and prints what happens:
//! `ANTHROPIC_API_KEY=… cargo run --example two_servers -- "What is in this folder?"`
#![allow(clippy::print_stdout, reason = "an example")]

use agent_loop::{Agent, ManagedTools, Mode, Policy, Run, RunEvent};
use mcp_manager::{Manager, ServerConfig, StdioEndpoint, Wait};
use provider_adapters::{Anthropic, HttpModel};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Ok(key) = std::env::var("ANTHROPIC_API_KEY") else {
        return Ok(()); // Without a key there is nobody to ask.
    };
    let files =
        StdioEndpoint::new("npx").with_args(["@modelcontextprotocol/server-filesystem", "."]);
    let time = StdioEndpoint::new("uvx").with_args(["mcp-server-time"]);
    let files = ServerConfig::stdio("files".parse()?, files).trusted();
    let time = ServerConfig::stdio("time".parse()?, time);
    let manager = Manager::builder().build();
    manager.connect_all([files, time], Wait::All).await;

    let model = HttpModel::new(Anthropic::default())?.with_key(key);
    let tools = ManagedTools::new(manager.clone());
    let agent = Agent::new(model, "claude-sonnet-5-5", tools);
    // Tools that only read may run; nobody is asked about the others.
    let mut run = Run::default().with_policy(Policy::new(Mode::AutoRead).unattended());
    run.ask(std::env::args().nth(1).unwrap_or_default());
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        match event {
            RunEvent::Text { text } => print!("{text}"),
            RunEvent::Call(call) => println!("[{} {:?}]", call.display_name, call.status),
            RunEvent::Done { reason } => println!("\n[{reason}]"),
            _ => {}
        }
    }
    manager.shutdown().await;
    Ok(())
}
