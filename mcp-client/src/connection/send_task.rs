//! The task that sends messages without a caller: responses to the server and cancellations. It also sweeps the
//! deadlines of all calls.
//!
//! It has a separate queue, so that these messages never wait behind requests, and so that dropping a call never
//! blocks.

use std::sync::Arc;

use mcp_jsonrpc::model::{Cancelled, CancelledParams};
use mcp_jsonrpc::{NotificationMethod, RequestId, encode_notification};
use mcp_transport::Outgoing;
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::connection::pending::Abandoned;

/// The maximum number of messages in flight; over HTTP each is a separate request.
const MAX_IN_FLIGHT: usize = 16;

/// Runs until the connection has ended, or is being closed and everything has been sent.
pub(super) async fn run(connection: Arc<Connection>) {
    let mut under_way = JoinSet::new();
    loop {
        let closing = connection.is_closing();
        while under_way.len() < MAX_IN_FLIGHT
            && let Some(message) = next(&connection)
        {
            let connection = Arc::clone(&connection);
            under_way.spawn(async move {
                if let Err(error) = connection.transport.send(message).await {
                    tracing::debug!(server = %connection.settings.name, %error, "a cancellation could not be sent");
                }
            });
        }
        if connection.is_over() {
            return;
        }
        if closing && under_way.is_empty() {
            return connection.set_silent();
        }
        connection.sweep();
        tokio::select! {
            () = connection.control.notified() => {}
            Some(_) = under_way.join_next() => {}
            () = connection.sweep_due() => {}
        }
    }
}

fn next(connection: &Connection) -> Option<Outgoing> {
    let (answer, abandoned) = {
        let mut state = connection.state.lock();
        match state.answers.pop_front() {
            Some(answer) => (Some(answer), None),
            None => (None, state.pending.next_abandoned()),
        }
    };
    match (answer, abandoned) {
        (Some(answer), _) => Some(answer),
        (None, Some(abandoned)) => {
            connection.slot_freed();
            cancellation(connection, abandoned)
        }
        (None, None) => None,
    }
}

fn cancellation(connection: &Connection, Abandoned { id, reason }: Abandoned) -> Option<Outgoing> {
    let mut params = CancelledParams::of(RequestId::from(id));
    params.reason = Some(reason.to_owned());
    let mut body = Vec::new();
    encode_notification(&mut body, Cancelled::NAME, &params).ok()?;
    let mut message = Outgoing::notification(Cancelled::NAME, body);
    message.revision = connection.session().dialect.revision();
    Some(message)
}
