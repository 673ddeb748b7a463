//! Opens event streams by GET: the remainder of a reply, or the stream of unsolicited messages.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use mcp_jsonrpc::Revision;
use reqwest::Method;

use crate::TransportError;
use crate::http::EventStream;
use crate::http::body::ReadRate;
use crate::http::connection::Connection;
use crate::http::headers;
use crate::http::reply_stream::Open;
use crate::http::session::SessionId;

#[derive(Debug)]
pub(crate) struct Get {
    connection: Arc<Connection>,
    purpose: Purpose,
    revision: Option<Revision>,
    session: Option<SessionId>,
    pace: ReadRate,
    /// Challenges that may still lead to an authorization: one for the whole stream, because no caller requested it.
    challenges: AtomicU32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Purpose {
    /// The remainder of a reply.
    Reply,
    /// Unsolicited messages.
    Listen,
}

impl Get {
    pub(crate) fn new(
        connection: Arc<Connection>,
        purpose: Purpose,
        revision: Option<Revision>,
        session: Option<SessionId>,
        pace: ReadRate,
    ) -> Self {
        Self {
            connection,
            purpose,
            revision,
            session,
            pace,
            challenges: AtomicU32::new(1),
        }
    }
}

impl Open for Get {
    async fn open(&self, last_event_id: Option<&str>) -> Result<EventStream, TransportError> {
        let limits = self.connection.limits();
        let headers = headers::of_stream(self.revision, self.session.as_ref(), last_event_id);
        let challenges = self.challenges.swap(0, Relaxed);
        let request = self.connection.bodiless(Method::GET, headers, challenges);
        let response = self
            .connection
            .exchange()
            .send(&request)
            .await
            .map_err(|failed| failed.error)?;
        // A server without a GET stream may respond with 404 to every GET.
        if let (404, Purpose::Reply, Some(session)) =
            (response.status().as_u16(), self.purpose, &self.session)
        {
            self.connection.expire(session);
            return Err(TransportError::SessionExpired);
        }
        EventStream::of(response, self.pace, limits).await
    }
}
