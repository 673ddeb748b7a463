//! One running server and its pipes, shared by the connection's handle and its tasks.

use std::future::{pending, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::AsyncReadExt;
use tokio::sync::{Notify, watch};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::StdioLimits;
use super::busy_poll::BusyPoll;
use super::inbox::Inbox;
use super::outbox::{Outbox, Refusal};
use super::pipe::{MessagePipe, ReadPipe, WritePipe};
use super::stderr::Stderr;
use crate::process::{ProcessStatus, SpawnedProcess, Tracking};
use crate::{Closed, Delivery, Incoming, Outgoing, ProcessExit, SendError, TransportError};

/// The time replies are still read after the server has exited or closed its stdin: a process it has started may hold
/// its stdout open.
const DRAIN: Duration = Duration::from_millis(500);
/// The time to wait for the exit status after the end of stdout or stdin.
const STATUS: Duration = Duration::from_millis(500);
/// The time to wait for the end of stderr after the exit.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Our ends of a server's pipes.
pub(super) struct Pipes {
    pub(super) stdin: WritePipe,
    pub(super) stdout: MessagePipe,
    pub(super) stderr: ReadPipe,
}

pub(super) struct Connection {
    /// The command line, for display.
    pub(super) name: String,
    pub(super) process: Arc<dyn SpawnedProcess>,
    stdout: Mutex<Stdout>,
    stderr: Stderr,
    pub(super) outbox: Outbox,
    pub(super) shutdown_timeout: Duration,
    state: Mutex<State>,
    status: watch::Sender<Option<ProcessStatus>>,
    /// Wakes the receiver: `state` has changed.
    changed: Notify,
    /// Whether a shutdown is complete.
    pub(super) is_closed: watch::Sender<bool>,
    pub(super) tracking: Mutex<Option<Tracking>>,
}

/// The server's stdout and the bytes read from it. One task reads at a time.
struct Stdout {
    pipe: MessagePipe,
    inbox: Inbox,
    busy_poll: BusyPoll,
}

#[derive(Default)]
struct State {
    /// Whether we are closing the connection.
    is_closing: bool,
    /// Whether we stopped reading stdout before its end.
    is_cut: bool,
    /// The error of a failed write.
    stdin_error: Option<io::ErrorKind>,
    /// How the connection ended, once the receiver has seen it.
    closed: Option<Closed>,
}

/// The result of polling stdout.
enum Look {
    Found(Incoming),
    /// Bytes were read, but no complete message yet.
    Again,
    /// The connection has ended, for this reason if it is known.
    End(Option<TransportError>),
}

impl Connection {
    pub(super) fn new(
        name: String,
        process: Arc<dyn SpawnedProcess>,
        stdout: MessagePipe,
        stderr: ReadPipe,
        limits: &StdioLimits,
    ) -> Self {
        Self {
            name,
            process,
            stdout: Mutex::new(Stdout {
                pipe: stdout,
                inbox: Inbox::new(limits),
                busy_poll: BusyPoll::new(limits.busy_poll),
            }),
            stderr: Stderr::new(stderr, limits.stderr_bytes),
            outbox: Outbox::new(limits),
            shutdown_timeout: limits.shutdown_timeout,
            state: Mutex::default(),
            status: watch::Sender::new(None),
            changed: Notify::new(),
            is_closed: watch::Sender::new(false),
            tracking: Mutex::new(None),
        }
    }

    pub(super) fn try_send(&self, message: &mut Outgoing) -> bool {
        if message.alone {
            let busy_poll = &mut self.stdout.lock().busy_poll;
            if busy_poll.is_enabled() {
                let now = Instant::now();
                busy_poll.sent(now);
                if busy_poll.is_on(now) {
                    self.changed.notify_one();
                }
            }
        }
        matches!(self.outbox.try_send(message), Ok(true))
    }

    pub(super) async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        let error = match self.outbox.send(message).await {
            Ok(()) => return Ok(()),
            Err(Refusal::Over) => {
                self.last_words().await;
                self.failure()
            }
            Err(Refusal::Full) => TransportError::Io {
                action: format!(
                    "queueing a message for '{}', which does not read,",
                    self.name
                ),
                source: Box::new(io::Error::from(io::ErrorKind::WouldBlock)),
            },
        };
        Err(SendError::new(error, Delivery::NotSent))
    }

    pub(super) async fn recv(&self) -> Incoming {
        loop {
            let look = tokio::select! {
                biased;
                look = poll_fn(|cx| self.look(cx)) => look,
                () = self.changed.notified() => continue,
                () = self.poll_again() => continue,
            };
            match look {
                Look::Found(incoming) => return incoming,
                // Boxed, so that the future of an ordinary `recv` stays small.
                Look::End(reason) => {
                    return Incoming::Closed(Box::pin(self.conclude(reason)).await);
                }
                // A flood of stray lines must not starve the other tasks.
                Look::Again => tokio::task::consume_budget().await,
            }
        }
    }

    /// Returns after other tasks have run while busy-polling; otherwise never.
    async fn poll_again(&self) {
        if self.stdout.lock().busy_poll.is_on(Instant::now()) {
            yield_now().await
        } else {
            pending().await
        }
    }

    fn look(&self, cx: &mut Context<'_>) -> Poll<Look> {
        if self.is_over() {
            return Poll::Ready(Look::End(None));
        }
        let is_cut = self.state.lock().is_cut;
        let Stdout {
            pipe,
            inbox,
            busy_poll,
        } = &mut *self.stdout.lock();
        match inbox.next() {
            Some(Ok(incoming)) => return Poll::Ready(Look::Found(incoming)),
            Some(Err(error)) => return Poll::Ready(Look::End(Some(error))),
            None if is_cut || inbox.framer.is_finished() => return Poll::Ready(Look::End(None)),
            None => {}
        }
        // A read holds no state between polls, so it can be started anew each time.
        match ready!(pin!(pipe.read_buf(inbox.framer.room())).poll(cx)) {
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => inbox.framer.finish(),
        }
        let next = inbox.next();
        if busy_poll.is_enabled() {
            busy_poll.received(next.is_some(), Instant::now());
        }
        Poll::Ready(match next {
            Some(Ok(incoming)) => Look::Found(incoming),
            Some(Err(error)) => Look::End(Some(error)),
            None => Look::Again,
        })
    }

    /// Reads and discards stdout.
    pub(super) async fn skip_stdout(&self, scratch: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| pin!(self.stdout.lock().pipe.read(scratch)).poll(cx)).await
    }

    /// Determines how the connection ended, once.
    async fn conclude(&self, reason: Option<TransportError>) -> Closed {
        let mut unsent = Vec::new();
        if !self.is_over() {
            if reason.is_none() {
                self.last_words().await;
            }
            unsent = self.outbox.unsent().await;
        }
        let mut state = self.state.lock();
        if let Some(closed) = &state.closed {
            return closed.clone();
        }
        let closed = if state.is_closing {
            Closed::clean()
        } else {
            let error = reason.unwrap_or_else(|| self.loss(&state));
            Closed {
                unsent,
                ..Closed::with_error(error)
            }
        };
        state.closed = Some(closed.clone());
        closed
    }

    /// Waits briefly until the server's exit status and the remainder of its stderr are known. Call this before
    /// reporting the end; otherwise the error may lack the reason.
    async fn last_words(&self) {
        if self.is_over() {
            return;
        }
        let mut status = self.status.subscribe();
        let _ = timeout(STATUS, status.wait_for(Option::is_some)).await;
        self.stderr.drained(LAST_WORDS).await;
    }

    /// The reason why messages can no longer be sent.
    fn failure(&self) -> TransportError {
        let state = self.state.lock();
        let reported = state
            .closed
            .as_ref()
            .and_then(|closed| closed.error.as_deref());
        match reported {
            _ if state.is_closing => TransportError::Closed,
            None | Some(TransportError::Exited(_)) => self.loss(&state),
            Some(error) => TransportError::Io {
                action: format!("sending to '{}'", self.name),
                source: error.to_string().into(),
            },
        }
    }

    /// How the server was lost.
    fn loss(&self, state: &State) -> TransportError {
        match state.stdin_error {
            Some(kind) if self.status.borrow().is_none() => TransportError::Io {
                action: format!("writing to the stdin of '{}'", self.name),
                source: Box::new(io::Error::from(kind)),
            },
            _ => TransportError::Exited(self.describe(self.status.borrow().unwrap_or_default())),
        }
    }

    /// How the process exited, if it has.
    pub(super) fn exit(&self) -> Option<ProcessExit> {
        let status = *self.status.borrow();
        status.map(|status| self.describe(status))
    }

    pub(super) fn stderr_tail(&self) -> String {
        self.stderr.tail()
    }

    pub(super) fn is_alive(&self) -> bool {
        !self.is_over() && self.status.borrow().is_none()
    }

    /// Whether we are closing the connection, or have reported how it ended.
    fn is_over(&self) -> bool {
        let state = self.state.lock();
        state.is_closing || state.closed.is_some()
    }

    fn describe(&self, status: ProcessStatus) -> ProcessExit {
        ProcessExit {
            program: self.name.clone(),
            code: status.code,
            signal: status.signal,
            stderr: self.stderr.tail(),
            stray: self.stdout.lock().inbox.sample.clone(),
        }
    }

    /// Starts the shutdown: the receiver only gets `Closed` from now on. `false` if it has already started.
    pub(super) fn begin_closing(&self) -> bool {
        let was_closing = std::mem::replace(&mut self.state.lock().is_closing, true);
        self.changed.notify_one();
        !was_closing
    }

    /// Task: writes to the server until the outbox is closed.
    pub(super) async fn write(self: Arc<Self>, stdin: WritePipe) {
        if let Err(error) = self.outbox.write_to(stdin).await {
            self.outbox.end();
            self.state.lock().stdin_error = Some(error.kind());
            self.cut_later().await;
        }
    }

    /// Task: watches for the server's exit.
    pub(super) async fn watch(self: Arc<Self>) {
        self.note_exit(self.process.exited().await);
        self.cut_later().await;
    }

    pub(super) fn note_exit(&self, status: ProcessStatus) {
        self.status.send_replace(Some(status));
        self.outbox.end();
    }

    /// Task: drains stderr.
    pub(super) async fn drain_stderr(self: Arc<Self>) {
        self.stderr.drain().await;
    }

    async fn cut_later(&self) {
        sleep(DRAIN).await;
        self.state.lock().is_cut = true;
        self.changed.notify_one();
    }
}
