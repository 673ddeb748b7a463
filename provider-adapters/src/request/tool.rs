//! Tools as seen by a model.

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::Tool;
use serde::{Deserialize, Serialize};

/// A tool that a model may call.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// Its description, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(default = "RawObject::empty")]
    pub input_schema: RawObject,
    /// Whether the model sees the tool only after searching for it, on wires that have such a
    /// search; see [`Adapter::defers_tools`](crate::Adapter::defers_tools).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
}

impl ToolSpec {
    /// Creates a tool with this name and the schema of its arguments.
    pub fn new(name: impl Into<String>, input_schema: RawObject) -> Self {
        Self {
            name: name.into(),
            description: None,
            input_schema,
            deferred: false,
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Sets whether the model sees the tool only after searching for it.
    #[must_use]
    pub fn with_deferred(mut self, deferred: bool) -> Self {
        self.deferred = deferred;
        self
    }
}

impl From<&Tool> for ToolSpec {
    fn from(tool: &Tool) -> Self {
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            deferred: false,
        }
    }
}

/// The tools a model may or must call.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool.
    None,
    /// At least one, of any kind.
    Required,
    /// This one.
    Tool(String),
    /// The model decides, among these.
    Among(Vec<String>),
}

#[cfg(feature = "http")]
impl ToolChoice {
    /// The same choice without a tool that is gone.
    pub(crate) fn without(&self, name: &str) -> Self {
        match self {
            Self::Tool(only) if only == name => Self::Auto,
            Self::Among(names) => Self::Among(
                names
                    .iter()
                    .filter(|other| *other != name)
                    .cloned()
                    .collect(),
            ),
            other => other.clone(),
        }
    }
}
