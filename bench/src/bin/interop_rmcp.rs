//! The official Rust SDK's client against our server: `interop_rmcp URL|PROGRAM`. Prints what it saw as
//! the clients of `mcp-server/tests/interop` do.

#![allow(deprecated, reason = "roots are part of what our server may ask for")]

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, GetPromptRequestParams, Implementation, ListRootsResult, ReadResourceRequestParams, Root,
    RootsCapabilities,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::process::Command;

type AnyError = Box<dyn std::error::Error>;

struct Host;

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        capabilities.roots = Some(RootsCapabilities::default());
        ClientConfig::new(capabilities, Implementation::new("interop", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ann", "ok": true})))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///tmp")]))
    }
}

async fn call(client: &RunningService<RoleClient, Host>, name: &'static str, arguments: Value) -> Result<Value, AnyError> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let params = CallToolRequestParams::new(name).with_arguments(arguments);
    let result = client.call_tool(params).await?;
    if result.is_error == Some(true) {
        return Ok(json!([name, "error"]));
    }
    let text = result.content.first().and_then(|block| block.as_text()).map(|it| it.text.clone());
    Ok(json!([name, text]))
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let target = std::env::args().nth(1).ok_or("usage: interop_rmcp URL|PROGRAM")?;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = match target.starts_with("http") {
        true => Host.serve(StreamableHttpClientTransport::from_uri(target)).await?,
        false => Host.serve(TokioChildProcess::new(Command::new(target))?).await?,
    };
    let tools = client.list_all_tools().await?;
    let mut seen = vec![json!(["tools", !tools.is_empty()])];
    if tools.iter().any(|tool| tool.name == "add") {
        seen.push(call(&client, "add", json!({"a": 2, "b": 3})).await?);
    } else {
        for (name, arguments) in [
            ("test_simple_text", json!({})),
            ("test_error_handling", json!({})),
            ("test_header_parameter", json!({"region": "é"})),
            ("test_input_required_result_elicitation", json!({})),
            ("test_input_required_result_list_roots", json!({})),
        ] {
            seen.push(call(&client, name, arguments).await?);
        }
        let read = client.read_resource(ReadResourceRequestParams::new("test://template/7/data")).await?;
        seen.push(json!(["resource", serde_json::to_value(&read.contents)?[0]["text"]]));
        let arguments = json!({"arg1": "a", "arg2": "b"}).as_object().cloned().unwrap_or_default();
        let prompt = GetPromptRequestParams::new("test_prompt_with_arguments").with_arguments(arguments);
        let prompt = serde_json::to_value(client.get_prompt(prompt).await?)?;
        seen.push(json!(["prompt", prompt["messages"][0]["content"]["text"]]));
    }
    client.cancel().await?;
    println!("{}", Value::Array(seen));
    Ok(())
}
