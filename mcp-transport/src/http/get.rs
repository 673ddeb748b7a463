//! Opens event streams by GET: the rest of a reply, or what the server says unasked.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use mcp_jsonrpc::Revision;
use reqwest::Method;

use crate::TransportError;
use crate::http::EventStream;
use crate::http::body::Pace;
use crate::http::headers;
use crate::http::link::Link;
use crate::http::resume::Open;
use crate::http::session::SessionId;

#[derive(Debug)]
pub(crate) struct Get {
    link: Arc<Link>,
    purpose: Purpose,
    revision: Option<Revision>,
    session: Option<SessionId>,
    pace: Pace,
    /// Refusals that may still lead to an authorization: one for the whole stream, for nobody
    /// asked for it.
    challenges: AtomicU32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Purpose {
    /// The rest of a reply.
    Reply,
    /// What the server says unasked.
    Listen,
}

impl Get {
    pub(crate) fn new(
        link: Arc<Link>,
        purpose: Purpose,
        revision: Option<Revision>,
        session: Option<SessionId>,
        pace: Pace,
    ) -> Self {
        Self {
            link,
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
        let limits = self.link.limits();
        let headers = headers::of_stream(self.revision, self.session.as_ref(), last_event_id);
        let challenges = self.challenges.swap(0, Relaxed);
        let ask = self.link.ask(Method::GET, headers, challenges);
        let response = self
            .link
            .exchange()
            .send(&ask)
            .await
            .map_err(|failed| failed.error)?;
        // A server without a stream of its own may well say 404 to everybody.
        if let (404, Purpose::Reply, Some(session)) =
            (response.status().as_u16(), self.purpose, &self.session)
        {
            self.link.expire(session);
            return Err(TransportError::SessionExpired);
        }
        EventStream::of(response, self.pace, limits).await
    }
}
