//! How long the tools of many servers are scanned, each beside the tools of all others: `scan_time SERVERS TOOLS`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::time::Instant;

use tool_policy::{Neighbours, ToolScan};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let (servers, tools) = match (numbers.next(), numbers.next()) {
        (Some(servers), Some(tools)) => (servers?, tools?),
        _ => (100, 50),
    };
    let definition =
        serde_json::json!({"name": "read_file", "description": "Reads a file.", "inputSchema": {}});
    let scan = ToolScan::of(&serde_json::from_value(definition)?);
    let name = |server: usize, tool: usize| format!("tool_{server}_{tool}");
    let names = |server: usize| (0..tools).map(move |tool| name(server, tool));

    let start = Instant::now();
    let all =
        (0..servers).flat_map(|server| names(server).map(move |name| (server.to_string(), name)));
    let all = Neighbours::of_all(all);
    let mut found = 0;
    for server in 0..servers {
        let neighbours = all.of(&server.to_string());
        found += (0..tools)
            .map(|_| scan.beside(&neighbours).len())
            .sum::<usize>();
    }
    println!(
        "{servers} servers with {tools} tools each: {:?}, {found} findings",
        start.elapsed()
    );

    let start = Instant::now();
    for server in 0..servers {
        let others = (0..servers)
            .filter(|other| *other != server)
            .flat_map(names);
        let neighbours = Neighbours::new(others).without(names(server));
        found += (0..tools)
            .map(|_| scan.beside(&neighbours).len())
            .sum::<usize>();
    }
    println!(
        "with an index for each server: {:?}, {found} findings",
        start.elapsed()
    );
    Ok(())
}
