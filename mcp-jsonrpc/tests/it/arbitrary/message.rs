//! Whole messages.

use mcp_jsonrpc::{Message, Notification, Request, Response};

use super::Gen;
use super::task::error;

pub(crate) fn message(g: &mut Gen) -> Message {
    let params = |g: &mut Gen| g.maybe(|g| g.raw_object().into());
    match g.below(4) {
        0 => Message::Request(Request {
            id: g.id(),
            method: g.text(),
            params: params(g),
        }),
        1 => Message::Notification(Notification {
            method: g.text(),
            params: params(g),
        }),
        2 => Message::Response(Response {
            id: Some(g.id()),
            outcome: Ok(g.raw()),
        }),
        _ => Message::Response(Response {
            id: g.maybe(Gen::id),
            outcome: Err(error(g)),
        }),
    }
}
