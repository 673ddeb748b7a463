//! What a tool answered.

use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::{CallToolResult, ContentBlock};
use serde::{Deserialize, Serialize};

use crate::conversation::call_id::CallId;

/// The result of one tool call: MCP content, typed and whole.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call it answers.
    pub id: CallId,
    /// For the model.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// For programs. A model gets it only if there is no content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<RawJson>,
    /// Whether the tool failed; the content then says how.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ToolResult {
    /// A result of any content.
    pub fn new(id: impl Into<CallId>, content: Vec<ContentBlock>) -> Self {
        Self {
            id: id.into(),
            content,
            structured: None,
            is_error: false,
        }
    }

    /// A result that is text.
    pub fn text(id: impl Into<CallId>, text: impl Into<String>) -> Self {
        Self::new(id, vec![ContentBlock::text(text)])
    }

    /// A failure described in text.
    pub fn error(id: impl Into<CallId>, text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(id, text)
        }
    }

    /// What an MCP server answered to the call.
    pub fn from_mcp(id: impl Into<CallId>, result: CallToolResult) -> Self {
        Self {
            id: id.into(),
            is_error: result.failed(),
            content: result.content,
            structured: result.structured_content,
        }
    }
}
