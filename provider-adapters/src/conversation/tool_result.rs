//! Results of tool calls.

use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::{CallToolResult, ContentBlock};
use serde::{Deserialize, Serialize};

use crate::conversation::call_id::CallId;

/// The result of one tool call: MCP content, typed and complete.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of its call.
    pub id: CallId,
    /// The content, for the model.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// The structured content, for programs. A model receives it only if there is no content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<RawJson>,
    /// Whether the tool failed; the content then describes the error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ToolResult {
    /// Creates a result with any content.
    pub fn new(id: impl Into<CallId>, content: Vec<ContentBlock>) -> Self {
        Self {
            id: id.into(),
            content,
            structured: None,
            is_error: false,
        }
    }

    /// Creates a result that is text.
    pub fn text(id: impl Into<CallId>, text: impl Into<String>) -> Self {
        Self::new(id, vec![ContentBlock::text(text)])
    }

    /// Creates a failure described in text.
    pub fn error(id: impl Into<CallId>, text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(id, text)
        }
    }

    /// Converts an MCP server's result of the call.
    pub fn from_mcp(id: impl Into<CallId>, result: CallToolResult) -> Self {
        Self {
            id: id.into(),
            is_error: result.failed(),
            content: result.content,
            structured: result.structured_content,
        }
    }
}
