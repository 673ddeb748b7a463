use std::error::Error;

use rig_agent::AgentBuilder;
use rig_agent::agent::{
    AgentHook, CompletionCallAction, CompletionCallEvent, DispatchAction, DispatchEvent, HookContext, OutcomeAction,
    OutcomeEvent,
};
use rig_core::effect::EffectKind;
use rig_core::providers::anthropic::Anthropic;
use rig_core::tool::{DynamicTool, ToolExecutionError};
use rig_derive::rig_tool;
use rig_memory::DirStore;
use rig_rmcp::McpConnection;
use rmcp::ServiceExt;
use rmcp::transport::TokioChildProcess;
use tokio::process::Command;

#[rig_tool(description = "The weather of a city")]
fn weather(city: String) -> Result<String, ToolExecutionError> {
    Ok(format!("rain in {city}"))
}

struct Guard;

impl AgentHook for Guard {
    async fn on_outcome(&self, context: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        if let Some(response) = event.completion() {
            let tokens = response.usage.total_tokens.unwrap_or(0);
            context.scratchpad().update(|used: &mut u64| *used += tokens);
        }
        OutcomeAction::proceed()
    }

    async fn on_completion_call(&self, context: &HookContext, _: CompletionCallEvent<'_>) -> CompletionCallAction {
        match context.scratchpad().get::<u64>().unwrap_or_default() {
            100_000.. => CompletionCallAction::stop("the token limit is reached"),
            _ => CompletionCallAction::continue_run(),
        }
    }

    async fn on_dispatch(&self, _: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        let EffectKind::ToolCall { name, args } = event.kind else {
            return DispatchAction::proceed();
        };
        println!("{name} {args}? [y/n]");
        match std::io::stdin().lines().next() {
            Some(Ok(line)) if line == "y" => DispatchAction::proceed(),
            _ => DispatchAction::skip("the user declined"),
        }
    }
}

async fn tools(server: &str) -> Result<Vec<DynamicTool>, Box<dyn Error>> {
    let mut command = Command::new("uvx");
    command.arg(server);
    let connection = McpConnection::new(().serve(TokioChildProcess::new(command)?).await?);
    let tools = connection.tools().await?.into_iter();
    Ok(tools.map(DynamicTool::try_from).collect::<Result<_, _>>()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = AgentBuilder::new(Anthropic::from_env()?.completion("claude-sonnet-5-5"))
        .tool(Weather)
        .dynamic_tools(tools("mcp-server-git").await?)
        .dynamic_tools(tools("mcp-server-time").await?)
        .add_hook(Guard)
        .default_max_turns(10)
        .memory(DirStore::open("conversations")?)
        .conversation("today")
        .build();
    println!("{}", agent.prompt("What did we commit today?").await?);
    Ok(())
}
