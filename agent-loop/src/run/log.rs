//! Calls that have ended.

use mcp_jsonrpc::RawObject;
use provider_adapters::{Arguments, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};

use crate::run::call::{OpenCall, Target};
use crate::run::number::CallNumber;
use crate::run::record::{Status, ToolCallRecord};

/// What is kept of a call besides the conversation once it is over.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Logged {
    number: CallNumber,
    status: Status,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    server_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    server: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    tool: String,
    name: String,
    /// Where they are not the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<RawObject>,
    /// The call and its result, once the conversation no longer has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) exchange: Option<Box<(ToolCall, ToolResult)>>,
}

impl Logged {
    pub(crate) fn of(call: &OpenCall) -> Self {
        let target = call.target.as_ref();
        let text = |get: fn(&Target) -> &String| target.map(get).cloned().unwrap_or_default();
        let own = call.call.arguments.object();
        Self {
            number: call.number,
            status: call.status(),
            server_id: text(|target| &target.server_id),
            server: text(|target| &target.server),
            tool: text(|target| &target.tool),
            name: target
                .map_or(&call.call.name, |target| &target.name)
                .clone(),
            arguments: target
                .map(|target| &target.arguments)
                .filter(|arguments| Some(*arguments) != own)
                .cloned(),
            exchange: None,
        }
    }

    pub(crate) fn record(&self, call: &ToolCall) -> ToolCallRecord {
        let arguments = self.arguments.clone().map(Arguments::from);
        ToolCallRecord {
            id: call.id.clone(),
            number: self.number,
            server_id: self.server_id.clone(),
            server_name: self.server.clone(),
            tool_name: self.tool.clone(),
            display_name: self.name.clone(),
            arguments: arguments.unwrap_or_else(|| call.arguments.clone()),
            status: self.status,
            response: None,
            is_error: None,
        }
    }
}
