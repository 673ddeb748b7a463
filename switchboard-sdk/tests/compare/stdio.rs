use serde_json::json;
use switchboard_sdk::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::stdio("uvx", ["mcp-server-git"]).connect().await?;
    for tool in client.list_tools().await?.items {
        println!("{}", tool.name);
    }
    let result = client.call_tool("git_status", json!({"repo_path": "."})).await?;
    println!("{}", result.text());
    client.close().await;
    Ok(())
}
