//! The official Rust SDK's server: `serve_rmcp serve stdio|http`.

use std::sync::Arc;

use bench::echo_server;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::json;

/// Written against the trait rather than with the macros: nothing stands between it and the tools.
#[derive(Clone)]
struct Echo(Arc<Vec<Tool>>);

impl Echo {
    fn new() -> Self {
        let echo = json!({
            "name": "echo",
            "description": "Echoes its argument.",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        });
        let tools = std::iter::once(echo).chain((1..1000).map(echo_server::tool));
        Self(Arc::new(tools.map(|tool| serde_json::from_value(tool).unwrap()).collect()))
    }
}

#[derive(serde::Deserialize)]
struct Arguments {
    text: String,
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let invalid = |error: serde_json::Error| ErrorData::invalid_params(error.to_string(), None);
        let Arguments { text } = serde_json::from_value(arguments).map_err(invalid)?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tokio::main]
async fn main() {
    let echo = Echo::new();
    if std::env::args().nth(2).as_deref() == Some("stdio") {
        let running = echo.serve(rmcp::transport::stdio()).await.unwrap();
        running.waiting().await.unwrap();
        return;
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(move || Ok(echo.clone()), sessions, config);
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
