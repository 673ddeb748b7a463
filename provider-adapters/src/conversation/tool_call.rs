//! A tool call from the model.

use std::fmt;

use mcp_jsonrpc::RawObject;
use serde::{Deserialize, Serialize};

use crate::conversation::arguments::Arguments;
use crate::conversation::call_id::CallId;
use crate::conversation::tool_result::ToolResult;

/// A model's request to call a tool.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The call's id; its result has the same.
    pub id: CallId,
    /// The tool's name, as in the request's list of tools.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
    /// The reason why the call must not be executed, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<CallProblem>,
    /// Whether the provider sent no usable id and this one is generated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
}

/// The reason why a call must not be executed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum CallProblem {
    /// The reply ended before the arguments did.
    Cut,
    /// The arguments, or the text around them, are malformed.
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// There is no tool of this name.
    UnknownTool,
    /// The reply failed after the call.
    ReplyFailed,
}

impl ToolCall {
    /// Creates a call, or one with a problem if the arguments are not a JSON object.
    pub fn new(
        id: impl Into<CallId>,
        name: impl Into<String>,
        arguments: impl Into<Arguments>,
    ) -> Self {
        let arguments = arguments.into();
        let problem = arguments
            .object()
            .is_none()
            .then(|| CallProblem::Malformed {
                reason: "the arguments are not a JSON object".to_owned(),
            });
        Self {
            id: id.into(),
            name: name.into(),
            arguments,
            problem,
            generated: false,
        }
    }

    /// The arguments of a call that may be executed. `None` if it must not be; then
    /// [`rejection`](Self::rejection) is its result.
    pub fn executable(&self) -> Option<&RawObject> {
        self.arguments.object().filter(|_| self.problem.is_none())
    }

    /// The result of a call that must not be executed: describes the problem, so that the model
    /// can try again. `None` if the call may be executed.
    pub fn rejection(&self) -> Option<ToolResult> {
        if self.executable().is_some() {
            return None;
        }
        let problem = self.problem.as_ref().unwrap_or(&CallProblem::Cut);
        let text = format!("The tool {:?} was not called: {problem}.", self.name);
        Some(ToolResult::error(self.id.clone(), text))
    }
}

impl fmt::Display for CallProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => f.write_str(
                "the reply ended before the arguments did. Make the call again, with shorter arguments",
            ),
            Self::Malformed { reason } => write!(f, "{reason}. Make the call again"),
            Self::UnknownTool => {
                f.write_str("no tool has this name. Use a name from the list of tools")
            }
            Self::ReplyFailed => f.write_str("the reply failed. Make the call again"),
        }
    }
}
