//! Calls of what the application wrote: a panic becomes an error, and an answer has to come in time.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use tokio::time::timeout;

use crate::handler::error::Error;
use crate::server::limits::ServerLimits;

/// Polls `work` to its end, or to its panic.
pub(crate) async fn caught<R>(work: impl Future<Output = Result<R, Error>>) -> Result<R, Error> {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|task| {
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(task)))
            .unwrap_or_else(|panic| Poll::Ready(Err(panicked(&*panic))))
    })
    .await
}

/// Runs what cannot wait.
pub(crate) fn caught_now<R>(call: impl FnOnce() -> R) -> Result<R, Error> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| panicked(&*panic))
}

/// Gives `work` the time that a request may take.
pub(crate) async fn in_time<R>(
    work: impl Future<Output = R>,
    limits: &ServerLimits,
) -> Result<R, Error> {
    let finished = timeout(limits.request_time(), work).await;
    finished.map_err(|_| timed_out())
}

pub(crate) fn timed_out() -> Error {
    Error::internal("the request timed out")
}

/// What a panic says goes to the log, not to the client.
fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(message = text.unwrap_or("unknown"), "a handler panicked");
    Error::internal("the handler panicked")
}
