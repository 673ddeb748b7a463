//! One connection over Streamable HTTP.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use async_trait::async_trait;
use bytes::Bytes;
use mcp_jsonrpc::{Limits, RequestId, Revision};
use parking_lot::Mutex;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response};
use tokio::sync::{Notify, OnceCell, OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::time::timeout;

use crate::http::body::{Body, Pace};
use crate::http::events::{is_event_stream, media_type};
use crate::http::headers::{self, SESSION, is_modern};
use crate::http::listen::{Over, listen};
use crate::http::reconnect::Reconnect;
use crate::http::refusal::{discard, refusal};
use crate::http::reply::{Reply, blames_session, check_json};
use crate::http::resume::{Open, ReplyStream};
use crate::http::session::{Session, SessionId};
use crate::http::tasks::Tasks;
use crate::http::{Ask, EventStream, Exchange, HttpLimits};
use crate::inbox::Inbox;
use crate::{
    Closed, Delivery, Incoming, Outgoing, OutgoingKind, Patience, SendError, Shape, Transport,
    TransportError,
};

/// One connection over Streamable HTTP. Opened by [`HttpConnect`](crate::HttpConnect).
#[derive(Debug)]
pub struct HttpTransport {
    line: Arc<Line>,
    window: Arc<Semaphore>,
    closing: watch::Sender<bool>,
    closed: OnceCell<()>,
}

/// What the tasks of a connection share.
#[derive(Debug)]
struct Line {
    exchange: Arc<Exchange>,
    session: Mutex<Session>,
    /// The legacy revision in force, for requests that carry no message.
    agreed: Mutex<Option<Revision>>,
    inbox: Inbox,
    tasks: Arc<Tasks>,
    /// The server was reachable just now.
    poke: Notify,
}

/// A request on its way.
struct Request {
    id: RequestId,
    patience: Patience,
    revision: Option<Revision>,
    session: Option<SessionId>,
    permit: OwnedSemaphorePermit,
}

impl HttpTransport {
    pub(crate) fn new(exchange: Arc<Exchange>) -> Self {
        let limits = exchange.limits();
        let window = Arc::new(Semaphore::new(limits.requests_in_flight));
        let inbox = Inbox::new(limits.queued_messages, limits.queued_bytes);
        let line = Arc::new(Line {
            exchange,
            session: Mutex::default(),
            agreed: Mutex::default(),
            inbox,
            tasks: Arc::new(Tasks::new()),
            poke: Notify::new(),
        });
        Self {
            line,
            window,
            closing: watch::Sender::new(false),
            closed: OnceCell::new(),
        }
    }

    /// Does `work` unless the connection is closed first.
    async fn while_open(
        &self,
        work: impl Future<Output = Result<(), SendError>>,
    ) -> Result<(), SendError> {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => {
                Err(SendError::new(TransportError::Closed, Delivery::Unknown))
            }
            done = work => done,
        }
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, message: Outgoing) -> Result<(), SendError> {
        let closed = || SendError::new(TransportError::Closed, Delivery::NotSent);
        if *self.closing.borrow() {
            return Err(closed());
        }
        if let OutgoingKind::Request { .. } = message.kind {
            let permit = self
                .window
                .clone()
                .acquire_owned()
                .await
                .map_err(|_| closed())?;
            self.while_open(self.line.request(message, permit)).await
        } else {
            self.while_open(self.line.tell(message)).await
        }
    }

    async fn recv(&self) -> Incoming {
        self.line.inbox.recv().await
    }

    fn release(&self, request: &RequestId) {
        self.line.tasks.release(request);
    }

    async fn close(&self) {
        self.closing.send_replace(true);
        self.window.close();
        self.line.tasks.abort_all();
        self.closed.get_or_init(|| self.line.say_goodbye()).await;
    }

    fn shape(&self) -> Shape {
        Shape::Http
    }

    fn is_alive(&self) -> bool {
        !*self.closing.borrow()
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        self.line.tasks.abort_all();
    }
}

impl Line {
    fn limits(&self) -> &HttpLimits {
        self.exchange.limits()
    }

    /// Sends a request and sees to it that its reply reaches the inbox.
    async fn request(
        self: &Arc<Self>,
        message: Outgoing,
        permit: OwnedSemaphorePermit,
    ) -> Result<(), SendError> {
        let OutgoingKind::Request {
            id,
            method,
            patience,
        } = message.kind.clone()
        else {
            return Ok(());
        };
        let revision = message.revision;
        let initialize = method == "initialize";
        let session = if initialize {
            None
        } else {
            self.session_for(revision)?
        };
        let response = self.post(message, session.as_ref()).await?;
        let sent = |error| SendError::new(error, Delivery::Sent);
        if initialize {
            self.tasks.stop_listening();
            self.session
                .lock()
                .begin(response.headers().get(SESSION))
                .map_err(sent)?;
        }
        let request = Request {
            id,
            patience,
            revision,
            session: self.current(session),
            permit,
        };
        match Reply::of(response).await.map_err(sent)? {
            Reply::Json(response) => self.take_json(request, response).await.map_err(sent),
            Reply::Events(response) => self.take_events(request, response).map_err(sent),
        }
    }

    /// The session a reply belongs to: the one its request was sent in, or the one it began.
    fn current(&self, sent_in: Option<SessionId>) -> Option<SessionId> {
        sent_in.or_else(|| self.session.lock().id().ok().flatten())
    }

    /// Sends what wants no reply.
    async fn tell(self: &Arc<Self>, message: Outgoing) -> Result<(), SendError> {
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

    /// Posts a message; returns with the head of a success.
    async fn post(
        &self,
        message: Outgoing,
        session: Option<&SessionId>,
    ) -> Result<Response, SendError> {
        let headers = headers::of_message(&message, session)
            .map_err(|error| SendError::new(error, Delivery::NotSent))?;
        let challenges = self.limits().challenges;
        let ask = self.ask(Method::POST, headers, message.body, challenges);
        let response = self.exchange.send(&ask).await?;
        if response.status().is_success() {
            self.poke.notify_one();
            return Ok(response);
        }
        let refused = refusal(response, self.limits()).await;
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

    fn ask(&self, method: Method, headers: HeaderMap, body: Vec<u8>, challenges: u32) -> Ask {
        let url = self.exchange.config().url.clone();
        Ask {
            method,
            url,
            headers,
            body: Bytes::from(body),
            challenges,
        }
    }

    fn expire(&self, session: &SessionId) {
        self.session.lock().expire(session);
    }

    async fn take_json(&self, request: Request, response: Response) -> Result<(), TransportError> {
        let body = Body::new(response, Pace::new(self.limits(), request.patience));
        let body = body.whole(self.limits().message_bytes).await?;
        check_json(&body)?;
        let error = TransportError::NoAnswer {
            detail: "the reply holds another message".into(),
        };
        let stream = Some(request.id.clone());
        self.inbox.push(Incoming::Message { body, stream }).await;
        self.inbox
            .push(Incoming::Ended {
                request: request.id,
                error: Arc::new(error),
            })
            .await;
        Ok(())
    }

    fn take_events(
        self: &Arc<Self>,
        request: Request,
        response: Response,
    ) -> Result<(), TransportError> {
        let Request {
            id,
            patience,
            revision,
            session,
            permit,
        } = request;
        let limits = self.limits();
        let pace = Pace::new(limits, patience);
        let stream = EventStream::new(response, pace, limits.message_bytes);
        let resume = (!is_modern(revision)).then(|| {
            let get = Get::new(self.clone(), Purpose::Reply, revision, session, pace);
            (get, Reconnect::new(limits))
        });
        // A stream that stays open must not take the place of a request that ends.
        let permit = Some(permit).filter(|_| patience == Patience::Normal);
        let (line, tasks, request) = (self.clone(), self.tasks.clone(), id.clone());
        let started = self.tasks.read_reply(id.clone(), async move {
            let limits = Limits::default();
            let reply = ReplyStream {
                request: id,
                inbox: &line.inbox,
                limits,
                resume,
            };
            reply
                .run(stream, move || {
                    tasks.answered(&request);
                    drop(permit);
                })
                .await;
        });
        if started {
            Ok(())
        } else {
            Err(TransportError::Closed)
        }
    }

    /// Opens the stream on which the server speaks unasked; returns when the server has said
    /// whether there is one, or when that takes too long.
    async fn start_listening(
        self: &Arc<Self>,
        revision: Option<Revision>,
        session: Option<SessionId>,
    ) {
        let (ready, is_ready) = oneshot::channel();
        let pace = Pace::new(self.limits(), Patience::Stream);
        let get = Get::new(
            self.clone(),
            Purpose::Listen,
            revision,
            session.clone(),
            pace,
        );
        let plan = Reconnect::new(self.limits());
        let line = self.clone();
        self.tasks.listen(async move {
            let over = listen(get, plan, &line.inbox, &line.poke, ready).await;
            if let (Over::SessionGone, Some(session)) = (over, session) {
                line.expire(&session);
            }
        });
        let _ = timeout(self.limits().listen_time, is_ready).await;
    }

    /// Ends the session, waits for the tasks, and says that nothing more will come.
    async fn say_goodbye(&self) {
        let session = self.session.lock().take();
        if let Some(session) = session {
            let headers = headers::of_connection(*self.agreed.lock(), Some(&session));
            let ask = self.ask(Method::DELETE, headers, Vec::new(), 0);
            let _ = timeout(self.limits().close_time, self.exchange.send(&ask)).await;
        }
        self.tasks.gone().await;
        self.inbox.end(Closed::clean());
    }
}

/// Opens an event stream by GET.
#[derive(Debug)]
struct Get {
    line: Arc<Line>,
    purpose: Purpose,
    revision: Option<Revision>,
    session: Option<SessionId>,
    pace: Pace,
    /// Refusals that may still lead to an authorization: one for the whole stream, for nobody
    /// asked for it.
    challenges: AtomicU32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Purpose {
    /// The rest of a reply.
    Reply,
    /// What the server says unasked.
    Listen,
}

impl Get {
    fn new(
        line: Arc<Line>,
        purpose: Purpose,
        revision: Option<Revision>,
        session: Option<SessionId>,
        pace: Pace,
    ) -> Self {
        Self {
            line,
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
        let limits = self.line.limits();
        let headers = headers::of_stream(self.revision, self.session.as_ref(), last_event_id);
        let challenges = self.challenges.swap(0, Relaxed);
        let ask = self.line.ask(Method::GET, headers, Vec::new(), challenges);
        let response = self
            .line
            .exchange
            .send(&ask)
            .await
            .map_err(|failed| failed.error)?;
        if let (404, Purpose::Reply, Some(session)) =
            (response.status().as_u16(), self.purpose, &self.session)
        {
            self.line.expire(session);
            return Err(TransportError::SessionExpired);
        }
        if !response.status().is_success() {
            return Err(refusal(response, limits).await.error);
        }
        if !is_event_stream(&response) {
            return Err(TransportError::Malformed {
                detail: format!("its event stream is of type '{}'", media_type(&response)),
            });
        }
        Ok(EventStream::new(response, self.pace, limits.message_bytes))
    }
}
