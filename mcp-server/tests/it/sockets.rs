//! Misbehaving clients on real sockets: half-open, silent, slow. Each is ended in its own time, and
//! others are served meanwhile. The clock is paused: it advances whenever nothing else can happen.

use std::net::SocketAddr;
use std::time::Duration;

use mcp_jsonrpc::model::LoggingLevel;
use mcp_server::http::{HttpService, serve};
use mcp_server::{Context, Service};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use crate::http_kit::modern;
use crate::kit::{Alive, any, server, until};

struct Listening(SocketAddr, AbortHandle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.1.abort();
    }
}

fn app(alive: &Alive) -> Service {
    let alive = alive.clone();
    server()
        .tool_with_schema(any("echo"), |_: Value, _: Context| async { "echo" })
        .tool_with_schema(any("hang"), move |_: Value, _: Context| {
            let guard = alive.enter();
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
        })
        .tool_with_schema(any("flood"), |_: Value, cx: Context| async move {
            let line = "x".repeat(1024);
            for _ in 0..20_000 {
                cx.log(LoggingLevel::Error, &line);
            }
            "flooded"
        })
        .build()
}

async fn listening(alive: &Alive) -> Listening {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(serve(listener, HttpService::new(&app(alive))));
    Listening(address, serving.abort_handle())
}

/// A modern call of `tool` as bytes; the length claims `missing` bytes more than there are.
fn request(tool: &str, missing: usize) -> Vec<u8> {
    let mut message = modern("tools/call", json!({"name": tool, "arguments": {}}));
    message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    let body = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {}\r\n\r\n",
        body.len() + missing
    );
    format!("{head}{body}").into_bytes()
}

async fn connect(server: &Listening) -> TcpStream {
    TcpStream::connect(server.0).await.unwrap()
}

/// Reads until `end` was read or the server closed the connection.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let (mut all, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let read = stream.read(&mut chunk).await.unwrap_or(0);
        all.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&all);
        if read == 0 || text.contains(end) {
            return text.into_owned();
        }
    }
}

/// Others are served.
async fn check_others(server: &Listening) {
    let mut stream = connect(server).await;
    stream.write_all(&request("echo", 0)).await.unwrap();
    let reply = read_until(&mut stream, "}}").await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_within_its_head_is_disconnected() {
    let server = listening(&Alive::default()).await;
    let mut silent = connect(&server).await;
    silent
        .write_all(b"POST /mcp HTTP/1.1\r\nhost: loc")
        .await
        .unwrap();
    check_others(&server).await;
    let reply = read_until(&mut silent, "never").await;
    assert!(!reply.contains(" 200 "), "{reply}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_within_its_body_is_answered_with_a_timeout() {
    let server = listening(&Alive::default()).await;
    let mut silent = connect(&server).await;
    silent.write_all(&request("echo", 100)).await.unwrap();
    check_others(&server).await;
    let reply = read_until(&mut silent, "in time").await;
    assert!(reply.starts_with("HTTP/1.1 408"), "{reply}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_byte_by_byte_has_the_same_time_as_any_other() {
    let server = listening(&Alive::default()).await;
    let (mut reader, mut writer) = connect(&server).await.into_split();
    let bytes = request("echo", 0);
    let (head, body) = bytes.split_at(bytes.len() - 60);
    writer.write_all(head).await.unwrap();
    let body = body.to_vec();
    let dripping = tokio::spawn(async move {
        for byte in body {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if writer.write_all(&[byte]).await.is_err() {
                return;
            }
        }
    });
    let mut reply = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = reader.read(&mut chunk).await {
        reply.extend_from_slice(&chunk[..read]);
        if String::from_utf8_lossy(&reply).contains("in time") {
            break;
        }
    }
    let reply = String::from_utf8_lossy(&reply);
    assert!(reply.starts_with("HTTP/1.1 408"), "{reply}");
    dripping.abort();
    check_others(&server).await;
}

#[tokio::test]
async fn a_client_that_vanishes_mid_call_takes_its_call_with_it() {
    let alive = Alive::default();
    let server = listening(&alive).await;
    let mut client = connect(&server).await;
    client.write_all(&request("hang", 0)).await.unwrap();
    until(|| alive.count() == 1).await;
    // Closed with a reset, as by a crash.
    client.set_zero_linger().unwrap();
    drop(client);
    until(|| alive.count() == 0).await;
    check_others(&server).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_a_flood_delays_no_other_and_still_gets_its_response() {
    let server = listening(&Alive::default()).await;
    let mut slow = connect(&server).await;
    slow.write_all(&request("flood", 0)).await.unwrap();
    for _ in 0..10 {
        check_others(&server).await;
    }
    let reply = read_until(&mut slow, "flooded").await;
    assert!(reply.contains("flooded"));
    // What did not fit into the queue was dropped, not kept.
    let kept = reply.matches("notifications/message").count();
    assert!(kept < 20_000, "{kept}");
}
