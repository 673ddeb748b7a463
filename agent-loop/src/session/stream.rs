//! A session as a stream.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::event::RunEvent;
use crate::session::Session;
use crate::session::handle::Handle;

type Next<'r> = Pin<Box<dyn Future<Output = (Option<RunEvent>, Session<'r>)> + Send + 'r>>;

/// A session as a stream of its events. Answers go through its [`handle`](Self::handle).
pub struct SessionStream<'r> {
    /// The next event, and the session; gone once the run is over.
    next: Option<Next<'r>>,
    handle: Handle,
}

impl<'r> Session<'r> {
    /// The session as a [`Stream`] of its events.
    pub fn into_stream(self) -> SessionStream<'r> {
        SessionStream {
            handle: self.handle(),
            next: Some(next(self)),
        }
    }
}

fn next(mut session: Session<'_>) -> Next<'_> {
    Box::pin(async move {
        let event = session.next().await;
        (event, session)
    })
}

impl SessionStream<'_> {
    /// Answers and cancels.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Stream for SessionStream<'_> {
    type Item = RunEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        let Some(pending) = &mut self.next else {
            return Poll::Ready(None);
        };
        let (event, session) = ready!(pending.as_mut().poll(cx));
        // It is not polled before the next event is asked for.
        self.next = event.is_some().then(|| next(session));
        Poll::Ready(event)
    }
}

impl fmt::Debug for SessionStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionStream").finish_non_exhaustive()
    }
}
