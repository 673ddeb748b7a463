//! A job of many questions that resumes where it was killed: start it, press Ctrl-C, and start it again. A call that
//! was running at that moment is reported to the model as interrupted, and never made twice.
//!
//! ```text
//! cargo run -p switchboard-sdk --features testing --example batch_job [FOLDER]
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_sdk::agent::testing::ScriptedModel;
use switchboard_sdk::prelude::*;
use switchboard_sdk::providers::{Arguments, AssistantPart, Reply, ToolCall, Turn};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Invoice {
    number: u32,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().join("batch_job"));
    fs::create_dir_all(&folder)?;
    for number in 1..=5 {
        let file = folder.join(format!("{number}.json"));
        let mut run: Run = match fs::read(&file) {
            Ok(stored) => serde_json::from_slice(&stored)?,
            Err(_) => agent(number).begin(format!("Pay invoice {number}.")),
        };
        if run.reason().is_none() {
            finish(&agent(number), &mut run, &file).await?;
        }
        println!("{number}: {}", run.text());
    }
    Ok(())
}

/// Drives the run to its end, and stores it at every event that must not be lost.
async fn finish(agent: &Agent, run: &mut Run, file: &Path) -> std::io::Result<()> {
    let mut session = agent.session(run);
    while let Some(event) = session.next().await {
        if event.is_milestone() {
            // Written atomically: a kill in the middle leaves the file unchanged.
            let new = file.with_extension("new");
            fs::write(&new, serde_json::to_vec(session.run())?)?;
            fs::rename(&new, file)?;
        }
    }
    Ok(())
}

fn agent(number: u32) -> Agent {
    let tools = LocalTools::new("bank").tool("pay", "Pays an invoice", |it: Invoice| async move {
        println!("   … paying {}", it.number);
        tokio::time::sleep(Duration::from_secs(1)).await;
        "paid"
    });
    Agent::new(model(number))
        .tools(tools)
        .with_policy(Policy::new(Mode::Auto))
}

/// Calls the tool, and then repeats its result. Replace it with a real model.
fn model(number: u32) -> ScriptedModel {
    ScriptedModel::improvising(move |request| {
        let mut reply = Reply::default();
        reply.parts.push(match request.conversation.turns().last() {
            Some(Turn::Assistant(turn)) => {
                let content = turn.results().iter().flat_map(|result| &result.content);
                let texts: Vec<&str> = content.filter_map(|block| block.as_text()).collect();
                AssistantPart::text(texts.concat())
            }
            _ => {
                let arguments = Arguments::read(format!(r#"{{"number": {number}}}"#));
                ToolCall::new("call", "pay", arguments).into()
            }
        });
        reply
    })
}
