//! The task that reads a connection. It parses envelopes only and never waits for a caller.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_jsonrpc::model::{
    Cancelled, CancelledParams, EmptyParams, LogMessage, LogMessageParams, Progress,
    ProgressParams, SubscriptionsAcknowledged, SubscriptionsAcknowledgedParams,
};
use mcp_jsonrpc::{
    DecodeError, ErrorCode, ErrorObject, Fault, MessageRef, NotificationMethod, RawRef, RequestId,
    Side, decode, parse_params,
};
use mcp_transport::{Delivery, Incoming, TransportError};

use crate::call::response::{ResponseBody, limits, own_id};
use crate::connection::Connection;
use crate::connection::state::Outcome;
use crate::connection::truncated;
use crate::features::event::ClientEvent;
use crate::host::server_request;

/// After a message of this size the reader yields to the message's caller, so that few are held at the same time.
const LARGE: usize = 64 * 1024;

/// Reads until the connection has ended.
pub(super) async fn run(connection: Arc<Connection>) {
    loop {
        match connection.transport.recv().await {
            Incoming::Message { body, stream } => {
                let is_large = body.len() >= LARGE;
                match ResponseBody::peek(body) {
                    Ok((id, body)) => {
                        settle(
                            &connection,
                            &id.into(),
                            Outcome::Result(body),
                            stream.as_ref(),
                        );
                    }
                    Err(body) => message(&connection, body, stream.as_ref()),
                }
                if is_large && !connection.state.lock().pending.is_quiet() {
                    tokio::task::yield_now().await;
                }
            }
            Incoming::Ended { request, error } => ended(&connection, &request, error),
            Incoming::TooLarge { head, limit } => {
                if let Err(error) = too_large(&connection, &head, limit) {
                    tokio::spawn(close(Arc::clone(&connection)));
                    return connection.end(Some(Arc::new(error)), &[]);
                }
            }
            Incoming::Gap => event(&connection, ClientEvent::Gap),
            Incoming::Closed(closed) => return connection.end(closed.error, &closed.unsent),
            other => tracing::debug!(server = %connection.settings.name, ?other, "ignored"),
        }
    }
}

async fn close(connection: Arc<Connection>) {
    connection.transport.close().await;
}

fn message(connection: &Arc<Connection>, body: Vec<u8>, stream: Option<&RequestId>) {
    let answer = match decode(&body, &limits()) {
        Ok(mcp_jsonrpc::Incoming::Single(MessageRef::Response {
            id: Some(id),
            outcome: Ok(result),
        })) => Some((id, span(&body, result))),
        Ok(mcp_jsonrpc::Incoming::Single(message)) => {
            single(connection, message, stream);
            None
        }
        Ok(mcp_jsonrpc::Incoming::Batch(messages)) => {
            for message in messages {
                match message {
                    Ok(message) => single(connection, message, stream),
                    Err(error) => malformed(connection, &error, stream),
                }
            }
            None
        }
        Err(error) => {
            malformed(connection, &error, stream);
            None
        }
    };
    // Done last, because it moves the bytes.
    if let Some((id, (start, end))) = answer {
        // A foreign id belongs to no request.
        let body = ResponseBody::new(body, start, end, own_id(&id).unwrap_or(0));
        settle(connection, &id, Outcome::Result(body), stream);
    }
}

/// The range of `part` in `body`.
fn span(body: &[u8], part: RawRef<'_>) -> (usize, usize) {
    let start = (part.get().as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
    (start, start + part.get().len())
}

fn single(connection: &Arc<Connection>, message: MessageRef<'_>, stream: Option<&RequestId>) {
    match message {
        MessageRef::Response {
            id: Some(id),
            outcome,
        } => {
            let outcome = match outcome {
                Ok(result) => Outcome::Result(ResponseBody::result_of_batch(result)),
                Err(error) => Outcome::Error(error),
            };
            settle(connection, &id, outcome, stream);
        }
        MessageRef::Response {
            id: None,
            outcome: Err(error),
        } => anonymous(connection, error, stream),
        // The decoder rejects results without an id.
        MessageRef::Response {
            id: None,
            outcome: Ok(_),
        } => {}
        MessageRef::Notification { method, params } => {
            notification(connection, &method, params, stream);
        }
        MessageRef::Request { id, method, params } => {
            server_request::asked(connection, id, &method, params, stream);
        }
    }
}

fn settle(connection: &Connection, id: &RequestId, outcome: Outcome, stream: Option<&RequestId>) {
    let settled = own_id(id).is_some_and(|id| connection.settle(id, outcome).is_ok());
    if !settled {
        tracing::debug!(server = %connection.settings.name, rpc.id = %id, "an answer no one waits for");
        trouble(connection, stream, || {
            format!("an answer to a request with the id {id}")
        });
    }
}

/// Handles an error without an id: it belongs to the exchange it arrived in, otherwise to no request.
fn anonymous(connection: &Connection, error: ErrorObject, stream: Option<&RequestId>) {
    match stream.and_then(own_id) {
        Some(id) => drop(connection.settle(id, Outcome::Error(error))),
        None => {
            tracing::warn!(server = %connection.settings.name, %error, "an error without an id");
            let mut state = connection.state.lock();
            if let Some(only) = state.pending.only() {
                state
                    .pending
                    .note_trouble(only, || format!("an error without an id: {error}"));
            }
        }
    }
}

/// Stores what arrived in an exchange that may now end without a response.
fn trouble(connection: &Connection, stream: Option<&RequestId>, what: impl FnOnce() -> String) {
    if let Some(id) = stream.and_then(own_id) {
        connection.state.lock().pending.note_trouble(id, what);
    }
}

fn malformed(connection: &Arc<Connection>, error: &DecodeError, stream: Option<&RequestId>) {
    tracing::debug!(server = %connection.settings.name, %error, "malformed message");
    // Other programs' JSON on the same pipe has no `jsonrpc` member, and its ids are not ours.
    let foreign = matches!(
        error,
        DecodeError::Invalid {
            fault: Fault::Version,
            ..
        }
    ) && error.side() == Side::Unclear;
    match error.id() {
        Some(id) if error.side() == Side::Asks => {
            let code = match error {
                DecodeError::Invalid {
                    fault: Fault::Params,
                    ..
                } => ErrorCode::INVALID_PARAMS,
                _ => ErrorCode::INVALID_REQUEST,
            };
            server_request::refuse(connection, id, &ErrorObject::new(code, error.to_string()));
        }
        Some(id) if !foreign => {
            settle(connection, id, Outcome::Invalid(chain(error)), stream);
        }
        _ => trouble(connection, stream, || chain(error)),
    }
}

/// An error with its causes, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

fn notification(
    connection: &Arc<Connection>,
    method: &str,
    params: Option<RawRef<'_>>,
    stream: Option<&RequestId>,
) {
    match method {
        Progress::NAME => {
            let Ok(report) = parse_params::<ProgressParams>(params) else {
                return;
            };
            let token = &report.progress_token;
            let Some(id) = token.as_i64().or_else(|| token.as_str()?.parse().ok()) else {
                return;
            };
            let now = connection.now();
            let waker = {
                let mut state = connection.state.lock();
                let reading = state.clock.reading(now);
                state.pending.progress(id, reading, report)
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        LogMessage::NAME => {
            let Ok(message) = parse_params::<LogMessageParams>(params) else {
                return;
            };
            let stream = stream.and_then(own_id);
            let logged = connection
                .state
                .lock()
                .pending
                .log(stream, Box::new(message));
            match logged {
                Ok(waker) => waker.into_iter().for_each(std::task::Waker::wake),
                Err(message) => event(connection, ClientEvent::Log(message)),
            }
        }
        SubscriptionsAcknowledged::NAME => {
            let params = parse_params::<SubscriptionsAcknowledgedParams>(params).ok();
            let reported = params.and_then(|params| params.meta?.subscription_id());
            if let Some(id) = reported.as_ref().or(stream).and_then(own_id) {
                let waker = connection.state.lock().pending.acknowledge(id);
                waker.into_iter().for_each(std::task::Waker::wake);
            }
        }
        Cancelled::NAME => {
            if let Ok(CancelledParams {
                request_id: Some(id),
                ..
            }) = parse_params(params)
            {
                if !connection.session().dialect.is_modern() {
                    server_request::withdrawn(connection, &id);
                } else if own_id(&id).is_none_or(|id| connection.cancelled(id).is_err()) {
                    // A modern server may only cancel a subscription.
                    tracing::debug!(server = %connection.settings.name, rpc.id = %id, "a cancellation of no subscription");
                }
            }
        }
        _ => match ClientEvent::read(method, params) {
            Some(happened) if happened.is_change() && connection.session().dialect.is_modern() => {
                change(connection, happened, params, stream);
            }
            Some(happened) => event(connection, happened),
            None => {
                tracing::debug!(server = %connection.settings.name, method, "malformed notification")
            }
        },
    }
}

/// Handles a change that a modern server announces on a subscription. A change for an unknown subscription is ignored.
/// One without a subscription id violates the protocol and may be meant for any of them.
fn change(
    connection: &Connection,
    change: ClientEvent,
    params: Option<RawRef<'_>>,
    stream: Option<&RequestId>,
) {
    let params = parse_params::<EmptyParams>(params).ok();
    let reported = params.and_then(|params| params.meta?.subscription_id());
    let subscription = |id: &RequestId| {
        own_id(id).filter(|id| connection.state.lock().pending.is_subscription(*id))
    };
    match (reported, stream) {
        (Some(id), _) => match subscription(&id) {
            Some(id) => event_on(connection, change, Some(id)),
            None => {
                tracing::debug!(server = %connection.settings.name, %id, "a change on no subscription of ours");
            }
        },
        (None, stream) => event_on(connection, change, stream.and_then(subscription)),
    }
}

fn event(connection: &Connection, event: ClientEvent) {
    event_on(connection, event, None);
}

/// Delivers an event, on this subscription if it names one.
fn event_on(connection: &Connection, event: ClientEvent, subscription: Option<i64>) {
    if matches!(event, ClientEvent::ToolsChanged | ClientEvent::Gap) {
        connection.tool_changes.fetch_add(1, Ordering::Release);
    }
    connection.tell_subscribers(&event, subscription);
    if connection.settings.on_event.is_some() {
        connection.events.lock().push(event);
        connection.event_ready.notify_one();
    }
}

/// Handles the end of an exchange: a request still without a response will get none.
fn ended(connection: &Connection, request: &RequestId, error: Arc<TransportError>) {
    let Some(id) = own_id(request) else { return };
    let trouble = connection.state.lock().pending.trouble(id);
    let outcome = match trouble {
        Some(trouble) => Outcome::Invalid(trouble),
        None => Outcome::Lost {
            error,
            delivery: Delivery::Sent,
        },
    };
    drop(connection.settle(id, outcome));
}

/// Handles a discarded message. If its beginning identifies the call it answered, that call fails; otherwise the
/// connection fails, because a call may be waiting for it.
fn too_large(
    connection: &Arc<Connection>,
    head: &[u8],
    limit: usize,
) -> Result<(), TransportError> {
    let reported = format!("a response larger than the limit of {limit} bytes");
    let head = truncated::peek(head);
    let id = match (head.id, head.side) {
        (Some(id), Side::Asks) => {
            let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, "the request is too large");
            server_request::refuse(connection, &id, &error);
            return Ok(());
        }
        (None, Side::Asks) => return Ok(()),
        (Some(id), _) => own_id(&id),
        (None, _) => connection.state.lock().pending.only(),
    };
    match id {
        Some(id) => {
            drop(connection.settle(id, Outcome::Invalid(reported)));
            Ok(())
        }
        None => Err(TransportError::TooLarge {
            what: "a message",
            limit,
        }),
    }
}
