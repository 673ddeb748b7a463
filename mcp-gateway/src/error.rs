//! Failures of upstream servers, as errors for the downstream client.

use mcp_client::CallError;
use mcp_jsonrpc::model::MissingCapabilityData;
use mcp_jsonrpc::{ErrorCode, ErrorObject};
use mcp_manager::{ManagerError, ServerName};
use mcp_server::{Context, Error};

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    Manager(ManagerError),
    /// It was not made, for this reason.
    NotMade(String),
}

impl From<ManagerError> for Failure {
    fn from(error: ManagerError) -> Self {
        Self::Manager(error)
    }
}

impl Failure {
    /// The error for the client.
    pub(crate) fn to_error(&self, server: &ServerName, cx: &Context) -> Error {
        match self {
            Self::Manager(error) => upstream(server, error, cx),
            Self::NotMade(reason) => Error::internal(format!("server '{server}': {reason}")),
        }
    }
}

/// The server's own error unchanged; anything else with the server's name and what is known of the
/// call's delivery.
pub(crate) fn upstream(server: &ServerName, error: &ManagerError, cx: &Context) -> Error {
    if let Some(peer) = error.call().and_then(CallError::peer) {
        return peer_error(peer, cx);
    }
    let delivery = match error.call() {
        None
        | Some(
            CallError::NotSent { .. } | CallError::Closed { .. } | CallError::Unsupported { .. },
        ) => "not sent",
        Some(CallError::OutcomeUnknown { .. } | CallError::Timeout { .. }) => "it may have run",
        Some(_) => "",
    };
    let mut text = format!("server '{server}': {}", chain(error));
    if !delivery.is_empty() {
        text.push_str(&format!(" ({delivery})"));
    }
    Error::internal(text)
}

fn peer_error(peer: &ErrorObject, cx: &Context) -> Error {
    // The eras have different codes for a missing capability and a missing resource.
    let missing = [
        ErrorCode::MISSING_CLIENT_CAPABILITY,
        ErrorCode::INVALID_REQUEST,
    ];
    if missing.contains(&peer.code) && peer.data_as::<MissingCapabilityData>().is_some() {
        let mut peer = peer.clone();
        peer.code = match cx.session_id() {
            None => ErrorCode::MISSING_CLIENT_CAPABILITY,
            Some(_) => ErrorCode::INVALID_REQUEST,
        };
        return Error::from(peer);
    }
    let codes = [ErrorCode::RESOURCE_NOT_FOUND, ErrorCode::INVALID_PARAMS];
    match uri_of(peer).filter(|_| codes.contains(&peer.code)) {
        Some(uri) => Error::resource_not_found(uri),
        None => Error::from(peer.clone()),
    }
}

fn uri_of(peer: &ErrorObject) -> Option<String> {
    let data: serde_json::Value = peer.data_as()?;
    Some(data.get("uri")?.as_str()?.to_owned())
}

/// An error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
