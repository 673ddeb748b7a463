//! The life of one request: encoded, sent, awaited, ended by exactly one outcome.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_jsonrpc::model::Discover;
use mcp_jsonrpc::{ErrorCode, ErrorObject, MessageRef, Method as _, RequestId};
use mcp_transport::{
    BoxError, Delivery, Outgoing, OutgoingKind, ReplyTimeout, SendError, TransportError,
    TransportKind,
};

use crate::call::response::ResponseBody;
use crate::client::options::{LogHandler, ProgressHandler};
use crate::connection::Connection;
use crate::connection::clock::{Began, Deadlines, TimeoutKind};
use crate::connection::pending::{Begun, Report, Reporting};
use crate::connection::state::Outcome;
use crate::dialect::{Dialect, Extras, Params, StampError};

/// A request to send.
pub(crate) struct Attempt<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a dyn Params,
    pub(crate) extras: Extras<'a>,
    /// For the headers of modern HTTP.
    pub(crate) name: Option<&'a str>,
    /// For the headers of modern HTTP.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) deadlines: Deadlines,
    pub(crate) on_progress: Option<&'a ProgressHandler>,
    pub(crate) on_log: Option<&'a LogHandler>,
    /// For a subscription, whose response ends it: called when the server acknowledges it. After that it has no time
    /// limit.
    pub(crate) on_acknowledged: Option<&'a (dyn Fn() + Send + Sync)>,
    /// Receives the request's id before it is sent.
    pub(crate) noted_id: Option<&'a AtomicI64>,
}

/// The reason why a request failed.
#[derive(Debug)]
pub(crate) enum RequestFailure {
    /// The server's own error.
    Peer(ErrorObject),
    Timeout {
        limit: Duration,
        kind: TimeoutKind,
        trouble: Option<String>,
    },
    /// The connection, or this exchange on it, failed.
    Lost {
        error: std::sync::Arc<TransportError>,
        delivery: Delivery,
    },
    /// The response is invalid.
    Invalid(String),
    /// The server cancelled a subscription.
    Cancelled,
    /// The connection was closed before.
    Closed,
    /// The params cannot be written.
    Encode(BoxError),
    /// The params are not an object.
    NotAnObject,
}

impl Connection {
    /// Sends one request and waits for its outcome. `began` is the start of the call; this may be a later round of it.
    ///
    /// Dropping the future abandons the request: the entry is removed, the transport releases it, and the server is
    /// notified as its era prescribes.
    pub(crate) async fn exchange(
        &self,
        dialect: &Dialect,
        attempt: &Attempt<'_>,
        began: &mut Option<Began>,
    ) -> Result<ResponseBody, RequestFailure> {
        let opened = poll_fn(|cx| Poll::Ready(self.open_request(attempt, *began, cx.waker())));
        let opened = match opened.await? {
            Some(opened) => opened,
            None => Box::pin(self.wait_for_room(attempt, *began)).await?,
        };
        *began = Some(opened.began);
        if let Some(noted) = attempt.noted_id {
            noted.store(opened.id, Ordering::SeqCst);
        }
        let mut guard = Guard {
            connection: self,
            id: opened.id,
            reason: None,
            open: true,
        };
        let sending = self.begin_sending(dialect, attempt, &opened)?;
        if dialect.cancels_by_message(self.shape) {
            guard.reason = Some("the caller gave the request up");
        }
        let mut waiting = Waiting {
            connection: self,
            id: opened.id,
            began: opened.began,
            deadlines: attempt.deadlines,
            attempt,
            sending,
            is_new: true,
        };
        match poll_fn(|cx| waiting.poll(cx)).await {
            Ended::Outcome(outcome) => {
                guard.open = false;
                outcome.into_result()
            }
            Ended::SendFailed(failure) => {
                let failure = refusal(failure, dialect, attempt.method);
                // The server responded, or has never seen the request: there is nothing to cancel.
                if !matches!(&failure, RequestFailure::Lost { delivery, .. } if *delivery != Delivery::NotSent)
                {
                    guard.reason = None;
                }
                Err(failure)
            }
            Ended::TimedOut(kind) => {
                guard.reason = guard.reason.map(|_| "the request timed out");
                let trouble = self.state.lock().pending.trouble(opened.id);
                let limit = match kind {
                    TimeoutKind::Idle => attempt.deadlines.idle,
                    TimeoutKind::Deadline => attempt.deadlines.total,
                };
                Err(RequestFailure::Timeout {
                    limit,
                    kind,
                    trouble,
                })
            }
        }
    }

    /// Sends a request, or starts sending it.
    fn begin_sending(
        &self,
        dialect: &Dialect,
        attempt: &Attempt<'_>,
        opened: &Opened,
    ) -> Result<Option<Sending<'_>>, RequestFailure> {
        let span = tracing::Span::current();
        span.record("jsonrpc.request.id", opened.id);
        span.record("network.transport", self.network());
        let revision = dialect.revision().map(tracing::field::display);
        span.record("mcp.protocol.version", revision);
        let mut outgoing = self.outgoing(dialect, attempt, opened.id)?;
        outgoing.alone = opened.alone;
        tracing::trace!(
            server = %self.settings.name, rpc.method = attempt.method, rpc.id = opened.id,
            bytes = outgoing.body.len(), "request",
        );
        if self.transport.try_send(&mut outgoing) {
            return Ok(None);
        }
        Ok(Some(self.transport.send_request(outgoing)))
    }

    /// The value of `network.transport` in traces.
    fn network(&self) -> &'static str {
        match self.shape {
            TransportKind::Pipe => "pipe",
            _ => "tcp",
        }
    }

    /// Opens a request; `None` if too many are already open.
    fn open_request(
        &self,
        attempt: &Attempt<'_>,
        began: Option<Began>,
        waker: &Waker,
    ) -> Result<Option<Opened>, RequestFailure> {
        let now = self.now();
        let mut state = self.state.lock();
        let reading = state.clock.reading(now);
        let began = began.unwrap_or(Began { reading, at: now });
        let left = attempt.deadlines.left(began.reading, reading, reading);
        let left = left.unwrap_or_default();
        let due = reading.saturating_add(left);
        let wants = match (attempt.on_acknowledged, attempt.on_progress) {
            (Some(_), _) => Reporting::Changes,
            (None, Some(_)) => Reporting::Progress,
            (None, None) => Reporting::Answer,
        };
        let id = match state.pending.begin(wants, reading, due, waker) {
            Begun::Open(id) => id,
            Begun::Full => return Ok(None),
            Begun::Closed => return Err(RequestFailure::Closed),
        };
        if let Some(caller) = attempt.extras.caller {
            state.pending.set_caller(id, caller);
        }
        if attempt.on_log.is_some() {
            state.pending.set_wants_logs(id);
        }
        state.last_call = now;
        let alone = state.pending.is_quiet();
        let is_sooner = state.schedule_sweep(now, left);
        drop(state);
        if is_sooner {
            self.control.notify_one();
        }
        Ok(Some(Opened { id, alone, began }))
    }

    /// Waits until there is room among the calls in flight.
    async fn wait_for_room(
        &self,
        attempt: &Attempt<'_>,
        began: Option<Began>,
    ) -> Result<Opened, RequestFailure> {
        let limit = attempt.deadlines.idle.min(attempt.deadlines.total);
        let turn = async {
            let _waiting = self.waiting();
            loop {
                let mut room = pin!(self.room.notified());
                room.as_mut().enable();
                let open = |cx: &mut Context<'_>| self.open_request(attempt, began, cx.waker());
                if let Some(opened) = poll_fn(|cx| Poll::Ready(open(cx))).await? {
                    return Ok(opened);
                }
                room.await;
            }
        };
        tokio::time::timeout(limit, turn).await.unwrap_or_else(|_| {
            Err(RequestFailure::Lost {
                error: TransportError::Timeout {
                    phase: "waiting for earlier calls",
                    limit,
                }
                .into(),
                delivery: Delivery::NotSent,
            })
        })
    }

    fn outgoing(
        &self,
        dialect: &Dialect,
        attempt: &Attempt<'_>,
        id: i64,
    ) -> Result<Outgoing, RequestFailure> {
        let body = dialect.encode(id, attempt.method, attempt.params, &attempt.extras);
        let body = body.map_err(|error| match error {
            StampError::Encode(error) => RequestFailure::Encode(error.into()),
            StampError::Json(error) => RequestFailure::Encode(error.into()),
            StampError::InvalidArguments => {
                RequestFailure::Encode("a tool's arguments must be a JSON object".into())
            }
            StampError::NotAnObject => RequestFailure::NotAnObject,
        })?;
        let mut outgoing = Outgoing::request(RequestId::from(id), attempt.method, body);
        outgoing.revision = dialect.revision();
        if attempt.on_acknowledged.is_some()
            && let OutgoingKind::Request { reply_timeout, .. } = &mut outgoing.kind
        {
            *reply_timeout = ReplyTimeout::Stream;
        }
        if dialect.mirrors_params(self.shape) {
            outgoing.name = attempt.name.map(str::to_owned);
            outgoing.params.clone_from(&attempt.headers);
        }
        Ok(outgoing)
    }

    /// Extends a request that is due by its remaining time, if any. Server-to-client requests pause the clock, but not
    /// for longer than all the rounds of one call may take.
    fn extend(&self, id: i64, began: Began, deadlines: Deadlines) -> Result<(), TimeoutKind> {
        let now = self.now();
        let limits = &self.settings.limits;
        let questions = limits.input_timeout().saturating_mul(limits.rounds());
        if now.saturating_sub(began.at) >= deadlines.total.saturating_add(questions) {
            return Err(TimeoutKind::Deadline);
        }
        let mut state = self.state.lock();
        let reading = state.clock.reading(now);
        let moved = state.pending.moved(id).unwrap_or(reading);
        let left = deadlines.left(began.reading, moved, reading)?;
        state.pending.extend(id, reading.saturating_add(left));
        if state.schedule_sweep(now, left) {
            self.control.notify_one();
        }
        Ok(())
    }
}

/// A request in the table.
struct Opened {
    id: i64,
    /// Whether it is the only one.
    alone: bool,
    /// The start of its call.
    began: Began,
}

impl Outcome {
    fn into_result(self) -> Result<ResponseBody, RequestFailure> {
        match self {
            Self::Result(body) => Ok(body),
            Self::Error(error) => Err(RequestFailure::Peer(error)),
            Self::Invalid(detail) => Err(RequestFailure::Invalid(detail)),
            Self::Cancelled => Err(RequestFailure::Cancelled),
            Self::Lost { error, delivery } => Err(RequestFailure::Lost { error, delivery }),
        }
    }
}

/// The end of the wait for a request.
enum Ended {
    Outcome(Outcome),
    SendFailed(SendError),
    TimedOut(TimeoutKind),
}

/// A request that is being sent.
type Sending<'a> = Pin<Box<dyn Future<Output = Result<Option<Vec<u8>>, SendError>> + Send + 'a>>;

/// A request in flight, from its caller's point of view.
struct Waiting<'a> {
    connection: &'a Connection,
    id: i64,
    began: Began,
    /// The limits of the attempt, until a subscription is acknowledged.
    deadlines: Deadlines,
    attempt: &'a Attempt<'a>,
    sending: Option<Sending<'a>>,
    /// It was opened in this poll: nothing can have happened yet.
    is_new: bool,
}

impl Waiting<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ended> {
        let mut failure = None;
        if let Some(sending) = &mut self.sending
            && let Poll::Ready(sent) = sending.as_mut().poll(cx)
        {
            self.sending = None;
            match sent {
                Ok(Some(answer)) => self.settle(answer),
                Ok(None) => {}
                Err(error) => failure = Some(error),
            }
        }
        if std::mem::take(&mut self.is_new) && failure.is_none() {
            return Poll::Pending;
        }
        if let Some(on_acknowledged) = self.attempt.on_acknowledged
            && self
                .connection
                .state
                .lock()
                .pending
                .take_acknowledged(self.id)
        {
            self.deadlines = Deadlines::UNLIMITED;
            on_acknowledged();
        }
        if self.attempt.on_progress.is_some() || self.attempt.on_log.is_some() {
            while let Some(report) = self.next_report() {
                match (report, self.attempt.on_progress, self.attempt.on_log) {
                    (Report::Progress(report), Some(on_progress), _) => on_progress(report),
                    (Report::Log(message), _, Some(on_log)) => on_log(*message),
                    _ => {}
                }
            }
        }
        // A response counts even if sending failed in the end: a server may respond early.
        let (outcome, is_due) = {
            let pending = &mut self.connection.state.lock().pending;
            (pending.poll(self.id, cx.waker()), pending.take_due(self.id))
        };
        if let Poll::Ready(outcome) = outcome {
            self.connection.slot_freed();
            // An open request stays in the table until its outcome is taken, here.
            let outcome = outcome.unwrap_or_else(|| Outcome::Lost {
                error: TransportError::Closed.into(),
                delivery: Delivery::Unknown,
            });
            return Poll::Ready(Ended::Outcome(outcome));
        }
        if let Some(failure) = failure {
            return Poll::Ready(Ended::SendFailed(failure));
        }
        if is_due && let Err(kind) = self.connection.extend(self.id, self.began, self.deadlines) {
            return Poll::Ready(Ended::TimedOut(kind));
        }
        Poll::Pending
    }

    /// Settles the request with the response returned by the transport.
    fn settle(&mut self, answer: Vec<u8>) {
        let outcome = match ResponseBody::peek(answer) {
            Ok((id, body)) if id == self.id => Outcome::Result(body),
            _ => Outcome::Invalid("a reply that does not contain the response".to_owned()),
        };
        self.is_new = false;
        // Runs on the caller's task: the waker is not needed.
        drop(
            self.connection
                .state
                .lock()
                .pending
                .settle(self.id, outcome),
        );
    }

    fn next_report(&self) -> Option<Report> {
        self.connection.state.lock().pending.next_report(self.id)
    }
}

/// Abandons a request when its caller is dropped.
struct Guard<'a> {
    connection: &'a Connection,
    id: i64,
    /// The reason for the server; `None` if it is not notified.
    reason: Option<&'static str>,
    open: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let tell = self
            .connection
            .state
            .lock()
            .pending
            .abandon(self.id, self.reason);
        self.connection.transport.release(&RequestId::from(self.id));
        if tell {
            // It keeps its slot until the server has been notified.
            self.connection.control.notify_one();
        } else {
            self.connection.slot_freed();
        }
    }
}

/// Turns a rejected exchange into a failure: a JSON-RPC error in the body of an HTTP error is the response.
fn refusal(failure: SendError, dialect: &Dialect, method: &str) -> RequestFailure {
    if let TransportError::Http(http) = &failure.error {
        let limits = mcp_jsonrpc::DecodeLimits::default();
        if let Ok(mcp_jsonrpc::Incoming::Single(MessageRef::Response {
            outcome: Err(error),
            ..
        })) = mcp_jsonrpc::decode(&http.body, &limits)
        {
            // A server or gateway in trouble says nothing about eras, unless it has read the method.
            let is_no_verdict =
                method == Discover::NAME && error.code != ErrorCode::METHOD_NOT_FOUND;
            return match http.status {
                // Authorization takes precedence over the body.
                401 | 403 => RequestFailure::Lost {
                    error: failure.error.into(),
                    delivery: failure.delivery,
                },
                500.. if is_no_verdict => RequestFailure::Lost {
                    error: failure.error.into(),
                    delivery: failure.delivery,
                },
                400 if dialect.has_session() && is_unknown_session(&error) => {
                    RequestFailure::Lost {
                        error: TransportError::SessionExpired.into(),
                        delivery: Delivery::NotSent,
                    }
                }
                _ => RequestFailure::Peer(error),
            };
        }
    }
    match failure.error {
        TransportError::Malformed { detail } => RequestFailure::Invalid(detail),
        error @ TransportError::TooLarge { .. } => RequestFailure::Invalid(error.to_string()),
        error => RequestFailure::Lost {
            error: error.into(),
            delivery: failure.delivery,
        },
    }
}

/// Whether the error means that the server has lost the session. It should use 404 for that, but servers modelled on
/// the TypeScript SDK's example do not.
fn is_unknown_session(error: &ErrorObject) -> bool {
    error.code.get() == -32000 && error.message.to_ascii_lowercase().contains("session")
}
