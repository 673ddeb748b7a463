//! An HTTP client that writes what it is given and reads what comes.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::line_client::{initialize_params, modern};

/// An open connection whose response is being read.
pub(crate) struct Exchange {
    stream: TcpStream,
    unread: Vec<u8>,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    decoded: Vec<u8>,
    ended: bool,
}

impl Exchange {
    pub(crate) async fn open(
        url: &str,
        method: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Self {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).await.unwrap();
        let mut head = format!(
            "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let mut exchange = Self {
            stream,
            unread: Vec::new(),
            status: 0,
            headers: Vec::new(),
            decoded: Vec::new(),
            ended: false,
        };
        exchange.read_head().await;
        exchange
    }

    async fn read_head(&mut self) {
        let end = loop {
            if let Some(end) = self.unread.windows(4).position(|w| w == b"\r\n\r\n") {
                break end;
            }
            if !self.fill().await {
                return;
            }
        };
        let head = String::from_utf8_lossy(&self.unread[..end]).into_owned();
        self.unread.drain(..end + 4);
        let mut lines = head.split("\r\n");
        self.status = lines
            .next()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        self.headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
    }

    async fn fill(&mut self) -> bool {
        let read = self.stream.read_buf(&mut self.unread);
        let read = tokio::time::timeout(Duration::from_secs(20), read).await;
        matches!(read.expect("nothing within 20 s"), Ok(count) if count > 0)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Decodes one more piece of the body; `false` at its end.
    async fn more(&mut self) -> bool {
        if self.ended {
            return false;
        }
        if self.header("transfer-encoding").is_none() {
            let length = self
                .header("content-length")
                .map_or(usize::MAX, |l| l.parse().unwrap());
            while self.unread.len() < length && self.fill().await {}
            self.decoded.append(&mut self.unread);
            self.ended = true;
            return true;
        }
        loop {
            if let Some(end) = self.unread.windows(2).position(|w| w == b"\r\n") {
                let size = String::from_utf8_lossy(&self.unread[..end]).into_owned();
                let size = usize::from_str_radix(&size, 16).unwrap();
                if self.unread.len() >= end + 2 + size + 2 {
                    self.decoded
                        .extend_from_slice(&self.unread[end + 2..end + 2 + size]);
                    self.unread.drain(..end + 4 + size);
                    self.ended = size == 0;
                    return true;
                }
            }
            if !self.fill().await {
                self.ended = true;
                return false;
            }
        }
    }

    /// The whole body.
    pub(crate) async fn body(mut self) -> Vec<u8> {
        while self.more().await {}
        self.decoded
    }

    /// The next event's block of lines; `None` at the end of the stream.
    pub(crate) async fn event(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.decoded.windows(2).position(|w| w == b"\n\n") {
                let event: Vec<u8> = self.decoded.drain(..end + 2).collect();
                return Some(String::from_utf8_lossy(&event).trim_end().to_owned());
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// The next event's data as JSON.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        let event = self.event().await?;
        let data = event.lines().filter_map(|line| line.strip_prefix("data: "));
        let data: Vec<&str> = data.collect();
        Some(serde_json::from_str(&data.join("\n")).unwrap_or(Value::String(event)))
    }
}

/// A client of Streamable HTTP that does nothing by itself.
pub(crate) struct HttpClient {
    pub(crate) url: String,
    pub(crate) session: Option<String>,
    next: u64,
}

impl HttpClient {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            session: None,
            next: 0,
        }
    }

    pub(crate) async fn post(&self, headers: &[(&str, &str)], message: &Value) -> Exchange {
        let mut all = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        all.extend(headers);
        if let Some(session) = &self.session {
            all.push(("Mcp-Session-Id", session));
        }
        Exchange::open(&self.url, "POST", &all, message.to_string().as_bytes()).await
    }

    pub(crate) async fn get(&self, headers: &[(&str, &str)]) -> Exchange {
        let mut all = vec![("Accept", "text/event-stream")];
        all.extend(headers);
        if let Some(session) = &self.session {
            all.push(("Mcp-Session-Id", session));
        }
        Exchange::open(&self.url, "GET", &all, b"").await
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
    }

    /// Starts a legacy request.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> Exchange {
        let message = self.request(method, params);
        self.post(&[("MCP-Protocol-Version", "2025-11-25")], &message)
            .await
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Exchange {
        self.start("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// Starts a modern request, with the headers it needs.
    pub(crate) async fn start_modern(
        &mut self,
        method: &str,
        name: &str,
        params: Value,
    ) -> Exchange {
        let message = self.request(method, modern(params));
        let mut headers = vec![
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        if !name.is_empty() {
            headers.push(("Mcp-Name", name));
        }
        self.post(&headers, &message).await
    }

    pub(crate) async fn initialize(&mut self) -> Value {
        let message = self.request("initialize", initialize_params());
        let exchange = self.post(&[], &message).await;
        self.session = exchange.header("mcp-session-id").map(str::to_owned);
        let sse = exchange.header("content-type") == Some("text/event-stream");
        let answer = if sse {
            one_event(exchange).await
        } else {
            json_body(exchange).await
        };
        let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&[], &note).await.status, 202);
        answer
    }
}

pub(crate) async fn json_body(exchange: Exchange) -> Value {
    assert_eq!(exchange.header("content-type"), Some("application/json"));
    serde_json::from_slice(&exchange.body().await).unwrap()
}

pub(crate) async fn one_event(mut exchange: Exchange) -> Value {
    assert_eq!(exchange.header("content-type"), Some("text/event-stream"));
    exchange.message().await.unwrap()
}
