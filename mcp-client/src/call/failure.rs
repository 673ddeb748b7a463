//! The conversion of a request's failure into the error of its call.

use std::sync::Arc;

use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{
    Complete, Discover, GetPrompt, ListPrompts, ListResourceTemplates, ListResources, ListTools,
    Ping, ReadResource, SetLevel, Subscribe, SubscriptionsListen, Unsubscribe,
    experimental_task::TaskList,
};
use mcp_transport::{Delivery, TransportError};

use crate::call::error::{CallError, CallName};
use crate::call::exchange::RequestFailure;

/// Methods without effects at the server, or whose effects are the same when repeated.
const IDEMPOTENT: [&str; 14] = [
    ListTools::NAME,
    ListResources::NAME,
    ListResourceTemplates::NAME,
    ListPrompts::NAME,
    ReadResource::NAME,
    GetPrompt::NAME,
    Complete::NAME,
    Ping::NAME,
    Discover::NAME,
    SetLevel::NAME,
    Subscribe::NAME,
    SubscriptionsListen::NAME,
    Unsubscribe::NAME,
    TaskList::NAME,
];

impl RequestFailure {
    /// The error for `call`.
    pub(crate) fn into_error(self, call: CallName) -> CallError {
        match self {
            Self::Peer(error) => CallError::Peer {
                call,
                error: Box::new(error),
            },
            Self::Timeout {
                limit,
                kind,
                trouble,
            } => CallError::Timeout {
                call,
                limit,
                kind,
                trouble,
            },
            Self::Lost { error, delivery } => lost(call, error, delivery),
            Self::Invalid(detail) => CallError::InvalidReply { call, detail },
            Self::Cancelled => CallError::InvalidReply {
                call,
                detail: "the server cancelled it".to_owned(),
            },
            Self::Closed => CallError::Closed { call },
            Self::Encode(error) => CallError::InvalidRequest {
                call,
                source: error,
            },
            Self::NotAnObject => CallError::InvalidRequest {
                call,
                source: "params must be a JSON object".into(),
            },
        }
    }
}

fn lost(call: CallName, source: Arc<TransportError>, delivery: Delivery) -> CallError {
    let refused = match source.as_ref() {
        TransportError::Unauthorized { .. } | TransportError::Credentials { .. } => true,
        TransportError::Http(failure) => matches!(failure.status, 401 | 403),
        _ => false,
    };
    let idempotent = IDEMPOTENT.contains(&call.method.as_ref());
    match delivery {
        _ if refused => CallError::Unauthorized { call, source },
        Delivery::NotSent => CallError::NotSent { call, source },
        _ if idempotent => CallError::Lost { call, source },
        _ => CallError::OutcomeUnknown { call, source },
    }
}
