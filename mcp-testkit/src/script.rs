//! The script of a well-behaved server: its features and its behaviour.

mod ask;
mod edit;
mod method;
mod prompt;
mod resource;
mod stock;
mod tool;

use std::time::Duration;

use mcp_jsonrpc::Revision;
use serde_json::{Value, json};

pub use ask::Ask;
pub use edit::Edit;
use method::Method;
pub use prompt::Prompt;
pub use resource::Resource;
pub use tool::{Called, Refusal, Step, TaskSupport, Tool};

use crate::Era;

/// The features and the behaviour of a well-behaved server: tools, resources, prompts, eras, paging, sessions, JSON or
/// SSE replies.
///
/// [`Script::standard`] has one of everything; [`Script::minimal`] only `echo` and `slow`; [`Script::empty`] nothing,
/// for tests that define everything themselves.
///
/// ```
/// use mcp_testkit::{Era, Script, Tool};
/// use serde_json::json;
///
/// let script = Script::empty()
///     .with_tool(Tool::new("dice").answering(|_| json!({"content": [{"type": "text", "text": "4"}]})))
///     .with_page_size(10)
///     .only(Era::Modern);
/// # let _ = script;
/// ```
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) eras: Vec<Era>,
    pub(crate) revisions: Vec<Revision>,
    pub(crate) info: Value,
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<Value>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) page_size: Option<usize>,
    pub(crate) replies: Replies,
    pub(crate) sessions: bool,
    pub(crate) session_id: Option<String>,
    pub(crate) get_stream: bool,
    pub(crate) asks_on_get: bool,
    pub(crate) polling: Option<Polling>,
    pub(crate) task_poll: Duration,
    pub(crate) ttl: Duration,
    methods: Vec<Method>,
}

/// The form of responses over Streamable HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Replies {
    /// A JSON body, unless something has to be sent before the response.
    Json,
    /// Always an event stream.
    Sse,
}

/// Resumable event streams: every event has an id, and a lost stream continues where it ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Polling {
    pub(crate) retry: Option<Duration>,
    pub(crate) hang_up: bool,
}

impl Polling {
    /// Resumable streams that stay open until the response.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the delay before clients reconnect.
    #[must_use]
    pub fn with_retry(mut self, retry: Duration) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Ends each request's stream after its first, empty event: the client has to reconnect.
    #[must_use]
    pub fn hanging_up(mut self) -> Self {
        self.hang_up = true;
        self
    }
}

impl Script {
    /// A server without features.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            eras: vec![Era::Legacy, Era::Modern],
            revisions: legacy_revisions(),
            info: json!({
                "name": "mcp-testkit", "title": "MCP test server", "version": env!("CARGO_PKG_VERSION"),
            }),
            instructions: None,
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            page_size: None,
            replies: Replies::Json,
            sessions: true,
            session_id: None,
            get_stream: true,
            asks_on_get: false,
            polling: None,
            task_poll: Duration::from_millis(50),
            ttl: Duration::ZERO,
            methods: Vec::new(),
        }
    }

    /// A server with only `echo` and `slow`, as used by the chaos cases.
    #[must_use]
    pub fn minimal() -> Self {
        Self::empty()
            .with_tool(stock::echo())
            .with_tool(stock::slow())
    }

    /// A server with one of everything; see the crate's README for the list.
    #[must_use]
    pub fn standard() -> Self {
        stock::standard()
    }

    /// Speaks this era only.
    #[must_use]
    pub fn only(mut self, era: Era) -> Self {
        self.eras = vec![era];
        self
    }

    /// Accepts only these legacy revisions; the last one is its counter-offer.
    #[must_use]
    pub fn with_revisions(mut self, revisions: &[Revision]) -> Self {
        self.revisions = revisions.to_vec();
        self
    }

    /// Sets the server's info: name, title, version.
    #[must_use]
    pub fn with_info(mut self, name: &str, title: &str, version: &str) -> Self {
        self.info = json!({"name": name, "title": title, "version": version});
        self
    }

    /// Sets the server's instructions.
    #[must_use]
    pub fn with_instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Adds a tool; it replaces one of the same name.
    #[must_use]
    pub fn with_tool(mut self, tool: Tool) -> Self {
        self.tools.retain(|old| old.name() != tool.name());
        self.tools.push(tool);
        self
    }

    /// Adds `count` generated tools, from `tool_0000`, each with a schema of realistic size.
    #[must_use]
    pub fn with_generated_tools(mut self, count: usize) -> Self {
        self.tools.extend((0..count).map(stock::generated));
        self
    }

    /// Adds a resource; it replaces one of the same URI.
    #[must_use]
    pub fn with_resource(mut self, resource: Resource) -> Self {
        self.resources.retain(|old| old.uri() != resource.uri());
        self.resources.push(resource);
        self
    }

    /// Adds a resource template, in its listed form.
    #[must_use]
    pub fn with_template(mut self, template: Value) -> Self {
        self.templates.push(template);
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Prompt) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Sets the maximum number of items per page.
    #[must_use]
    pub fn with_page_size(mut self, items: usize) -> Self {
        self.page_size = Some(items.max(1));
        self
    }

    /// Sets the form of responses over Streamable HTTP.
    #[must_use]
    pub fn with_replies(mut self, replies: Replies) -> Self {
        self.replies = replies;
        self
    }

    /// Assigns no session id over Streamable HTTP.
    #[must_use]
    pub fn without_sessions(mut self) -> Self {
        self.sessions = false;
        self
    }

    /// Assigns always this session id.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Rejects the standalone GET stream with 405.
    #[must_use]
    pub fn without_get_stream(mut self) -> Self {
        self.get_stream = false;
        self
    }

    /// Sends its own requests only on the standalone GET stream, not on the stream of the call that caused them.
    #[must_use]
    pub fn asking_on_get(mut self) -> Self {
        self.asks_on_get = true;
        self
    }

    /// Makes event streams resumable (legacy era, Streamable HTTP).
    #[must_use]
    pub fn with_polling(mut self, polling: Polling) -> Self {
        self.polling = Some(polling);
        self
    }

    /// Sets the interval at which clients poll tasks.
    #[must_use]
    pub fn with_task_poll(mut self, interval: Duration) -> Self {
        self.task_poll = interval;
        self
    }

    /// Sets the TTL of lists and reads (modern era).
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Answers a method of an extension, in both eras.
    #[must_use]
    pub fn with_method(
        mut self,
        name: impl Into<String>,
        answer: impl Fn(&Value) -> Result<Value, Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.methods.push(Method::new(name.into(), answer));
        self
    }

    pub(crate) fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    pub(crate) fn speaks(&self, era: Era) -> bool {
        self.eras.contains(&era)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}

fn legacy_revisions() -> Vec<Revision> {
    let mut revisions = Revision::ALL.to_vec();
    revisions.retain(|revision| revision.has_handshake());
    revisions
}

impl Default for Script {
    fn default() -> Self {
        Self::standard()
    }
}
