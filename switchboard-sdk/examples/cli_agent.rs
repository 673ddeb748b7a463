//! A chat in the terminal that asks before it calls a tool. Give it a key for a real model:
//!
//! ```text
//! [ANTHROPIC_API_KEY=…] cargo run -p switchboard-sdk --features testing --example cli_agent
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::io::{Write as _, stdin, stdout};
use std::sync::Arc;

use switchboard_sdk::agent::testing::ScriptedModel;
use switchboard_sdk::prelude::*;
use switchboard_sdk::providers::{Anthropic, HttpModel};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Weather {
    city: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = LocalTools::new("local").tool("weather", "The weather", |it: Weather| async move {
        format!("It rains in {}.", it.city)
    });
    let agent = Agent::new(model()?).tools(tools);
    let mut run = agent.begin(ask("you> ")?);
    loop {
        let mut session = agent.session(&mut run);
        while let Some(event) = session.next().await {
            match event {
                RunEvent::Text { text } => print!("{text}"),
                RunEvent::Approval(call) => {
                    session.answer(&call.consent(), ask_about(&call)?).await?;
                }
                RunEvent::Call(call) => println!("[{} {:?}]", call.display_name, call.status),
                RunEvent::Done { reason } => println!("\n[{reason}]"),
                _ => {}
            }
        }
        drop(session);
        match ask("you> ")?.as_str() {
            "" => break,
            question => run.ask(question),
        }
    }
    agent.close().await;
    Ok(())
}

fn ask_about(call: &Approval) -> std::io::Result<Answer> {
    let (tool, arguments) = (&call.record.display_name, call.record.arguments.text());
    Ok(
        match ask(&format!("{tool} {arguments}? [y/N] "))?.as_str() {
            "y" => Answer::Once,
            _ => Answer::Deny,
        },
    )
}

fn ask(prompt: &str) -> std::io::Result<String> {
    print!("{prompt}");
    stdout().flush()?;
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

fn model() -> Result<Arc<dyn Model>, Box<dyn std::error::Error>> {
    if let Ok(key) = std::env::var("ANTHROPIC_API_KEY") {
        let model = HttpModel::new(Anthropic::default())?.with_key(key);
        return Ok(Arc::new(model.with_name("claude-sonnet-5-5")));
    }
    let oslo = serde_json::json!({"city": "Oslo"});
    Ok(Arc::new(
        ScriptedModel::new()
            .calls([("weather", oslo)])
            .says("Take an umbrella.")
            .says("That was my script."),
    ))
}
