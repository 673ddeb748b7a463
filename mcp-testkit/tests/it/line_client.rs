//! A client of lines that does nothing by itself.

use std::time::Duration;

use mcp_testkit::{Running, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

pub(crate) struct LineClient {
    reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    next: u64,
    /// What came before the answers that were waited for.
    pub(crate) before: Vec<Value>,
}

/// A client and its server, joined by a pipe.
pub(crate) fn pipe(server: Server) -> (LineClient, Running) {
    let (stream, running) = server.pipe().unwrap();
    let (reader, writer) = tokio::io::split(stream);
    (LineClient::new(reader, writer), running)
}

impl LineClient {
    pub(crate) fn new<R, W>(reader: R, writer: W) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self {
            reader: BufReader::new(Box::new(reader)),
            writer: Box::new(writer),
            next: 0,
            before: Vec::new(),
        }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    pub(crate) async fn try_send(&mut self, message: &Value) -> std::io::Result<()> {
        self.writer
            .write_all(format!("{message}\n").as_bytes())
            .await
    }

    /// Closes its output; gives what can still be read.
    pub(crate) fn close(self) -> impl AsyncRead + Unpin {
        self.reader
    }

    /// The next line, whatever is in it.
    pub(crate) async fn bytes(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        let read = self.reader.read_until(b'\n', &mut line);
        let read = tokio::time::timeout(Duration::from_secs(20), read).await;
        read.expect("no line within 20 s").unwrap_or_default();
        line
    }

    /// The next `count` bytes.
    pub(crate) async fn beginning(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.reader.read_exact(&mut bytes).await.unwrap();
        bytes
    }

    pub(crate) async fn line(&mut self) -> Option<String> {
        let line = self.bytes().await;
        (!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned())
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = self.line().await.expect("the stream ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request without waiting; gives its id.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    /// The answer of this id.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.before.push(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        self.answer(id).await
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    pub(crate) async fn initialize(&mut self) -> Value {
        let answer = self.request("initialize", initialize_params()).await;
        self.notify("notifications/initialized", json!({})).await;
        answer["result"].clone()
    }

    /// Calls a tool in the legacy era.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// The next request of the server's, answered with this result.
    pub(crate) async fn answer_ask(&mut self, method: &str, result: Value) -> Value {
        loop {
            let message = self.receive().await;
            if message["method"] == method {
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
                    .await;
                return message;
            }
            self.before.push(message);
        }
    }
}

pub(crate) fn initialize_params() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
        "clientInfo": {"name": "raw", "version": "1"},
    })
}

/// Adds what every modern request carries.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        },
    });
    params
}
