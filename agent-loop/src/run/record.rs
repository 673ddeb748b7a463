//! The record of a tool call, for programs.

use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::ContentBlock;
use provider_adapters::{Arguments, CallId, ToolResult};
use serde::{Deserialize, Serialize};

use crate::run::number::CallNumber;

/// The status of a call.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It waits for an answer, or for its turn.
    Pending,
    /// It is running.
    Invoking,
    /// It has run.
    Done,
    /// It failed.
    Error,
    /// It was denied: by the user, by a rule, or because no one could be asked.
    Denied,
    /// It was cancelled.
    Cancelled,
}

impl Status {
    /// Whether it has ended.
    pub fn is_over(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Error | Self::Denied | Self::Cancelled
        )
    }
}

/// A tool call in the form programs store and show.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolCallRecord {
    /// The model's name for the call.
    pub id: CallId,
    /// Its number within the run: unique, and used to answer it.
    pub number: CallNumber,
    /// The server's id; empty where no tool was found.
    pub server_id: String,
    /// Our name for the server; empty where no tool was found.
    pub server_name: String,
    /// The server's name for the tool; empty where no tool was found.
    pub tool_name: String,
    /// The tool's name as the model sees it.
    pub display_name: String,
    /// The arguments.
    pub arguments: Arguments,
    /// Its status.
    pub status: Status,
    /// The result, once it has ended: `content` and optionally `structuredContent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<RawJson>,
    /// Whether the result is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

impl ToolCallRecord {
    /// The response as text, for people: text unchanged, anything else by its kind.
    pub fn response_text(&self) -> Option<String> {
        let response: Owned = self.response.as_ref()?.parse().ok()?;
        Some(provider_adapters::flatten(&response.content))
    }

    pub(crate) fn with_result(mut self, result: &ToolResult) -> Self {
        let response = Response {
            content: &result.content,
            structured_content: result.structured.as_ref(),
        };
        self.response = RawJson::from_serialize(&response).ok();
        self.is_error = Some(result.is_error);
        self
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    content: &'a [ContentBlock],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawJson>,
}

#[derive(Deserialize)]
struct Owned {
    content: Vec<ContentBlock>,
}
