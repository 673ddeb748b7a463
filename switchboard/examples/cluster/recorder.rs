//! An MCP server that counts how often it saw each call.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{Implementation, Tool};
use mcp_server::http::HttpService;
use mcp_server::{Context, Server};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Clone, Default)]
pub(crate) struct Recorder {
    seen: Arc<Mutex<BTreeMap<String, u32>>>,
}

impl Recorder {
    /// Serves the tool `record`. One call in eight takes a while, so that some run when their
    /// replica is killed.
    pub(crate) async fn serve(&self) -> SocketAddr {
        let seen = Arc::clone(&self.seen);
        let schema = json!({
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
        });
        let schema: RawObject = serde_json::from_value(schema).unwrap();
        let tool = Tool::new("record", schema);
        let server = Server::new(Implementation::new("recorder", "1.0.0"));
        let server = server.tool_with_schema(tool, move |arguments: Value, _: Context| {
            let seen = Arc::clone(&seen);
            async move {
                let id = arguments["id"].as_str().unwrap_or_default().to_owned();
                let number = id.bytes().map(u64::from).sum::<u64>();
                *seen.lock().entry(id).or_default() += 1;
                if number.is_multiple_of(8) {
                    tokio::time::sleep(Duration::from_millis(500 + number % 1000)).await;
                }
                "recorded".to_owned()
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(mcp_server::http::serve(
            listener,
            HttpService::new(&server.build()),
        ));
        address
    }

    pub(crate) fn seen(&self) -> BTreeMap<String, u32> {
        self.seen.lock().clone()
    }
}
