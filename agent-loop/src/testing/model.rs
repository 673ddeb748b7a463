//! A model with scripted replies.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::RawJson;
use parking_lot::Mutex;
use provider_adapters::{
    Adapter, Arguments, AssistantPart, ErrorKind, Model, ModelError, OpenAiChat, ProviderError,
    Reply, ReplyEvent, ReplyStream, Request, Stop, StopReason, ToolCall,
};
use serde_json::Value;

type Improvise = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

/// A model that returns prepared replies, one after the other, and then fails. Clones share the script.
///
/// ```
/// use agent_loop::testing::ScriptedModel;
/// use serde_json::json;
///
/// let model = ScriptedModel::new()
///     .calls([("get_time", json!({}))])
///     .says("It is noon.");
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    adapter: Arc<dyn Adapter>,
    script: Arc<Mutex<Script>>,
    improvise: Option<Improvise>,
}

#[derive(Default)]
struct Script {
    lines: VecDeque<Line>,
    requests: Vec<Request>,
    calls: u64,
}

#[derive(Clone)]
enum Line {
    Reply(Box<Reply>),
    Fails(ProviderError),
    Hangs(String),
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedModel {
    /// Creates a model with an empty script.
    pub fn new() -> Self {
        Self {
            adapter: Arc::new(OpenAiChat::default()),
            script: Arc::default(),
            improvise: None,
        }
    }

    /// Creates a model that computes its replies.
    pub fn improvising(reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self {
            improvise: Some(Arc::new(reply)),
            ..Self::new()
        }
    }

    /// Sets the wire it pretends to use.
    #[must_use]
    pub fn with_adapter(mut self, adapter: impl Adapter + 'static) -> Self {
        self.adapter = Arc::new(adapter);
        self
    }

    /// Adds a reply with this text.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.replies(reply(vec![AssistantPart::text(text)], StopReason::End))
    }

    /// Adds a reply with this structured output, which is not validated against a schema.
    #[must_use]
    pub fn outputs(self, output: Value) -> Self {
        let text = output.to_string();
        let mut reply = reply(vec![AssistantPart::text(text)], StopReason::End);
        reply.output = RawJson::from_serialize(&output).ok().map(Ok);
        self.replies(reply)
    }

    /// Adds a reply with these concurrent calls.
    #[must_use]
    pub fn calls<N: Into<String>>(self, calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        let mut parts = Vec::new();
        for (name, arguments) in calls {
            let number = {
                let mut script = self.script.lock();
                script.calls += 1;
                script.calls
            };
            let arguments = Arguments::read(arguments.to_string());
            let call = ToolCall::new(format!("call_{number}"), name, arguments);
            parts.push(AssistantPart::from(call));
        }
        self.replies(reply(parts, StopReason::ToolUse))
    }

    /// Adds this reply.
    #[must_use]
    pub fn replies(self, reply: Reply) -> Self {
        self.line(Line::Reply(Box::new(reply)))
    }

    /// Adds a failure.
    #[must_use]
    pub fn fails(self, message: impl Into<String>) -> Self {
        self.line(Line::Fails(ProviderError::new(ErrorKind::Server, message)))
    }

    /// Adds a reply that starts with this text and never ends.
    #[must_use]
    pub fn hangs(self, text: impl Into<String>) -> Self {
        self.line(Line::Hangs(text.into()))
    }

    fn line(self, line: Line) -> Self {
        self.script.lock().lines.push_back(line);
        self
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.script.lock().requests.clone()
    }
}

fn reply(parts: Vec<AssistantPart>, reason: StopReason) -> Reply {
    let mut reply = Reply::default();
    reply.parts = parts;
    reply.stop = Some(Stop::new(reason, "scripted"));
    reply
}

#[async_trait]
impl Model for ScriptedModel {
    fn adapter(&self) -> &dyn Adapter {
        &*self.adapter
    }

    fn name(&self) -> &str {
        "scripted"
    }

    async fn start(&self, request: &Request) -> Result<Box<dyn ReplyStream>, ModelError> {
        if let Some(improvise) = &self.improvise {
            return Ok(Box::new(Played::new(improvise(request))));
        }
        let line = {
            let mut script = self.script.lock();
            script.requests.push(request.clone());
            script.lines.pop_front()
        };
        match line {
            Some(Line::Reply(reply)) => Ok(Box::new(Played::new(*reply))),
            Some(Line::Fails(error)) => Err(ModelError::Provider(Box::new(error))),
            Some(Line::Hangs(text)) => Ok(Box::new(Played {
                hangs: true,
                ..Played::new(reply(vec![AssistantPart::text(text)], StopReason::End))
            })),
            None => Err(ModelError::NotRecorded("the script is over".to_owned())),
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").finish_non_exhaustive()
    }
}

/// A reply that was known beforehand.
pub(crate) struct Played {
    events: VecDeque<ReplyEvent>,
    reply: Reply,
    hangs: bool,
}

impl Played {
    pub(crate) fn new(reply: Reply) -> Self {
        let event = |part: &AssistantPart| match part {
            AssistantPart::Text { text } => Some(ReplyEvent::Text { text: text.clone() }),
            AssistantPart::Reasoning { text } => Some(ReplyEvent::Reasoning { text: text.clone() }),
            AssistantPart::Refusal { text } => Some(ReplyEvent::Refusal { text: text.clone() }),
            _ => None,
        };
        Self {
            events: reply.parts.iter().filter_map(event).collect(),
            reply,
            hangs: false,
        }
    }
}

#[async_trait]
impl ReplyStream for Played {
    async fn next(&mut self) -> Option<ReplyEvent> {
        match self.events.pop_front() {
            None if self.hangs => std::future::pending().await,
            event => event,
        }
    }

    fn finish(self: Box<Self>) -> Reply {
        self.reply
    }
}
