//! Tools, as a model is told of them.

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::Tool;
use serde::{Deserialize, Serialize};

/// A tool that a model may call.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(default = "RawObject::empty")]
    pub input_schema: RawObject,
}

impl ToolSpec {
    /// A tool of this name, and the schema of its arguments.
    pub fn new(name: impl Into<String>, input_schema: RawObject) -> Self {
        Self {
            name: name.into(),
            description: None,
            input_schema,
        }
    }

    /// With what it does.
    #[must_use]
    pub fn with_description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }
}

impl From<&Tool> for ToolSpec {
    fn from(tool: &Tool) -> Self {
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
        }
    }
}

/// Whether, and which, tools a model may call.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one, whichever.
    Required,
    /// This one.
    Tool(String),
    /// As it likes, but only these.
    Among(Vec<String>),
}

#[cfg(feature = "http")]
impl ToolChoice {
    /// The same choice when a tool is gone.
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
