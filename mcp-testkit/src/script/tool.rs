//! Tools of a scripted server: a declaration, steps, and a result.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Ask, Edit};
use crate::Era;

type Answer = Arc<dyn Fn(&Called<'_>) -> Result<Value, Refusal> + Send + Sync>;

/// A tool: its listed form, its steps, and its result.
///
/// ```
/// use std::time::Duration;
/// use mcp_testkit::{Ask, Step, Tool};
/// use serde_json::json;
///
/// let tool = Tool::new("book")
///     .with_step(Step::Progress { progress: 1.0, total: Some(2.0), message: None })
///     .with_step(Step::Ask(Ask::form("day", "Which day?", json!({
///         "type": "object", "properties": {"day": {"type": "string", "format": "date"}},
///     }))))
///     .answering(|called| json!({"content": [{"type": "text",
///         "text": format!("booked: {}", called.answer("day"))}]}));
/// # let _ = tool;
/// ```
#[derive(Clone)]
pub struct Tool {
    pub(crate) declared: Value,
    pub(crate) steps: Vec<Step>,
    pub(crate) task: TaskSupport,
    answer: Answer,
}

/// A step of a tool before its result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Sends progress, if the caller sent a token.
    Progress {
        /// The progress.
        progress: f64,
        /// The total.
        total: Option<f64>,
        /// A message for people.
        message: Option<String>,
    },
    /// Sends progress repeatedly, and never reaches the next step.
    ProgressForEver(Duration),
    /// Sends a log message, if the client requested that level.
    Log {
        /// One of the eight levels.
        level: String,
        /// Any data.
        data: Value,
    },
    /// Waits.
    Pause(Duration),
    /// Waits for the number of milliseconds in this argument.
    PauseArgument {
        /// The argument's name.
        name: String,
        /// The time to wait if it is absent.
        default: Duration,
    },
    /// Waits forever: only a cancellation ends it.
    Hang,
    /// Asks the client something and waits for the answer.
    Ask(Ask),
    /// Changes the server's script.
    Edit(Edit),
    /// Exits the server with this status, without a response.
    Exit(i32),
    /// Notifies all clients that the list of tools changed.
    ToolsChanged,
    /// Notifies all subscribed clients that this resource changed.
    ResourceUpdated(String),
}

/// Whether a tool can run as a task.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum TaskSupport {
    /// Never.
    #[default]
    Forbidden,
    /// If the client requests it (2025-11-25), or supports it (2026-07-28).
    Optional,
    /// Always.
    Required,
}

/// A received call, with the client's answers so far.
#[derive(Debug)]
pub struct Called<'a> {
    /// The arguments as the client sent them.
    pub arguments: &'a Value,
    pub(crate) answers: &'a Map<String, Value>,
}

impl Called<'_> {
    /// The client's answer to the [`Ask`] of this key; null if it was not asked.
    #[must_use]
    pub fn answer(&self, key: &str) -> Value {
        self.answers.get(key).cloned().unwrap_or_default()
    }
}

/// A JSON-RPC error returned by a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// Further details.
    pub data: Option<Value>,
}

impl Refusal {
    /// Creates an error without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

impl Tool {
    /// Creates a tool that accepts anything and returns an empty result.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            declared: json!({"name": name, "inputSchema": {"type": "object"}}),
            steps: Vec::new(),
            task: TaskSupport::Forbidden,
            answer: Arc::new(|_| Ok(json!({"content": []}))),
        }
    }

    /// Sets a member of the listed tool: `description`, `inputSchema`, `annotations`, …
    #[must_use]
    pub fn declaring(mut self, member: &str, value: Value) -> Self {
        if let Some(members) = self.declared.as_object_mut() {
            members.insert(member.to_owned(), value);
        }
        self
    }

    /// Sets its description and its properties, all required.
    #[must_use]
    pub fn taking(self, description: &str, properties: Value) -> Self {
        let required: Vec<String> = properties
            .as_object()
            .map(|properties| properties.keys().cloned().collect())
            .unwrap_or_default();
        self.declaring("description", description.into()).declaring(
            "inputSchema",
            json!({"type": "object", "properties": properties, "required": required}),
        )
    }

    /// Adds a step before the result.
    #[must_use]
    pub fn with_step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Sets whether it may or must run as a task.
    #[must_use]
    pub fn as_task(mut self, support: TaskSupport) -> Self {
        self.task = support;
        let word = match support {
            TaskSupport::Forbidden => "forbidden",
            TaskSupport::Optional => "optional",
            TaskSupport::Required => "required",
        };
        self.declaring("execution", json!({"taskSupport": word}))
    }

    /// Sets the function that returns its `CallToolResult`.
    #[must_use]
    pub fn answering(self, answer: impl Fn(&Called<'_>) -> Value + Send + Sync + 'static) -> Self {
        self.trying(move |called| Ok(answer(called)))
    }

    /// Sets the function that returns its `CallToolResult` or a JSON-RPC error.
    #[must_use]
    pub fn trying(
        mut self,
        answer: impl Fn(&Called<'_>) -> Result<Value, Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.answer = Arc::new(answer);
        self
    }

    pub(crate) fn name(&self) -> &str {
        self.declared
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Its listed form: `execution` belongs to 2025-11-25.
    pub(crate) fn listed(&self, era: Era) -> Value {
        let mut listed = self.declared.clone();
        if let (Era::Modern, Some(members)) = (era, listed.as_object_mut()) {
            members.shift_remove("execution");
        }
        listed
    }

    pub(crate) fn answer(&self, called: &Called<'_>) -> Result<Value, Refusal> {
        (self.answer)(called)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("declared", &self.declared)
            .field("steps", &self.steps)
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}
