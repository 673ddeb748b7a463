//! Complete runs on a cassette: the model's replies and the tools' results, in one file.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::{RawJson, RawObject};
use parking_lot::Mutex;
use provider_adapters::{Adapter, Model, ModelError, Reply, ReplyEvent, ReplyStream, Request};
use serde::{Deserialize, Serialize};
use tool_policy::ToolInfo;

use super::model::Played;
use crate::toolbox::context::CallContext;
use crate::toolbox::{FailureKind, Invocation, Outcome, Toolbox};

/// A cassette of a complete run.
///
/// To record, wrap the model and the toolbox of an agent. To play back, wrap any model (only its wire matters) and no
/// tools: neither is called then. A request or a call that differs from the recorded one fails with the recorded one;
/// nothing is ever sent.
#[derive(Clone, Debug)]
pub struct Cassette {
    deck: Arc<Mutex<CassetteMode>>,
}

#[derive(Debug)]
enum CassetteMode {
    Record(File),
    Play {
        asked: VecDeque<AskedLine>,
        called: Vec<CalledLine>,
        /// Lists of tools, each with how much had happened before it.
        listed: VecDeque<(usize, Vec<ToolInfo>)>,
        tools: Arc<[ToolInfo]>,
        played: usize,
    },
}

/// One line of a cassette.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Listed(Vec<ToolInfo>),
    Asked(Box<AskedLine>),
    Called(CalledLine),
}

#[derive(Debug, Deserialize, Serialize)]
struct AskedLine {
    request: RawJson,
    reply: Reply,
}

#[derive(Debug, Deserialize, Serialize)]
struct CalledLine {
    server: String,
    tool: String,
    arguments: RawObject,
    outcome: Outcome,
}

/// The reason why a cassette cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file cannot be read or written.
    Io(std::io::Error),
    /// A line is invalid.
    Line {
        /// Which line, from 1.
        number: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl fmt::Display for CassetteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("the cassette cannot be read or written"),
            Self::Line { number, .. } => write!(f, "line {number} of the cassette is invalid"),
        }
    }
}

impl std::error::Error for CassetteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Line { source, .. } => Some(source),
        }
    }
}

impl Cassette {
    /// Records on a new cassette.
    ///
    /// # Errors
    /// [`CassetteError::Io`] if the file cannot be created.
    pub fn record(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let file = File::create(path).map_err(CassetteError::Io)?;
        Ok(Self::of(CassetteMode::Record(file)))
    }

    /// Plays a cassette back.
    ///
    /// # Errors
    /// [`CassetteError`] if the file is not a cassette.
    pub fn play(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let text = fs::read_to_string(path).map_err(CassetteError::Io)?;
        let (mut asked, mut called) = (VecDeque::new(), Vec::new());
        let mut listed = VecDeque::new();
        for (at, line) in text.lines().enumerate() {
            let number = at + 1;
            let line = serde_json::from_str(line);
            match line.map_err(|source| CassetteError::Line { number, source })? {
                Line::Listed(tools) => listed.push_back((asked.len() + called.len(), tools)),
                Line::Asked(line) => asked.push_back(*line),
                Line::Called(line) => called.push(line),
            }
        }
        Ok(Self::of(CassetteMode::Play {
            asked,
            called,
            tools: Arc::from([]),
            listed,
            played: 0,
        }))
    }

    fn of(deck: CassetteMode) -> Self {
        Self {
            deck: Arc::new(Mutex::new(deck)),
        }
    }

    /// A model whose replies are recorded, or played back.
    pub fn model(&self, model: impl Model + 'static) -> CassetteModel {
        CassetteModel {
            model: Arc::new(model),
            cassette: self.clone(),
        }
    }

    /// Tools whose results are recorded, or played back.
    pub fn tools(&self, toolbox: impl Toolbox + 'static) -> CassetteTools {
        CassetteTools {
            toolbox: Arc::new(toolbox),
            cassette: self.clone(),
            last: Mutex::new(None),
        }
    }

    fn write(&self, line: &Line) {
        // A cassette that cannot be written is noticed when it is played.
        if let CassetteMode::Record(file) = &mut *self.deck.lock()
            && let Ok(mut bytes) = serde_json::to_vec(line)
        {
            bytes.push(b'\n');
            let _ = file.write_all(&bytes);
        }
    }

    fn plays(&self) -> bool {
        matches!(&*self.deck.lock(), CassetteMode::Play { .. })
    }

    /// The recorded reply to this request.
    fn reply(&self, request: &RawJson) -> Result<Reply, ModelError> {
        let CassetteMode::Play { asked, played, .. } = &mut *self.deck.lock() else {
            return Err(ModelError::NotRecorded("not in replay mode".to_owned()));
        };
        match asked.pop_front() {
            Some(line) if line.request == *request => {
                *played += 1;
                Ok(line.reply)
            }
            Some(line) => {
                let message = difference(line.request.get(), request.get());
                asked.push_front(line);
                Err(ModelError::NotRecorded(message))
            }
            None => Err(ModelError::NotRecorded("the cassette has ended".to_owned())),
        }
    }

    /// The recorded outcome of this call, each once.
    fn outcome(&self, call: &Invocation) -> Outcome {
        let CassetteMode::Play { called, played, .. } = &mut *self.deck.lock() else {
            return Outcome::failed(FailureKind::NotSent, "not in replay mode");
        };
        let at = called.iter().position(|line| {
            line.server == call.server && line.tool == call.tool && line.arguments == call.arguments
        });
        match at {
            Some(at) => {
                *played += 1;
                called.remove(at).outcome
            }
            None => {
                let message = format!(
                    "the call of {:?} on {:?} with {} was not recorded",
                    call.tool, call.server, call.arguments
                );
                Outcome::failed(FailureKind::NotSent, message)
            }
        }
    }
}

/// Where two texts part.
fn difference(recorded: &str, now: &str) -> String {
    let same = recorded
        .char_indices()
        .zip(now.chars())
        .take_while(|((_, a), b)| a == b)
        .last()
        .map_or(0, |((at, a), _)| at + a.len_utf8());
    let rest = |text: &str| -> String {
        text.get(same..)
            .unwrap_or_default()
            .chars()
            .take(80)
            .collect()
    };
    format!(
        "at byte {same}: {:?} was recorded, not {:?}",
        rest(recorded),
        rest(now)
    )
}

/// A model on a cassette: see [`Cassette::model`].
#[derive(Debug)]
pub struct CassetteModel {
    model: Arc<dyn Model>,
    cassette: Cassette,
}

#[async_trait]
impl Model for CassetteModel {
    fn adapter(&self) -> &dyn Adapter {
        self.model.adapter()
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    async fn start(&self, request: &Request) -> Result<Box<dyn ReplyStream>, ModelError> {
        let encoded = self
            .adapter()
            .encode(request)
            .map_err(ModelError::Request)?;
        let body = String::from_utf8_lossy(&encoded.request.body).into_owned();
        let body = RawJson::from_text(body).unwrap_or_else(|_| RawJson::null());
        if self.cassette.plays() {
            return Ok(Box::new(Played::new(self.cassette.reply(&body)?)));
        }
        Ok(Box::new(Recorded {
            stream: self.model.start(request).await?,
            request: body,
            cassette: self.cassette.clone(),
        }))
    }
}

struct Recorded {
    stream: Box<dyn ReplyStream>,
    request: RawJson,
    cassette: Cassette,
}

#[async_trait]
impl ReplyStream for Recorded {
    async fn next(&mut self) -> Option<ReplyEvent> {
        self.stream.next().await
    }

    fn finish(self: Box<Self>) -> Reply {
        let reply = self.stream.finish();
        self.cassette.write(&Line::Asked(Box::new(AskedLine {
            request: self.request,
            reply: reply.clone(),
        })));
        reply
    }
}

/// Tools on a cassette: see [`Cassette::tools`].
pub struct CassetteTools {
    toolbox: Arc<dyn Toolbox>,
    cassette: Cassette,
    last: Mutex<Option<Arc<[ToolInfo]>>>,
}

#[async_trait]
impl Toolbox for CassetteTools {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        if let CassetteMode::Play {
            listed,
            tools,
            played,
            ..
        } = &mut *self.cassette.deck.lock()
        {
            while listed.front().is_some_and(|(after, _)| after <= played) {
                if let Some((_, newer)) = listed.pop_front() {
                    *tools = newer.into();
                }
            }
            return Arc::clone(tools);
        }
        let tools = self.toolbox.tools().await;
        let mut last = self.last.lock();
        let same = last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &tools));
        if !same {
            self.cassette.write(&Line::Listed(tools.to_vec()));
            *last = Some(Arc::clone(&tools));
        }
        tools
    }

    async fn refresh(&self) {
        if !self.cassette.plays() {
            self.toolbox.refresh().await;
        }
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        if self.cassette.plays() {
            return self.cassette.outcome(&call);
        }
        let (server, tool) = (call.server.clone(), call.tool.clone());
        let arguments = call.arguments.clone();
        let outcome = self.toolbox.call(call, context).await;
        self.cassette.write(&Line::Called(CalledLine {
            server,
            tool,
            arguments,
            outcome: outcome.clone(),
        }));
        outcome
    }
}

impl fmt::Debug for CassetteTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CassetteTools").finish_non_exhaustive()
    }
}
