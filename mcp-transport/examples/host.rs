//! A host that keeps a ledger of its servers. It exits when its stdin ends; if it is killed instead, the next one ends
//! what it has left behind.
//!
//! `cargo run --example host -- <ledger directory> <shell script>…`
#![allow(clippy::print_stdout, reason = "it talks to whoever runs it")]

use std::error::Error;
use std::io::Read;
use std::sync::Arc;

use mcp_transport::{
    Connect, LocalSpawner, ProcessLedger, ProcessTracker, ServerCommand, StdioConnect,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("which directory?")?;
    let ledger = ProcessLedger::open(dir)?;
    if !ledger.reaped().is_empty() {
        println!("ended what a host before has left: {:?}", ledger.reaped());
    }
    let _ = ProcessTracker::global().keep_ledger(ledger);
    let mut servers = Vec::new();
    for script in args {
        let command = ServerCommand::new("sh").with_args(["-c", &script]);
        let spawner = Arc::new(LocalSpawner::new());
        let server = StdioConnect::new(command, spawner).connect().await?;
        server.recv().await;
        servers.push(server);
    }
    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    // No destructor runs now: the tracker's exit hook ends the servers.
    std::process::exit(0)
}
