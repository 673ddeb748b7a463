//! The one task that reads a connection. It reads envelopes only, and never waits for anybody.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_jsonrpc::model::{
    Cancelled, CancelledParams, EmptyParams, Progress, ProgressParams, SubscriptionsAcknowledged,
    SubscriptionsAcknowledgedParams,
};
use mcp_jsonrpc::{
    DecodeError, ErrorCode, ErrorObject, Fault, MessageRef, NotificationMethod, RawRef, RequestId,
    Side, decode, parse_params,
};
use mcp_transport::{Delivery, Incoming, TransportError, stand_back};

use crate::answer::{Body, limits, ours};
use crate::event::Event;
use crate::link::Link;
use crate::state::Outcome;
use crate::{head, question};

/// After a message of this size its reader has a go first, if others wait for theirs: so not many
/// are held at once.
const LARGE: usize = 64 * 1024;

/// Reads until the connection is over.
pub(crate) async fn read(link: Arc<Link>) {
    loop {
        match link.transport.recv().await {
            Incoming::Message { body, stream } => {
                let is_large = body.len() >= LARGE;
                match Body::guess(body) {
                    Ok((id, body)) => {
                        settle(&link, &id.into(), Outcome::Result(body), stream.as_ref());
                    }
                    Err(body) => message(&link, body, stream.as_ref()),
                }
                if is_large && !link.state.lock().pending.is_quiet() {
                    stand_back().await;
                }
            }
            Incoming::Ended { request, error } => ended(&link, &request, error),
            Incoming::TooLarge { head, limit } => {
                if let Err(error) = too_large(&link, &head, limit) {
                    tokio::spawn(close(Arc::clone(&link)));
                    return link.end(Some(Arc::new(error)), &[]);
                }
            }
            Incoming::Gap => event(&link, Event::Gap),
            Incoming::Closed(closed) => return link.end(closed.error, &closed.unsent),
            other => tracing::debug!(server = %link.settings.name, ?other, "ignored"),
        }
    }
}

async fn close(link: Arc<Link>) {
    link.transport.close().await;
}

fn message(link: &Arc<Link>, body: Vec<u8>, stream: Option<&RequestId>) {
    let answer = match decode(&body, &limits()) {
        Ok(mcp_jsonrpc::Incoming::Single(MessageRef::Response {
            id: Some(id),
            outcome: Ok(result),
        })) => Some((id, span(&body, result))),
        Ok(mcp_jsonrpc::Incoming::Single(message)) => {
            single(link, message, stream);
            None
        }
        Ok(mcp_jsonrpc::Incoming::Batch(messages)) => {
            for message in messages {
                match message {
                    Ok(message) => single(link, message, stream),
                    Err(error) => malformed(link, &error, stream),
                }
            }
            None
        }
        Err(error) => {
            malformed(link, &error, stream);
            None
        }
    };
    // Last, because it takes the bytes along: they are not copied.
    if let Some((id, (start, end))) = answer {
        // An id that is none of ours is nobody's answer.
        let body = Body::new(body, start, end, ours(&id).unwrap_or(0));
        settle(link, &id, Outcome::Result(body), stream);
    }
}

/// Where in `body` the text of `part` stands.
fn span(body: &[u8], part: RawRef<'_>) -> (usize, usize) {
    let start = (part.get().as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
    (start, start + part.get().len())
}

fn single(link: &Arc<Link>, message: MessageRef<'_>, stream: Option<&RequestId>) {
    match message {
        MessageRef::Response {
            id: Some(id),
            outcome,
        } => {
            let outcome = match outcome {
                Ok(result) => Outcome::Result(Body::result_of_batch(result)),
                Err(error) => Outcome::Error(error),
            };
            settle(link, &id, outcome, stream);
        }
        MessageRef::Response {
            id: None,
            outcome: Err(error),
        } => anonymous(link, error, stream),
        // The decoder lets no result without an id through.
        MessageRef::Response {
            id: None,
            outcome: Ok(_),
        } => {}
        MessageRef::Notification { method, params } => {
            notification(link, &method, params, stream);
        }
        MessageRef::Request { id, method, params } => {
            question::asked(link, id, &method, params, stream);
        }
    }
}

fn settle(link: &Link, id: &RequestId, outcome: Outcome, stream: Option<&RequestId>) {
    let settled = ours(id).is_some_and(|id| link.settle(id, outcome).is_ok());
    if !settled {
        tracing::debug!(server = %link.settings.name, rpc.id = %id, "an answer nobody waits for");
        trouble(link, stream, || {
            format!("an answer to a request with the id {id}")
        });
    }
}

/// An error without an id: it belongs to the exchange it came in, or to nobody for certain.
fn anonymous(link: &Link, error: ErrorObject, stream: Option<&RequestId>) {
    match stream.and_then(ours) {
        Some(id) => drop(link.settle(id, Outcome::Error(error))),
        None => {
            tracing::warn!(server = %link.settings.name, %error, "an error without an id");
            let mut state = link.state.lock();
            if let Some(only) = state.pending.only() {
                state
                    .pending
                    .note_trouble(only, || format!("an error without an id: {error}"));
            }
        }
    }
}

/// Remembers what came in an exchange that may now end without its answer.
fn trouble(link: &Link, stream: Option<&RequestId>, what: impl FnOnce() -> String) {
    if let Some(id) = stream.and_then(ours) {
        link.state.lock().pending.note_trouble(id, what);
    }
}

fn malformed(link: &Arc<Link>, error: &DecodeError, stream: Option<&RequestId>) {
    tracing::debug!(server = %link.settings.name, %error, "malformed message");
    // Other programs' JSON on the same pipe has no `jsonrpc`, and its ids mean nothing to us.
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
            question::refuse(link, id, &ErrorObject::new(code, error.to_string()));
        }
        Some(id) if !foreign => {
            settle(link, id, Outcome::Invalid(chain(error)), stream);
        }
        _ => trouble(link, stream, || chain(error)),
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
    link: &Arc<Link>,
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
            let now = link.now();
            let waker = {
                let mut state = link.state.lock();
                let reading = state.clock.reading(now);
                state.pending.progress(id, reading, report)
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        SubscriptionsAcknowledged::NAME => {
            let params = parse_params::<SubscriptionsAcknowledgedParams>(params).ok();
            let told = params.and_then(|params| params.meta?.subscription_id());
            if let Some(id) = told.as_ref().or(stream).and_then(ours) {
                let waker = link.state.lock().pending.acknowledge(id);
                waker.into_iter().for_each(std::task::Waker::wake);
            }
        }
        Cancelled::NAME => {
            if let Ok(CancelledParams {
                request_id: Some(id),
                ..
            }) = parse_params(params)
            {
                if !link.session().dialect.is_modern() {
                    question::withdrawn(link, &id);
                } else if ours(&id).is_none_or(|id| link.cancelled(id).is_err()) {
                    // A modern server asks nothing, and may only end a subscription.
                    tracing::debug!(server = %link.settings.name, rpc.id = %id, "a cancellation of no subscription");
                }
            }
        }
        _ => match Event::read(method, params) {
            Some(happened) if happened.is_change() && link.session().dialect.is_modern() => {
                change(link, happened, params, stream);
            }
            Some(happened) => event(link, happened),
            None => tracing::debug!(server = %link.settings.name, method, "malformed notification"),
        },
    }
}

/// A modern server announces a change: it says on which subscription. One that belongs to none of
/// ours is not meant for us. One that names none, against the protocol, may be meant for any.
fn change(link: &Link, change: Event, params: Option<RawRef<'_>>, stream: Option<&RequestId>) {
    let params = parse_params::<EmptyParams>(params).ok();
    let told = params.and_then(|params| params.meta?.subscription_id());
    let subscription =
        |id: &RequestId| ours(id).filter(|id| link.state.lock().pending.is_subscription(*id));
    match (told, stream) {
        (Some(id), _) => match subscription(&id) {
            Some(id) => event_on(link, change, Some(id)),
            None => {
                tracing::debug!(server = %link.settings.name, %id, "a change on no subscription of ours");
            }
        },
        (None, stream) => event_on(link, change, stream.and_then(subscription)),
    }
}

fn event(link: &Link, event: Event) {
    event_on(link, event, None);
}

/// Something happened; on this subscription, if it is said.
fn event_on(link: &Link, event: Event, subscription: Option<i64>) {
    link.settings.cache.changed(&link.settings.name, &event);
    if matches!(event, Event::ToolsChanged | Event::Gap) {
        link.tool_changes.fetch_add(1, Ordering::Release);
    }
    link.tell_subscribers(&event, subscription);
    if link.settings.on_event.is_some() {
        link.mailbox.lock().push(event);
        link.bell.notify_one();
    }
}

/// An exchange is over: if its request has no answer yet, it will have none.
fn ended(link: &Link, request: &RequestId, error: Arc<TransportError>) {
    let Some(id) = ours(request) else { return };
    let trouble = link.state.lock().pending.trouble(id);
    let outcome = match trouble {
        Some(trouble) => Outcome::Invalid(trouble),
        None => Outcome::Lost {
            error,
            delivery: Delivery::Sent,
        },
    };
    drop(link.settle(id, outcome));
}

/// A message was thrown away. Fails the call it answered, if its beginning tells which one that
/// was; else nobody may be left waiting for it.
fn too_large(link: &Arc<Link>, head: &[u8], limit: usize) -> Result<(), TransportError> {
    let told = format!("an answer larger than the limit of {limit} bytes");
    let head = head::peek(head);
    let id = match (head.id, head.side) {
        (Some(id), Side::Asks) => {
            let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, "the request is too large");
            question::refuse(link, &id, &error);
            return Ok(());
        }
        (None, Side::Asks) => return Ok(()),
        (Some(id), _) => ours(&id),
        (None, _) => link.state.lock().pending.only(),
    };
    match id {
        Some(id) => {
            drop(link.settle(id, Outcome::Invalid(told)));
            Ok(())
        }
        None => Err(TransportError::TooLarge {
            what: "a message",
            limit,
        }),
    }
}
