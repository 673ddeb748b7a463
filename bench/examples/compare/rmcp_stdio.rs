use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::json;
use tokio::process::Command;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut command = Command::new("uvx");
    command.arg("mcp-server-git");
    let client = ().serve(TokioChildProcess::new(command)?).await?;
    for tool in client.list_all_tools().await? {
        println!("{}", tool.name);
    }
    let arguments = json!({"repo_path": "."}).as_object().cloned().unwrap_or_default();
    let params = CallToolRequestParams::new("git_status").with_arguments(arguments);
    let result = client.call_tool(params).await?;
    for text in result.content.iter().filter_map(|block| block.as_text()) {
        println!("{}", text.text);
    }
    client.cancel().await?;
    Ok(())
}
