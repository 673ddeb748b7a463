//! The task that sends what nobody waits for: answers to the server, and word of calls given up.
//! It also wakes those who wait for too long.
//!
//! It has its own queue, so that neither waits behind requests, and so that dropping a call never
//! blocks. Nothing blocks it either.

use std::sync::Arc;

use mcp_jsonrpc::model::{Cancelled, CancelledParams};
use mcp_jsonrpc::{NotificationMethod, RequestId, encode_notification};
use mcp_transport::Outgoing;
use tokio::task::JoinSet;

use crate::link::Link;
use crate::pending::Abandoned;

/// Messages under way at once; over HTTP each is a request of its own.
const PARALLEL: usize = 16;

/// Delivers until the connection is over, or is being closed and everything is said.
pub(crate) async fn deliver(link: Arc<Link>) {
    let mut under_way = JoinSet::new();
    loop {
        let closing = link.is_closing();
        while under_way.len() < PARALLEL
            && let Some(message) = next(&link)
        {
            let link = Arc::clone(&link);
            under_way.spawn(async move {
                if let Err(error) = link.transport.send(message).await {
                    tracing::debug!(server = %link.settings.name, %error, "could not be told");
                }
            });
        }
        if link.is_over() {
            return;
        }
        if closing && under_way.is_empty() {
            return link.set_silent();
        }
        link.ring();
        tokio::select! {
            () = link.control.notified() => {}
            Some(_) = under_way.join_next() => {}
            () = link.alarm() => {}
        }
    }
}

fn next(link: &Link) -> Option<Outgoing> {
    let (answer, abandoned) = {
        let mut state = link.state.lock();
        match state.answers.pop_front() {
            Some(answer) => (Some(answer), None),
            None => (None, state.pending.next_abandoned()),
        }
    };
    match (answer, abandoned) {
        (Some(answer), _) => Some(answer),
        (None, Some(abandoned)) => {
            link.made_room();
            cancellation(link, abandoned)
        }
        (None, None) => None,
    }
}

fn cancellation(link: &Link, Abandoned { id, reason }: Abandoned) -> Option<Outgoing> {
    let mut params = CancelledParams::of(RequestId::from(id));
    params.reason = Some(reason.to_owned());
    let mut body = Vec::new();
    encode_notification(&mut body, Cancelled::NAME, &params).ok()?;
    let mut message = Outgoing::notification(Cancelled::NAME, body);
    message.revision = link.session().dialect.revision();
    Some(message)
}
