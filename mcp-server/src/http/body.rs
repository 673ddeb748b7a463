//! Bodies of replies.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::event_stream::{EventStream, Reader};
use crate::dispatch::Reply;

/// How long a stream may be silent before a comment shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A handler at work on a request.
pub(crate) type Working = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// The body of a reply: JSON, or a stream of server-sent events. Dropping it cancels a modern
/// request.
pub struct ResponseBody(Inner);

enum Inner {
    Full(Option<Bytes>),
    Events(Box<Events>),
    #[cfg(feature = "sse")]
    Channel(Box<Channel>),
}

/// Events that a task of their own writes. Dropping it ends that task.
#[cfg(feature = "sse")]
struct Channel {
    events: tokio::sync::mpsc::Receiver<Bytes>,
    silence: Pin<Box<Sleep>>,
}

struct Events {
    reader: Reader,
    /// Of a modern request: what still runs, and where its response goes.
    work: Option<(Working, Arc<EventStream>)>,
    silence: Pin<Box<Sleep>>,
}

impl ResponseBody {
    /// These bytes.
    pub(crate) fn full(bytes: impl Into<Bytes>) -> Self {
        Self(Inner::Full(Some(bytes.into())))
    }

    /// Nothing.
    pub(crate) fn empty() -> Self {
        Self(Inner::Full(None))
    }

    /// The events of a stream.
    pub(crate) fn events(reader: Reader, work: Option<(Working, Arc<EventStream>)>) -> Self {
        Self(Inner::Events(Box::new(Events {
            reader,
            work,
            silence: Box::pin(tokio::time::sleep(KEEP_ALIVE)),
        })))
    }
}

#[cfg(feature = "sse")]
impl ResponseBody {
    /// The events of a channel, until it is closed.
    pub(crate) fn channel(events: tokio::sync::mpsc::Receiver<Bytes>) -> Self {
        Self(Inner::Channel(Box::new(Channel {
            events,
            silence: Box::pin(tokio::time::sleep(KEEP_ALIVE)),
        })))
    }
}

#[cfg(feature = "sse")]
impl Channel {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(event) = self.events.poll_recv(cx) {
            self.silence.as_mut().reset(Instant::now() + KEEP_ALIVE);
            return Poll::Ready(event);
        }
        poll_silence(&mut self.silence, cx)
    }
}

/// A comment, if the stream was silent for too long.
fn poll_silence(silence: &mut Pin<Box<Sleep>>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
    if silence.as_mut().poll(cx).is_pending() {
        return Poll::Pending;
    }
    silence.as_mut().reset(Instant::now() + KEEP_ALIVE);
    Poll::Ready(Some(Bytes::from_static(b":\n\n")))
}

impl Events {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some((working, stream)) = &mut self.work
            && let Poll::Ready(reply) = working.as_mut().poll(cx)
        {
            stream.finish(Some(reply.body));
            self.work = None;
        }
        if let Poll::Ready(event) = self.reader.poll_event(cx) {
            self.silence.as_mut().reset(Instant::now() + KEEP_ALIVE);
            return Poll::Ready(event);
        }
        poll_silence(&mut self.silence, cx)
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.get_mut().0 {
            Inner::Full(bytes) => Poll::Ready(bytes.take()),
            Inner::Events(events) => events.poll(cx),
            #[cfg(feature = "sse")]
            Inner::Channel(channel) => channel.poll(cx),
        };
        next.map(|data| data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Inner::Full(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Full(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            _ => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Inner::Full(_) => "ResponseBody(full)",
            _ => "ResponseBody(events)",
        })
    }
}
