//! A client that gets its token without a person. The server and its authorization server, which issues a token to
//! anyone, are a few lines at the end.
//!
//! ```text
//! cargo run -p mcp-auth --example client_credentials
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::sync::Arc;

use mcp_auth::{MemoryStore, OAuth, RegisteredClient};
use mcp_transport::{Connect as _, HttpConfig, Outgoing};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(serve(listener, origin.clone()));

    let server = format!("{origin}/mcp");
    let oauth = OAuth::builder(&server)
        .registered_client(RegisteredClient::new("batch-job").with_secret("a secret"))
        .client_credentials()
        .store(Arc::new(MemoryStore::new()))
        .build()?;
    let connection = HttpConfig::new(&server)?
        .with_auth(Arc::new(oauth))
        .into_connect()?;
    let connection = connection.connect().await?;
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec();
    let answer = connection
        .send_request(Outgoing::request(1.into(), "ping", ping))
        .await?;
    println!("{}", String::from_utf8_lossy(&answer.unwrap_or_default()));
    connection.close().await;
    Ok(())
}

async fn serve(listener: TcpListener, origin: String) -> std::io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let mut bytes = vec![0; 64 << 10];
        let length = stream.read(&mut bytes).await?;
        bytes.truncate(length);
        let request = String::from_utf8_lossy(&bytes).into_owned();
        let path = request.split(' ').nth(1).unwrap_or_default();
        println!("{path}");
        let (status, body) = match path {
            "/mcp" if request.contains("Bearer a-token") => (
                "200 OK",
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
            ),
            "/mcp" => ("401 Unauthorized", String::new()),
            "/token" => (
                "200 OK",
                r#"{"access_token":"a-token","token_type":"Bearer","expires_in":60}"#.to_owned(),
            ),
            "/.well-known/oauth-protected-resource/mcp" => (
                "200 OK",
                format!(r#"{{"resource":"{origin}/mcp","authorization_servers":["{origin}"]}}"#),
            ),
            "/.well-known/oauth-authorization-server" => (
                "200 OK",
                format!(
                    r#"{{"issuer":"{origin}","token_endpoint":"{origin}/token","grant_types_supported":["client_credentials"]}}"#
                ),
            ),
            _ => ("404 Not Found", String::new()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await?;
    }
}
