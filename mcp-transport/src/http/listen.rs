//! The GET stream on which a server of the legacy era sends unsolicited messages.

use tokio::sync::{Notify, oneshot};
use tokio::time::sleep;

use crate::http::EventStream;
use crate::http::inbox::Inbox;
use crate::http::reconnect::{Next, Reconnect};
use crate::http::reply_stream::Open;
use crate::{Incoming, TransportError};
use mcp_jsonrpc::sse::SseFrame;

/// The reason why listening ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Over {
    /// The server offers no such stream.
    Refused,
    /// The server no longer knows the session.
    SessionGone,
}

/// Listens until the server rejects the stream. A stream that breaks is reopened; if that fails, the next attempt waits
/// until `reachable` is notified.
pub(crate) async fn listen<O: Open>(
    open: O,
    mut plan: Reconnect,
    inbox: &Inbox,
    reachable: &Notify,
    ready: oneshot::Sender<()>,
) -> Over {
    // Dropped on the server's first response of any kind.
    let mut ready = Some(ready);
    let mut was_open = false;
    let mut lost = false;
    loop {
        let opened = open.open(plan.last_event_id()).await;
        ready.take();
        let next = match opened {
            Ok(mut stream) => {
                plan.opened();
                if lost {
                    inbox.push(Incoming::Gap).await;
                }
                was_open = true;
                let end = read(&mut stream, &mut plan, inbox).await;
                let next = plan.ended(stream.parser());
                // A clean end after an event with an id is how a server requests polling: it keeps the messages in
                // between. Any other end may lose some.
                lost = end.is_err() || plan.last_event_id().is_none();
                next
            }
            Err(TransportError::SessionExpired) => return Over::SessionGone,
            Err(TransportError::Http(failure)) if failure.status == 404 && was_open => {
                return Over::SessionGone;
            }
            Err(error) if error.is_retryable() => plan.failed(),
            Err(_) => Next::Exhausted,
        };
        match next {
            Next::After(wait) => sleep(wait).await,
            Next::Exhausted | Next::TooLong(_) if was_open => {
                reachable.notified().await;
                plan.forgive();
                lost = true;
            }
            Next::Exhausted | Next::TooLong(_) => return Over::Refused,
        }
    }
}

/// Reads the stream to its end.
async fn read(
    stream: &mut EventStream,
    plan: &mut Reconnect,
    inbox: &Inbox,
) -> Result<(), TransportError> {
    loop {
        match stream.next().await? {
            None => return Ok(()),
            Some(SseFrame::Event(event)) if event.event == "message" && !event.data.is_empty() => {
                plan.progressed();
                inbox
                    .push(Incoming::Message {
                        body: event.data,
                        stream: None,
                    })
                    .await;
            }
            Some(SseFrame::Event(_)) => {}
            Some(SseFrame::TooLarge { head }) => {
                let limit = stream.parser().limit();
                inbox.push(Incoming::TooLarge { head, limit }).await;
            }
            Some(SseFrame::Endless) => return Err(stream.too_large()),
        }
    }
}
