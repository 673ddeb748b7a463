//! A session as a stream.

use futures_core::Stream;
use futures_util::stream::unfold;

use crate::event::RunEvent;
use crate::session::Session;

impl<'r> Session<'r> {
    /// The session as a [`Stream`] of its events. It is driven only while the stream is polled.
    /// Answers go through its [`handle`](Self::handle).
    pub fn into_stream(self) -> impl Stream<Item = RunEvent> + Send + Unpin + 'r {
        Box::pin(unfold(self, |mut session| async {
            let event = session.next().await?;
            Some((event, session))
        }))
    }
}
