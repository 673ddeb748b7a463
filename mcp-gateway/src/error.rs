//! Failures of upstream servers, as errors for the downstream client.

use mcp_client::CallError;
use mcp_jsonrpc::{ErrorCode, ErrorObject};
use mcp_manager::{ManagerError, ServerName};
use mcp_server::Error;

/// The server's own error unchanged; anything else with the server's name and what is known of the
/// call's delivery.
pub(crate) fn upstream(server: &ServerName, error: &ManagerError) -> Error {
    match error.call().and_then(CallError::peer) {
        Some(peer) => peer_error(peer),
        None => Error::internal(format!("server '{server}': {}", chain(error))),
    }
}

fn peer_error(peer: &ErrorObject) -> Error {
    // The eras have different codes for a missing resource; either names its URI.
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
fn chain(error: &dyn std::error::Error) -> String {
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
