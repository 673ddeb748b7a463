//! The server every client is measured against: fast enough to be no part of the result.
//!
//! One tool that echoes its argument, one that returns a mebibyte, and a list of a thousand tools;
//! over stdio, or over Streamable HTTP with JSON or event-stream replies.

use std::io::{IoSlice, Read, Write};

use mcp_jsonrpc::{Incoming, DecodeLimits, MessageRef, decode};
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
        // Some clients look a tool up in the list before they believe its result.
        let mut tools: Vec<Value> = (0..1000).map(tool).collect();
        tools[0]["name"] = "echo".into();
        tools[1]["name"] = "big".into();
        let big = json!({"content": [{"type": "text", "text": "All work and no play. ".repeat(47_663)}]});
        Self { tools: json!({"tools": tools}).to_string(), big: big.to_string() }
    }
}

/// The definition of one of the thousand tools.
pub fn tool(number: usize) -> Value {
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

/// A reply: what is written for it, and in its middle what was there before.
#[derive(Default)]
struct Answer<'a> {
    start: Vec<u8>,
    ready: &'a [u8],
    end: &'static [u8],
}

impl Answer<'_> {
    fn len(&self) -> usize {
        self.start.len() + self.ready.len() + self.end.len()
    }
}

impl Server {
    /// The reply to a message, if it wants one.
    fn answer(&self, message: &[u8]) -> Option<Answer<'_>> {
        let Ok(Incoming::Single(MessageRef::Request { id, method, params })) =
            decode(message, &DecodeLimits::default())
        else {
            return None;
        };
        let params = params.map_or("{}", |params| params.get());
        let mut start = br#"{"jsonrpc":"2.0","id":"#.to_vec();
        serde_json::to_writer(&mut start, &id).ok()?;
        start.extend_from_slice(br#","result":"#);
        let mut ready = "";
        match method.as_ref() {
            "initialize" => start.extend_from_slice(initialize(params).as_bytes()),
            "tools/list" => ready = &self.tools,
            _ => match serde_json::from_str::<Params>(params).ok()? {
                Params { name, .. } if name == "big" => ready = &self.big,
                Params { arguments, .. } => {
                    start.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
                    serde_json::to_writer(&mut start, &arguments.text).ok()?;
                    start.extend_from_slice(b"}]}");
                }
            },
        }
        Some(Answer { start, ready: ready.as_bytes(), end: b"}" })
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
                if let Some(answer) = self.answer(&pending[start..start + end]) {
                    out.extend_from_slice(&answer.start);
                    if answer.ready.is_empty() {
                        out.extend_from_slice(answer.end);
                        out.push(b'\n');
                    } else {
                        // In one piece: nothing in front of the pipe looks for line ends in it.
                        let parts = [&out, answer.ready, answer.end, b"\n"];
                        let mut parts = &mut parts.map(IoSlice::new)[..];
                        while !parts.is_empty() {
                            let written = output.write_vectored(parts)?;
                            IoSlice::advance_slices(&mut parts, written);
                        }
                        out.clear();
                    }
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
        let (mut input, mut out) = (Vec::new(), Vec::new());
        loop {
            while let Some((head, length)) = whole_request(&input) {
                let answer = match input.starts_with(b"POST") {
                    true => Some(self.answer(&input[head..head + length])),
                    false => None,
                };
                let tail = respond(&mut out, answer.as_ref(), replies);
                for part in [&out, answer.flatten().unwrap_or_default().ready, &tail] {
                    if !part.is_empty() && stream.write_all(part).await.is_err() {
                        return;
                    }
                }
                out.clear();
                input.drain(..head + length);
            }
            match stream.read_buf(&mut input).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
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

/// Writes what comes before the ready part of an answer, and returns what comes after it. An event
/// stream does not say how long it will be, as hardly any does.
fn respond(out: &mut Vec<u8>, answer: Option<&Option<Answer<'_>>>, replies: Replies) -> Vec<u8> {
    let (status, answer) = match answer {
        None => ("405 Method Not Allowed", None),
        Some(None) => ("202 Accepted", None),
        Some(answer) => ("200 OK", answer.as_ref()),
    };
    let Some(answer) = answer else {
        out.extend_from_slice(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes());
        return Vec::new();
    };
    let (head, after) = match replies {
        Replies::Json => {
            let length = answer.len();
            (format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n"), "")
        }
        Replies::Events => {
            let (before, after) = ("event: message\ndata: ", "\n\n");
            let length = before.len() + answer.len() + after.len();
            let head = "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            (format!("{head}{length:x}\r\n{before}"), "\n\n\r\n0\r\n\r\n")
        }
    };
    out.extend_from_slice(format!("HTTP/1.1 {status}\r\n{head}").as_bytes());
    out.extend_from_slice(&answer.start);
    let end = [answer.end, after.as_bytes()].concat();
    if answer.ready.is_empty() {
        out.extend_from_slice(&end);
        return Vec::new();
    }
    end
}
