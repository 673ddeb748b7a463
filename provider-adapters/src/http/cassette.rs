//! Model traffic on a cassette: one JSON object per line, with a request's body and the reply's bytes.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_jsonrpc::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::carrier::{Body, ResponseHead};
use crate::model::{BoxError, ModelError};
use crate::request::WireRequest;

/// Headers that mean something to us; no other is written down.
const KEPT: [&str; 6] = [
    "content-type",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
];
/// How much of a value a difference shows.
const SHOWN: usize = 80;

/// One request and its reply.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Exchange {
    path: String,
    body: RawJson,
    status: u16,
    headers: Vec<(String, String)>,
    chunks: Vec<Chunk>,
}

/// Bytes as they came: text if they are.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Chunk {
    Text(String),
    Bytes { base64: String },
}

impl Exchange {
    pub(crate) fn new(request: &WireRequest, status: u16, headers: &[(String, String)]) -> Self {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        Self {
            path: request.path.clone(),
            body: RawJson::from_text(body).unwrap_or_else(|_| RawJson::null()),
            status,
            headers: headers
                .iter()
                .filter(|(name, _)| KEPT.contains(&name.as_str()))
                .cloned()
                .collect(),
            chunks: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.chunks.push(match std::str::from_utf8(bytes) {
            Ok(text) => Chunk::Text(text.to_owned()),
            Err(_) => Chunk::Bytes {
                base64: STANDARD.encode(bytes),
            },
        });
    }
}

/// Writes a cassette.
#[derive(Debug)]
pub(crate) struct Recorder(File);

impl Recorder {
    pub(crate) fn create(path: &Path) -> Result<Self, BoxError> {
        Ok(Self(File::create(path)?))
    }

    /// Appends one exchange. A cassette that cannot be written is noticed when it is played.
    pub(crate) fn write(&mut self, exchange: &Exchange) {
        if let Ok(mut line) = serde_json::to_vec(exchange) {
            line.push(b'\n');
            let _ = self.0.write_all(&line);
        }
    }
}

/// Plays a cassette.
#[derive(Debug)]
pub(crate) struct Player {
    exchanges: std::vec::IntoIter<Exchange>,
    played: usize,
}

impl Player {
    pub(crate) fn open(path: &Path) -> Result<Self, BoxError> {
        let text = fs::read_to_string(path)?;
        let mut exchanges = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let read = serde_json::from_str(line);
            exchanges.push(read.map_err(|error| format!("line {}: {error}", number + 1))?);
        }
        Ok(Self {
            exchanges: exchanges.into_iter(),
            played: 0,
        })
    }

    /// The reply to the next request, if it is the recorded one.
    pub(crate) fn play(&mut self, request: &WireRequest) -> Result<ResponseHead, ModelError> {
        let number = self.played + 1;
        let Some(next) = self.exchanges.as_slice().first() else {
            let only = format!(
                "request {number} of a cassette with {} of them",
                self.played
            );
            return Err(ModelError::NotRecorded(only));
        };
        if let Some(difference) = difference(next, request) {
            return Err(ModelError::NotRecorded(format!(
                "request {number}, {difference}"
            )));
        }
        let mut chunks = Vec::new();
        for chunk in &next.chunks {
            chunks.push(match chunk {
                Chunk::Text(text) => text.clone().into_bytes(),
                Chunk::Bytes { base64 } => {
                    let bad = |error| ModelError::Setup(Box::new(error));
                    STANDARD.decode(base64).map_err(bad)?
                }
            });
        }
        let reached = ResponseHead {
            status: next.status,
            headers: next.headers.clone(),
            body: Body::Played(chunks.into_iter()),
        };
        self.exchanges.next();
        self.played += 1;
        Ok(reached)
    }
}

/// The first difference between what is recorded and what is asked.
fn difference(recorded: &Exchange, request: &WireRequest) -> Option<String> {
    if recorded.path != request.path {
        return Some(format!(
            "path: {} was recorded, not {}",
            recorded.path, request.path
        ));
    }
    if recorded.body.get().as_bytes() == request.body {
        return None;
    }
    let before: Value = recorded.body.parse().unwrap_or_default();
    let now: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    first_difference(&before, &now, "body")
}

fn first_difference(before: &Value, now: &Value, at: &str) -> Option<String> {
    match (before, now) {
        (Value::Object(old), Value::Object(new)) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            old.keys().chain(added).find_map(|key| {
                let at = format!("{at}.{key}");
                match (old.get(key), new.get(key)) {
                    (Some(old), Some(new)) => first_difference(old, new, &at),
                    (Some(old), None) => Some(format!(
                        "{at}: {} was recorded, now it is missing",
                        short(old)
                    )),
                    (_, new) => Some(format!(
                        "{at}: {} was not recorded",
                        new.map(short).unwrap_or_default()
                    )),
                }
            })
        }
        (Value::Array(old), Value::Array(new)) => {
            let changed = old.iter().zip(new).enumerate();
            let mut inside = changed.filter_map(|(place, (old, new))| {
                first_difference(old, new, &format!("{at}[{place}]"))
            });
            inside.next().or_else(|| {
                let lengths = (old.len(), new.len());
                (lengths.0 != lengths.1).then(|| {
                    format!(
                        "{at}: {} items were recorded, now there are {}",
                        lengths.0, lengths.1
                    )
                })
            })
        }
        _ if before == now => None,
        _ => Some(format!(
            "{at}: {} was recorded, not {}",
            short(before),
            short(now)
        )),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
