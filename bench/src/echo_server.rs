//! The server every client is measured against: fast enough to be no part of the result.
//!
//! One tool that says what it is told, one that says a mebibyte, and a list of a thousand tools;
//! over stdio, or over Streamable HTTP with JSON or event-stream replies.

use std::io::{Read, Write};

use mcp_jsonrpc::{Incoming, Limits, MessageRef, decode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is prepared once and sent often.
pub struct Server {
    tools: String,
    big: String,
}

/// How HTTP replies look.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Replies {
    Json,
    Events,
}

#[derive(Deserialize)]
struct Params {
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: Arguments,
}

#[derive(Default, Deserialize)]
struct Arguments {
    #[serde(default)]
    text: String,
}

impl Default for Server {
    fn default() -> Self {
        let tools: Vec<Value> = (0..1000).map(tool).collect();
        let big = json!({"content": [{"type": "text", "text": "All work and no play. ".repeat(47_663)}]});
        Self { tools: json!({"tools": tools}).to_string(), big: big.to_string() }
    }
}

fn tool(number: usize) -> Value {
    json!({
        "name": format!("tool_{number}"),
        "description": format!("Does what tool number {number} is there for, and tells about it."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where to look."},
                "depth": {"type": "integer", "minimum": 0, "maximum": 100, "default": 3},
                "kind": {"type": "string", "enum": ["file", "folder", "link"]},
                "options": {"type": "object", "properties": {"follow": {"type": "boolean"}}},
            },
            "required": ["path"],
        },
        "annotations": {"readOnlyHint": true, "title": format!("Tool {number}")},
    })
}

impl Server {
    /// Appends the reply to a message, if it wants one.
    pub fn answer(&self, message: &[u8], out: &mut Vec<u8>) {
        let Ok(Incoming::Single(MessageRef::Request { id, method, params })) =
            decode(message, &Limits::default())
        else {
            return;
        };
        let id = serde_json::to_string(&id).unwrap_or_default();
        let result = match method.as_ref() {
            "initialize" => initialize(params.map_or("{}", |params| params.get())),
            "tools/list" => return reply(out, &id, "result", &self.tools),
            "tools/call" => {
                let params = params.and_then(|params| params.parse::<Params>().ok());
                match params {
                    Some(params) if params.name == "big" => {
                        return reply(out, &id, "result", &self.big);
                    }
                    Some(params) => {
                        let text = params.arguments.text;
                        json!({"content": [{"type": "text", "text": text}]}).to_string()
                    }
                    None => String::from("{}"),
                }
            }
            _ => return reply(out, &id, "error", r#"{"code":-32601,"message":"Method not found"}"#),
        };
        reply(out, &id, "result", &result);
    }

    /// Serves one client on stdin and stdout.
    pub fn stdio(&self) -> std::io::Result<()> {
        let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
        let (mut pending, mut chunk, mut out) = (Vec::new(), vec![0; 256 << 10], Vec::new());
        loop {
            let read = input.read(&mut chunk)?;
            if read == 0 {
                return Ok(());
            }
            pending.extend_from_slice(&chunk[..read]);
            let mut start = 0;
            while let Some(end) = pending[start..].iter().position(|&byte| byte == b'\n') {
                let before = out.len();
                self.answer(&pending[start..start + end], &mut out);
                if out.len() > before {
                    out.push(b'\n');
                }
                start += end + 1;
            }
            pending.drain(..start);
            output.write_all(&out)?;
            output.flush()?;
            out.clear();
        }
    }

    /// Serves any number of clients over HTTP; prints the address first.
    pub async fn http(&self, replies: Replies) -> std::io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}/mcp", listener.local_addr()?);
        let local = tokio::task::LocalSet::new();
        let server: &'static Self = Box::leak(Box::new(Self::default()));
        local
            .run_until(async move {
                loop {
                    let (stream, _) = listener.accept().await?;
                    stream.set_nodelay(true)?;
                    tokio::task::spawn_local(server.connection(stream, replies));
                }
            })
            .await
    }

    async fn connection(&self, mut stream: TcpStream, replies: Replies) {
        let (mut input, mut out, mut body) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            while let Some((head, length)) = whole_request(&input) {
                let is_post = input.starts_with(b"POST");
                body.clear();
                if is_post {
                    self.answer(&input[head..head + length], &mut body);
                }
                respond(&mut out, is_post, replies, &body);
                input.drain(..head + length);
            }
            if !out.is_empty() {
                if stream.write_all(&out).await.is_err() {
                    return;
                }
                out.clear();
            }
            match stream.read_buf(&mut input).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }
}

fn reply(out: &mut Vec<u8>, id: &str, member: &str, value: &str) {
    for part in ["{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"", member, "\":", value, "}"] {
        out.extend_from_slice(part.as_bytes());
    }
}

fn initialize(params: &str) -> String {
    let params: Value = serde_json::from_str(params).unwrap_or_default();
    json!({
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "echo", "version": "1"},
    })
    .to_string()
}

/// Where the body of the first request begins and how long it is, once all of it is there.
fn whole_request(input: &[u8]) -> Option<(usize, usize)> {
    let head = input.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&input[..head]).to_ascii_lowercase();
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|length| length.trim().parse().ok())
        .unwrap_or(0);
    (input.len() >= head + length).then_some((head, length))
}

fn respond(out: &mut Vec<u8>, is_post: bool, replies: Replies, body: &[u8]) {
    let head = match (is_post, body.is_empty(), replies) {
        (false, ..) => "HTTP/1.1 405 Method Not Allowed\r\n".to_owned(),
        (true, true, _) => "HTTP/1.1 202 Accepted\r\n".to_owned(),
        (true, false, Replies::Json) => "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n".to_owned(),
        (true, false, Replies::Events) => "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n".to_owned(),
    };
    let (before, after) = match replies {
        Replies::Events if !body.is_empty() => ("event: message\ndata: ", "\n\n"),
        _ => ("", ""),
    };
    let length = before.len() + body.len() + after.len();
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(format!("content-length: {length}\r\n\r\n").as_bytes());
    out.extend_from_slice(before.as_bytes());
    out.extend_from_slice(body);
    out.extend_from_slice(after.as_bytes());
}
