//! The queue for the server's stdin: many senders, one writer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::RequestId;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::StdioLimits;
use super::pipe::WritePipe;
use super::queue::{Offer, Queue, make_line};
use super::requeue::requeue;
use crate::Outgoing;
use crate::process::stranded_bytes;

/// The time a writer may take to stop; it no longer waits for the server then.
const FINISH: Duration = Duration::from_secs(1);

pub(super) struct Outbox {
    state: Box<Mutex<State>>,
    /// Wakes the writer: there is something to write, or the phase has changed.
    filled: Notify,
    /// Wakes requests that wait for room.
    room: Notify,
    /// Whether the writer has finished.
    is_written: watch::Sender<bool>,
}

struct State {
    queue: Queue,
    phase: Phase,
    /// The pipe, while it is open.
    pipe: Option<Arc<WritePipe>>,
}

/// The life cycle of an outbox.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    Open,
    /// Queued messages are still written, then stdin is closed.
    Closing,
    /// Nothing can be written any more.
    Ended,
}

/// The reason why a message was not accepted.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The outbox is closed.
    Over,
    /// The queue is full, and this kind of message does not wait.
    Full,
}

impl Outbox {
    pub(super) fn new(limits: &StdioLimits) -> Self {
        let state = State {
            queue: Queue::new(limits),
            phase: Phase::Open,
            pipe: None,
        };
        Self {
            state: Box::new(Mutex::new(state)),
            filled: Notify::new(),
            room: Notify::new(),
            is_written: watch::Sender::new(false),
        }
    }

    /// Queues the message; waits for room if it is a request. A future dropped while waiting has queued nothing; a
    /// queued message cannot be withdrawn.
    pub(super) async fn send(&self, mut message: Outgoing) -> Result<(), Refusal> {
        loop {
            let room = self.room.notified();
            if self.try_send(&mut message)? {
                return Ok(());
            }
            room.await;
        }
    }

    /// Queues the message; `false` if it has to wait for room.
    pub(super) fn try_send(&self, message: &mut Outgoing) -> Result<bool, Refusal> {
        // Outside the lock, which senders contend for.
        make_line(&mut message.body);
        let mut state = self.state.lock();
        if state.phase != Phase::Open {
            return Err(Refusal::Over);
        }
        match state.queue.offer(message) {
            Offer::First if message.alone && state.write_now() => {}
            Offer::First => {
                drop(state);
                self.filled.notify_one();
            }
            Offer::Taken => {}
            Offer::Wait => return Ok(false),
            Offer::Full => return Err(Refusal::Full),
        }
        Ok(true)
    }

    /// Stops accepting messages. Queued ones are still written.
    pub(super) fn close(&self) {
        self.advance(Phase::Closing);
    }

    /// Discards the queued messages, too.
    pub(super) fn end(&self) {
        self.advance(Phase::Ended);
    }

    /// Ends the outbox and returns the requests of which no byte has reached the server.
    pub(super) async fn unsent(&self) -> Vec<RequestId> {
        self.end();
        let mut is_written = self.is_written.subscribe();
        let finished = timeout(FINISH, is_written.wait_for(|written| *written)).await;
        // While the writer is active, nothing is certain.
        if finished.is_ok() {
            self.state.lock().queue.unsent()
        } else {
            Vec::new()
        }
    }

    /// Writes queued messages until the outbox is closed; then closes the pipe.
    pub(super) async fn write_to(&self, pipe: WritePipe) -> io::Result<()> {
        let pipe = Arc::new(pipe);
        self.state.lock().pipe = Some(Arc::clone(&pipe));
        let result = self.write_all(&pipe).await;
        {
            let mut state = self.state.lock();
            state.pipe = None;
            if let Some(bytes) = stranded_bytes(&*pipe) {
                state.queue.lose(bytes);
            }
        }
        drop(pipe);
        self.is_written.send_replace(true);
        result
    }

    async fn write_all(&self, pipe: &WritePipe) -> io::Result<()> {
        while let Some(batch) = self.next_batch().await {
            let mut rest = batch.as_slice();
            while !rest.is_empty() {
                match pipe.try_write(rest) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(bytes) => {
                        self.state.lock().queue.wrote(bytes);
                        rest = rest.get(bytes..).unwrap_or_default();
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        tokio::select! {
                            ready = pipe.writable() => ready?,
                            () = self.filled.notified() => {}
                        }
                        if self.state.lock().phase == Phase::Ended {
                            return Ok(());
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            self.state.lock().queue.done(batch);
        }
        Ok(())
    }

    /// Everything that is queued, once there is something; `None` when the outbox is closed.
    async fn next_batch(&self) -> Option<Vec<u8>> {
        loop {
            let (phase, is_empty) = {
                let state = self.state.lock();
                (state.phase, state.queue.is_empty())
            };
            match (phase, is_empty) {
                (Phase::Ended, _) | (Phase::Closing, true) => return None,
                (Phase::Open, true) => {
                    self.filled.notified().await;
                    continue;
                }
                (Phase::Open | Phase::Closing, false) => {}
            }
            // Lets runnable senders queue their messages first: one write for all of them.
            requeue().await;
            let batch = self.state.lock().queue.take();
            self.room.notify_waiters();
            if batch.is_some() {
                return batch;
            }
        }
    }

    fn advance(&self, phase: Phase) {
        let mut state = self.state.lock();
        state.phase = state.phase.max(phase);
        drop(state);
        self.filled.notify_one();
        self.room.notify_waiters();
    }
}

impl State {
    /// Writes everything queued right away, without the writer; `false` if some is left.
    fn write_now(&mut self) -> bool {
        let Some(pipe) = self.pipe.as_deref().filter(|_| !self.queue.is_out()) else {
            return false;
        };
        let Some(batch) = self.queue.take() else {
            return true;
        };
        // An error will reach the writer as well.
        let written = pipe.try_write(&batch).unwrap_or(0);
        self.queue.wrote(written);
        if written < batch.len() {
            self.queue.put_back(batch, written);
            return false;
        }
        self.queue.done(batch);
        true
    }
}
