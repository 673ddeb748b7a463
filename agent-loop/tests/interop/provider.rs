//! A scripted provider on loopback that speaks every wire, and refuses what a real one would.

use std::sync::Arc;

use parking_lot::Mutex;
use provider_adapters::server::{Asked, ScriptedReply, failure};
use provider_adapters::{
    Anthropic, Gemini, HttpModel, Model, OpenAiChat, OpenAiResponses, PromptMode, Retry, Wire,
};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::pairing;

/// The wires a run is held on.
pub(crate) const WIRES: [Wire; 5] = [
    Wire::OpenAiChat,
    Wire::OpenAiResponses,
    Wire::Anthropic,
    Wire::Gemini,
    Wire::Prompt,
];

/// A provider that gives prepared replies, in order.
pub(crate) struct Provider {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    bodies: Arc<Mutex<Vec<Value>>>,
}

struct Stage {
    replies: Mutex<std::vec::IntoIter<ScriptedReply>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Provider {
    pub(crate) async fn start(replies: Vec<ScriptedReply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let bodies = Arc::default();
        let stage = Arc::new(Stage {
            replies: Mutex::new(replies.into_iter()),
            asked: Arc::clone(&asked),
            bodies: Arc::clone(&bodies),
        });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&stage)));
            }
        });
        Self { url, asked, bodies }
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }

    /// The bodies of the requests that it answered.
    #[allow(dead_code, reason = "one of the two test programs looks at them")]
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().clone()
    }

    /// A model of it on this wire.
    pub(crate) fn model(&self, wire: Wire) -> Arc<dyn Model> {
        match wire {
            Wire::OpenAiResponses => self.over(OpenAiResponses::default()),
            Wire::Anthropic => self.over(Anthropic::default()),
            Wire::Gemini => self.over(Gemini::developer()),
            Wire::Prompt => self.over(PromptMode::new(OpenAiChat::default())),
            _ => self.over(OpenAiChat::default()),
        }
    }

    fn over(&self, adapter: impl provider_adapters::Adapter + 'static) -> Arc<dyn Model> {
        let model = HttpModel::new(adapter).unwrap();
        Arc::new(
            model
                .with_base_url(&self.url)
                .with_retry(Retry::default().with_tries(0)),
        )
    }
}

async fn serve(mut stream: TcpStream, stage: Arc<Stage>) {
    let mut bytes = Vec::new();
    while let Some((path, body)) = read(&mut stream, &mut bytes).await {
        let (status, kind, body) = answer(&stage, &path, &body);
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let reply = [head.as_bytes(), body.as_bytes()].concat();
        if stream.write_all(&reply).await.is_err() {
            return;
        }
    }
}

fn answer(stage: &Stage, path: &str, body: &[u8]) -> (u16, &'static str, String) {
    let asked = Asked::read(path, body).unwrap();
    let refuse = |message: &str| (400, "application/json", failure(asked.wire, 400, message));
    let value: Value = serde_json::from_slice(body).unwrap();
    let messages = ["messages", "input", "contents"];
    let messages = messages.iter().find_map(|key| value[key].as_array());
    if let Err(problem) = pairing::check(asked.wire, messages.unwrap()) {
        return refuse(&problem);
    }
    let Some(reply) = stage.replies.lock().next() else {
        return refuse("the script is over");
    };
    let answer = asked.answer(&reply);
    stage.asked.lock().push(asked);
    stage.bodies.lock().push(value);
    (200, answer.content_type, answer.chunks.concat())
}

/// The path and the body of the next request.
async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    loop {
        let text = String::from_utf8_lossy(bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                let found = name.eq_ignore_ascii_case("content-length");
                found.then(|| value.trim().parse::<usize>().unwrap())
            });
            let (from, length) = (head.len() + 4, length.unwrap_or(0));
            if bytes.len() >= from + length {
                let path = head.split(' ').nth(1).unwrap().to_owned();
                let body = bytes[from..from + length].to_vec();
                bytes.drain(..from + length);
                return Some((path, body));
            }
        }
        let mut buffer = [0; 16 << 10];
        let count = stream.read(&mut buffer).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
}
