use std::error::Error;

use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_sdk::prelude::*;
use switchboard_sdk::providers::{Anthropic, HttpModel};

#[derive(Deserialize, JsonSchema)]
struct Weather {
    city: String,
}

async fn ask_me(call: Approval) -> Answer {
    println!("{} {}? [y/n]", call.record.display_name, call.record.arguments.text());
    match std::io::stdin().lines().next() {
        Some(Ok(line)) if line == "y" => Answer::Once,
        _ => Answer::Deny,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let weather = LocalTools::new("local")
        .tool("weather", "The weather of a city", |it: Weather| async move { format!("rain in {}", it.city) });
    let agent = Agent::new(HttpModel::from_env(Anthropic::default())?.with_name("claude-sonnet-5-5"))
        .tools(weather)
        .servers([
            ServerConfig::command("git", "uvx", ["mcp-server-git"])?,
            ServerConfig::command("time", "uvx", ["mcp-server-time"])?,
        ])
        .on_approval(ask_me);
    let run = std::fs::read_to_string("today.json").map(|stored| serde_json::from_str(&stored)).unwrap_or(Ok(Run::default()))?;
    let mut run = run.with_limits(RunLimits::default().with_rounds(10).with_tokens(100_000));
    run.ask("What did we commit today?");
    agent.finish(&mut run).await;
    std::fs::write("today.json", serde_json::to_string(&run)?)?;
    println!("{}", run.text());
    agent.close().await;
    Ok(())
}
