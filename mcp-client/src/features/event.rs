//! Unsolicited events of a server.

use mcp_jsonrpc::model::{ElicitationComplete, LogMessage, ResourceUpdated};
use mcp_jsonrpc::model::{
    ElicitationCompleteParams, LogMessageParams, PromptListChanged, ResourceListChanged,
    ResourceUpdatedParams, ToolListChanged,
};
use mcp_jsonrpc::{NotificationMethod, parse_params};
use mcp_jsonrpc::{RawJson, RawRef};

/// An unsolicited notification from a server, or a gap in them.
///
/// The events are the same in every era. Progress is not among them: it is delivered to its call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The list of tools changed.
    ToolsChanged,
    /// The list of prompts changed.
    PromptsChanged,
    /// The list of resources changed.
    ResourcesChanged,
    /// A resource changed.
    ResourceUpdated {
        /// Its URI, or that of a sub-resource of the one subscribed to.
        uri: String,
    },
    /// A log message.
    Log(Box<LogMessageParams>),
    /// The user has completed a URL elicitation.
    ElicitationComplete {
        /// The id of the elicitation.
        elicitation_id: String,
    },
    /// Any other notification.
    Other {
        /// The method.
        method: String,
        /// The params.
        params: Option<RawJson>,
    },
    /// Notifications may have been missed: assume that everything changed.
    Gap,
    /// Log messages and unknown notifications arrived faster than they were handled, and were dropped.
    Dropped {
        /// The number dropped.
        count: u64,
    },
}

impl ClientEvent {
    /// Whether it is a change that a subscription delivers.
    pub(crate) fn is_change(&self) -> bool {
        matches!(
            self,
            Self::ToolsChanged
                | Self::PromptsChanged
                | Self::ResourcesChanged
                | Self::ResourceUpdated { .. }
        )
    }

    /// Reads a notification; `None` if it is a known one with invalid params.
    pub(crate) fn read(method: &str, params: Option<RawRef<'_>>) -> Option<Self> {
        Some(match method {
            ToolListChanged::NAME => Self::ToolsChanged,
            PromptListChanged::NAME => Self::PromptsChanged,
            ResourceListChanged::NAME => Self::ResourcesChanged,
            ResourceUpdated::NAME => {
                let ResourceUpdatedParams { uri, .. } = parse_params(params).ok()?;
                Self::ResourceUpdated { uri }
            }
            LogMessage::NAME => Self::Log(Box::new(parse_params(params).ok()?)),
            ElicitationComplete::NAME => {
                let ElicitationCompleteParams { elicitation_id, .. } = parse_params(params).ok()?;
                Self::ElicitationComplete { elicitation_id }
            }
            _ => Self::Other {
                method: method.to_owned(),
                params: params.map(RawJson::from),
            },
        })
    }
}
