//! Our server: `serve_ours serve stdio|http [legacy|modern]`.

use bench::echo_server;
use mcp_jsonrpc::model::{Implementation, Tool};
use mcp_server::http::{HttpService, serve};
use mcp_server::{Eras, Server, ServerLimits};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

fn server() -> Server {
    // Nothing is cleaned up while the idle sessions are counted.
    let limits = ServerLimits::default().with_sessions(20_000);
    let mut server = Server::new(Implementation::new("bench", "1"))
        .limits(limits)
        .eras(match std::env::args().nth(3).as_deref() {
            Some("legacy") => Eras::Legacy,
            Some("modern") => Eras::Modern,
            _ => Eras::Both,
        })
        .tool("echo", "Echoes its argument.", |echo: Echo, _| async move { echo.text });
    for number in 1..1000 {
        let tool: Tool = serde_json::from_value(echo_server::tool(number)).unwrap();
        server = server.tool_with_schema(tool, |_: serde_json::Value, _| async { "done" });
    }
    server
}

#[tokio::main]
async fn main() {
    if std::env::args().nth(2).as_deref() == Some("stdio") {
        return server().serve_stdio().await;
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    serve(listener, HttpService::new(&server().build())).await.unwrap();
}
