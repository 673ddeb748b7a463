//! What a server tells unasked.

use mcp_jsonrpc::model::{ElicitationComplete, LogMessage, ResourceUpdated};
use mcp_jsonrpc::model::{
    ElicitationCompleteParams, LogMessageParams, PromptListChanged, ResourceListChanged,
    ResourceUpdatedParams, ToolListChanged,
};
use mcp_jsonrpc::{NotificationMethod, parse_params};
use mcp_jsonrpc::{RawJson, RawRef};

/// Something a server told unasked, or that happened to what it told.
///
/// The same events in every era. Progress is not among them: it goes to the call it belongs to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The list of tools changed: fetch it again when you need it.
    ToolsChanged,
    /// The list of prompts changed.
    PromptsChanged,
    /// The list of resources changed.
    ResourcesChanged,
    /// A resource changed: read it again.
    ResourceUpdated {
        /// Which one: one that was subscribed to, or one below it.
        uri: String,
    },
    /// The server logs something.
    Log(Box<LogMessageParams>),
    /// The user is done with the URL they were sent to.
    ElicitationComplete {
        /// Which elicitation.
        elicitation_id: String,
    },
    /// Any other notification.
    Other {
        /// What it is about.
        method: String,
        /// The details.
        params: Option<RawJson>,
    },
    /// Notifications may have been missed: assume that everything changed.
    Gap,
    /// So many log messages and unknown notifications came faster than they were handled, and
    /// were dropped.
    Dropped {
        /// How many.
        count: u64,
    },
}

impl ClientEvent {
    /// Whether it tells of a change, as a subscription does.
    pub(crate) fn is_change(&self) -> bool {
        matches!(
            self,
            Self::ToolsChanged
                | Self::PromptsChanged
                | Self::ResourcesChanged
                | Self::ResourceUpdated { .. }
        )
    }

    /// Reads a notification; `None` if it is a known one with params that make no sense.
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
