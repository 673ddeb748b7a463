//! Requests under way on a connection, so that one that no one uses can end: HTTP/2 has no idle time of
//! its own.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use tokio::sync::watch;

/// How many requests are under way: a cheap clone.
#[derive(Clone, Debug)]
pub(super) struct UnderWay {
    count: watch::Sender<usize>,
}

impl UnderWay {
    pub(super) fn new() -> Self {
        Self {
            count: watch::Sender::new(0),
        }
    }

    /// Counts a request until its response was sent whole, or is dropped.
    pub(super) async fn count(self, request: Request, next: Next) -> Response {
        self.count.send_modify(|count| *count += 1);
        let one = One(self);
        let response = next.run(request).await;
        response.map(|body| Body::new(Counted { body, _one: one }))
    }

    /// Returns once nothing was under way for this long.
    pub(super) async fn idle(&self, time: Duration) {
        let mut count = self.count.subscribe();
        loop {
            // It is not closed: we have a sender.
            let _ = count.wait_for(|count| *count == 0).await;
            if tokio::time::timeout(time, count.changed()).await.is_err() {
                return;
            }
        }
    }
}

/// A request under way.
struct One(UnderWay);

impl Drop for One {
    fn drop(&mut self) {
        let less = |count: &mut usize| *count = count.saturating_sub(1);
        self.0.count.send_modify(less);
    }
}

/// A body that counts as under way.
struct Counted {
    body: Body,
    _one: One,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
