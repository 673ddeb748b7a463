//! A calculator on standard input and output.

use mcp_jsonrpc::model::Implementation;
use mcp_server::{Json, Server};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    sum: i64,
}

#[tokio::main]
async fn main() {
    Server::new(Implementation::new("calculator", env!("CARGO_PKG_VERSION")))
        .tool("add", "Adds two integers", |add: Add, _cx| async move {
            Json(Sum {
                sum: add.a.saturating_add(add.b),
            })
        })
        .serve_stdio()
        .await;
}
