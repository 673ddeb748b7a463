//! The state that the tasks of one connection share: the HTTP client, the session, the inbox.

use std::sync::Arc;

use bytes::Bytes;
use mcp_jsonrpc::{DecodeLimits, RequestId, Revision, peek_response};
use parking_lot::Mutex;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response};
use tokio::sync::{Notify, OwnedSemaphorePermit, oneshot};
use tokio::time::timeout;

use crate::http::body::{Body, ReadRate};
use crate::http::body_budget::BodyBudget;
use crate::http::get::{Get, Purpose};
use crate::http::headers::{self, SESSION, is_modern};
use crate::http::inbox::Inbox;
use crate::http::listen::{Over, listen};
use crate::http::reconnect::Reconnect;
use crate::http::refusal::{discard, refusal};
use crate::http::reply::{Reply, blames_session, check_json};
use crate::http::reply_stream::{ReplyStream, over};
use crate::http::session::{Session, SessionId};
use crate::http::tasks::Tasks;
use crate::http::{EventStream, Exchange, HttpLimits, HttpRequest};
use crate::{
    Closed, Delivery, Incoming, Outgoing, OutgoingKind, ReplyTimeout, SendError, TransportError,
};

#[derive(Debug)]
pub(crate) struct Connection {
    exchange: Arc<Exchange>,
    session: Mutex<Session>,
    /// The legacy revision in force, for requests without a message.
    agreed: Mutex<Option<Revision>>,
    inbox: Arc<Inbox>,
    tasks: Arc<Tasks>,
    budget: BodyBudget,
    /// Notified whenever the server proves reachable.
    reachable: Notify,
}

/// A request whose reply has started.
struct Request {
    id: RequestId,
    reply_timeout: ReplyTimeout,
    revision: Option<Revision>,
    session: Option<SessionId>,
    permit: OwnedSemaphorePermit,
}

impl Connection {
    pub(crate) fn new(exchange: Arc<Exchange>) -> Self {
        let limits = exchange.limits();
        Self {
            inbox: Arc::new(Inbox::new(limits.queued_messages, limits.queued_bytes)),
            budget: BodyBudget::new(limits.buffered_bytes),
            exchange,
            session: Mutex::default(),
            agreed: Mutex::default(),
            tasks: Arc::new(Tasks::new()),
            reachable: Notify::new(),
        }
    }

    pub(crate) fn limits(&self) -> &HttpLimits {
        self.exchange.limits()
    }

    pub(crate) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    pub(crate) async fn recv(&self) -> Incoming {
        self.inbox.recv().await
    }

    pub(crate) fn release(&self, request: &RequestId) {
        self.tasks.release(request);
    }

    /// Aborts every task.
    pub(crate) fn abort(&self) {
        self.tasks.abort_all();
    }

    /// Sends a request. Returns its response if `wants_response` is set and nothing came before it; otherwise the reply
    /// goes to the inbox.
    pub(crate) async fn request(
        self: &Arc<Self>,
        message: Outgoing,
        wants_response: bool,
        permit: OwnedSemaphorePermit,
    ) -> Result<Option<Vec<u8>>, SendError> {
        let OutgoingKind::Request {
            id,
            method,
            reply_timeout,
        } = &message.kind
        else {
            return Ok(None);
        };
        let (id, reply_timeout, revision) = (id.clone(), *reply_timeout, message.revision);
        let initialize = method == "initialize";
        let mut session = if initialize {
            None
        } else {
            self.session_for(revision)?
        };
        let response = self.post(message, session.as_ref()).await?;
        let sent = |error| SendError::new(error, Delivery::Sent);
        if initialize {
            self.tasks.stop_listening();
            session = self
                .session
                .lock()
                .begin(response.headers().get(SESSION))
                .map_err(sent)?;
        }
        let request = Request {
            id,
            reply_timeout,
            revision,
            session,
            permit,
        };
        match Reply::of(response).await.map_err(sent)? {
            Reply::Json(response) => self.read_json(request, response).await.map_err(sent),
            Reply::Events(response) => {
                let read = self.read_events(request, wants_response, response);
                read.await.map_err(sent)
            }
        }
    }

    /// Sends a message that has no reply.
    pub(crate) async fn notify(self: &Arc<Self>, message: Outgoing) -> Result<(), SendError> {
        let revision = message.revision;
        let ready = message.method() == Some("notifications/initialized") && !is_modern(revision);
        let session = self.session_for(revision)?;
        let response = self.post(message, session.as_ref()).await?;
        discard(response, self.limits()).await;
        if ready {
            *self.agreed.lock() = revision;
            self.start_listening(revision, session).await;
        }
        Ok(())
    }

    fn session_for(&self, revision: Option<Revision>) -> Result<Option<SessionId>, SendError> {
        if is_modern(revision) {
            return Ok(None);
        }
        self.session
            .lock()
            .id()
            .map_err(|error| SendError::new(error, Delivery::NotSent))
    }

    /// Posts a message and returns the head of a successful response.
    async fn post(
        &self,
        message: Outgoing,
        session: Option<&SessionId>,
    ) -> Result<Response, SendError> {
        let headers = headers::of_message(&message, session)
            .map_err(|error| SendError::new(error, Delivery::NotSent))?;
        let limits = self.limits();
        let timeout = match message.kind {
            OutgoingKind::Request { .. } => limits.first_byte_timeout,
            _ => limits.acknowledge_timeout,
        };
        let request = HttpRequest {
            body: Bytes::from(message.body),
            timeout,
            ..self.bodiless(Method::POST, headers, limits.challenges)
        };
        let response = self.exchange.send(&request).await?;
        if response.status().is_success() {
            self.reachable.notify_one();
            return Ok(response);
        }
        // Boxed, like every rare path, so that the future of an ordinary request stays small.
        let refused = Box::pin(refusal(response, limits)).await;
        Err(match (session, &refused.error) {
            (Some(session), TransportError::Http(failure))
                if failure.status == 404
                    || failure.status == 400 && blames_session(&failure.body) =>
            {
                self.expire(session);
                SendError::new(TransportError::SessionExpired, Delivery::NotSent)
            }
            _ => refused,
        })
    }

    /// A request without a body.
    pub(crate) fn bodiless(
        &self,
        method: Method,
        headers: HeaderMap,
        challenges: u32,
    ) -> HttpRequest<'_> {
        HttpRequest {
            method,
            url: &self.exchange.config().url,
            headers,
            body: Bytes::new(),
            timeout: self.limits().first_byte_timeout,
            challenges,
        }
    }

    /// Marks the session as unknown to the server.
    pub(crate) fn expire(&self, session: &SessionId) {
        self.session.lock().expire(session);
    }

    async fn read_json(
        &self,
        request: Request,
        response: Response,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        let body = Body::new(
            response,
            ReadRate::new(self.limits(), request.reply_timeout),
        );
        let reservation = self.budget.reservation();
        let body = body.whole(self.limits().message_bytes, reservation).await?;
        check_json(&body)?;
        if peek_response(&body).is_some_and(|(id, _)| request.id == id.into()) {
            return Ok(Some(body));
        }
        // Boxed, like every rare path.
        Box::pin(self.deliver(request.id, body)).await;
        Ok(None)
    }

    /// Queues the only message of a reply, response or not.
    pub(crate) async fn deliver(&self, request: RequestId, body: Vec<u8>) {
        let stream = Some(request.clone());
        self.inbox.push(Incoming::Message { body, stream }).await;
        let error = Arc::new(TransportError::NoResponse {
            detail: "the reply is a different message".into(),
        });
        self.inbox.push(Incoming::Ended { request, error }).await;
    }

    /// Reads an event stream up to its response, on the caller's task if `wants_response` is set. A separate task
    /// drains what follows the response.
    async fn read_events(
        self: &Arc<Self>,
        request: Request,
        wants_response: bool,
        response: Response,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        let Request {
            id,
            reply_timeout,
            revision,
            session,
            permit,
        } = request;
        let limits = self.limits();
        let pace = ReadRate::new(limits, reply_timeout);
        let stream = EventStream::new(response, pace, limits.message_bytes);
        let stream = stream.with_budget(&self.budget);
        let resume = (!is_modern(revision)).then(|| {
            let get = Get::new(self.clone(), Purpose::Reply, revision, session, pace);
            (get, Reconnect::new(limits, limits.resumptions))
        });
        // A stream that stays open must not occupy the permit of a request that ends.
        let permit = Some(permit).filter(|_| reply_timeout == ReplyTimeout::Normal);
        let mut reply = ReplyStream {
            request: id.clone(),
            stream,
            inbox: Arc::clone(&self.inbox),
            limits: DecodeLimits::default().with_message_bytes(limits.message_bytes),
            resume,
        };
        if wants_response {
            let response = match reply.response().await {
                Ok(response) => response,
                Err(error) => {
                    reply.deliver_end(error).await;
                    return Ok(None);
                }
            };
            drop(permit);
            if response.is_direct {
                self.tasks.drain(id, async move { reply.drain().await });
                return Ok(Some(response.body));
            }
            reply.deliver(response.body).await;
            self.tasks.drain(id, async move {
                reply.drain().await;
                reply.deliver_end(over()).await;
            });
            return Ok(None);
        }
        let tasks = Arc::clone(&self.tasks);
        let read = self.tasks.read_reply(id.clone(), async move {
            let error = match reply.response().await {
                Ok(response) => {
                    // Before the response becomes visible: from here on there is nothing to release.
                    tasks.answered(&id);
                    drop(permit);
                    reply.deliver(response.body).await;
                    reply.drain().await;
                    over()
                }
                Err(error) => error,
            };
            reply.deliver_end(error).await;
        });
        read.then_some(None).ok_or(TransportError::Closed)
    }

    /// Opens the GET stream for unsolicited messages. Returns once the server has accepted or rejected it, or after
    /// `listen_timeout`.
    async fn start_listening(
        self: &Arc<Self>,
        revision: Option<Revision>,
        session: Option<SessionId>,
    ) {
        let (ready, is_ready) = oneshot::channel();
        let pace = ReadRate::new(self.limits(), ReplyTimeout::Stream);
        let get = Get::new(
            self.clone(),
            Purpose::Listen,
            revision,
            session.clone(),
            pace,
        );
        let plan = Reconnect::new(self.limits(), self.limits().reconnects);
        let connection = self.clone();
        self.tasks.listen(async move {
            let over = listen(get, plan, &connection.inbox, &connection.reachable, ready).await;
            if let (Over::SessionGone, Some(session)) = (over, session) {
                connection.expire(&session);
            }
        });
        let _ = timeout(self.limits().listen_timeout, is_ready).await;
    }

    /// Ends the session, waits for the tasks and closes the inbox.
    pub(crate) async fn close(&self) {
        let session = self.session.lock().take();
        if let Some(session) = session {
            let headers = headers::of_connection(*self.agreed.lock(), Some(&session));
            let request = self.bodiless(Method::DELETE, headers, 0);
            let _ = timeout(self.limits().close_timeout, self.exchange.send(&request)).await;
        }
        self.tasks.gone().await;
        self.inbox.end(Closed::clean());
    }
}
