//! The messages of one reply, in order, until its reader has received them; in the legacy era they are kept for a while
//! afterwards, so that a lost stream can be resumed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::pipe::outlet::Outlet;

/// Milliseconds a client should wait before it resumes a stream.
const RETRY_MS: u32 = 500;

/// One event stream, with at most one reader at a time.
pub(crate) struct EventStream {
    /// Tells it from other streams of its session, in event ids; `None` if it cannot be resumed.
    number: Option<u64>,
    /// Whether a reader first gets an event with nothing but an id, to resume from.
    primes: bool,
    max_events: usize,
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    bytes: usize,
    /// The number of the newest event.
    newest: u64,
    /// The number of the newest event that a reader took.
    delivered: u64,
    /// Nothing more will come.
    finished: bool,
    /// The first message is a response.
    responded: bool,
    /// The scopes that the caller of its request does not have.
    missing_scopes: Vec<String>,
    /// The reader shall go and come back.
    released: bool,
    /// It has a reader.
    read: bool,
    /// Which reader is the current one; 0 before the first.
    reader: u64,
    waker: Option<Waker>,
}

struct Event {
    number: u64,
    data: Bytes,
}

/// How a reply begins.
pub(crate) enum Begin {
    /// With its end: the response is its only message.
    Response(Bytes),
    /// With other messages, or without any.
    Stream,
}

impl EventStream {
    /// A stream that lives and dies with its reader.
    pub(crate) fn plain(max_events: usize, max_bytes: usize) -> Self {
        Self {
            number: None,
            primes: false,
            max_events,
            max_bytes,
            state: Mutex::default(),
        }
    }

    /// A stream that can be resumed.
    pub(crate) fn resumable(
        number: u64,
        primes: bool,
        max_events: usize,
        max_bytes: usize,
    ) -> Self {
        Self {
            number: Some(number),
            primes,
            ..Self::plain(max_events, max_bytes)
        }
    }

    pub(crate) fn number(&self) -> Option<u64> {
        self.number
    }

    pub(crate) fn is_read(&self) -> bool {
        self.state.lock().read
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.state.lock().finished
    }

    /// Notes, before the response, which scopes the caller does not have.
    pub(crate) fn miss_scopes(&self, scopes: Vec<String>) {
        if !scopes.is_empty() {
            self.state.lock().missing_scopes = scopes;
        }
    }

    pub(crate) fn missing_scopes(&self) -> Vec<String> {
        self.state.lock().missing_scopes.clone()
    }

    /// Ends the stream, with the response if there is one. The response always finds room.
    pub(crate) fn finish(&self, response: Option<Vec<u8>>) {
        let mut state = self.state.lock();
        if state.finished {
            return;
        }
        if let Some(response) = response {
            state.append(response);
        }
        state.finished = true;
        state.wake();
    }

    /// Adds a response, which always finds room; more may follow, of other requests.
    pub(crate) fn push_response(&self, response: Vec<u8>) {
        let mut state = self.state.lock();
        if !state.finished {
            state.responded = state.events.is_empty();
            state.append(response);
            state.wake();
        }
    }

    /// Pending until the stream is finished.
    pub(crate) fn poll_finished(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.finished {
            return Poll::Ready(());
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The newest message.
    pub(crate) fn last(&self) -> Option<Bytes> {
        self.state
            .lock()
            .events
            .back()
            .map(|event| event.data.clone())
    }

    /// How the reply begins; pending until that is clear.
    pub(crate) fn poll_begin(&self, cx: &Context<'_>) -> Poll<Begin> {
        let mut state = self.state.lock();
        if state.finished && state.events.len() == 1 && state.newest == 1 && !state.released {
            state.bytes = 0;
            let event = state.events.pop_front();
            return Poll::Ready(event.map_or(Begin::Stream, |event| Begin::Response(event.data)));
        }
        // A response by itself may be all: its end follows at once.
        let settled = state.responded || state.events.is_empty();
        if state.finished || state.released || !settled {
            return Poll::Ready(Begin::Stream);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Becomes its reader, behind the event of this number. An earlier reader comes to its end.
    pub(crate) fn read(self: &Arc<Self>, after: Option<u64>) -> Reader {
        let mut state = self.state.lock();
        state.reader += 1;
        state.read = true;
        if after.is_some() {
            // It has come back.
            state.released = false;
        }
        state.wake();
        Reader {
            stream: Arc::clone(self),
            generation: state.reader,
            after: after.unwrap_or(0),
            primed: after.is_some() || !self.primes,
        }
    }

    /// Becomes its reader for what comes from now on.
    pub(crate) fn read_new(self: &Arc<Self>) -> Reader {
        let newest = self.state.lock().newest;
        let mut reader = self.read(Some(newest));
        reader.primed = !self.primes;
        reader
    }

    fn spell(&self, number: u64, data: &[u8]) -> Bytes {
        let mut text = Vec::with_capacity(data.len() + 32);
        if let Some(stream) = self.number {
            text.extend_from_slice(format!("id: {stream}-{number}\n").as_bytes());
        }
        text.extend_from_slice(b"data: ");
        text.extend_from_slice(data);
        text.extend_from_slice(b"\n\n");
        text.into()
    }

    fn spell_priming(&self, number: u64) -> Bytes {
        let stream = self.number.unwrap_or(0);
        format!("id: {stream}-{number}\nretry: {RETRY_MS}\ndata: \n\n").into()
    }
}

impl Outlet for EventStream {
    fn push(&self, message: Vec<u8>) -> bool {
        let mut state = self.state.lock();
        // A stream for announcements holds none back for a reader that never was.
        if state.finished || (self.number == Some(0) && state.reader == 0) {
            return false;
        }
        while state.events.len() >= self.max_events
            || state.bytes + message.len() > self.max_bytes && !state.events.is_empty()
        {
            let delivered = state.delivered;
            if state
                .events
                .front()
                .is_none_or(|event| event.number > delivered)
            {
                return false;
            }
            state.drop_oldest();
        }
        state.append(message);
        state.wake();
        true
    }

    fn release(&self) {
        if !self.primes {
            return;
        }
        let mut state = self.state.lock();
        if !state.finished {
            state.released = true;
            state.wake();
        }
    }
}

impl State {
    fn append(&mut self, data: Vec<u8>) {
        self.newest += 1;
        self.bytes += data.len();
        self.events.push_back(Event {
            number: self.newest,
            data: data.into(),
        });
    }

    fn drop_oldest(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.bytes -= event.data.len();
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.stream.state.lock();
        if state.reader == self.generation {
            state.read = false;
        }
    }
}

/// Reads one stream, event by event, as server-sent events.
pub(crate) struct Reader {
    stream: Arc<EventStream>,
    generation: u64,
    after: u64,
    primed: bool,
}

impl Reader {
    /// The next event; `None` at the end.
    pub(crate) fn poll_event(&mut self, cx: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.stream.state.lock();
        if state.reader != self.generation {
            return Poll::Ready(None);
        }
        if !self.primed {
            self.primed = true;
            return Poll::Ready(Some(self.stream.spell_priming(self.after)));
        }
        let next = state.events.iter().find(|event| event.number > self.after);
        if let Some(event) = next {
            let text = self.stream.spell(event.number, &event.data);
            self.after = event.number;
            state.delivered = state.delivered.max(self.after);
            if self.stream.number.is_none() {
                state.drop_oldest();
            }
            return Poll::Ready(Some(text));
        }
        if state.finished || state.released {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}
