//! What the tasks of one connection share: the way to the server, the session, the inbox.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use bytes::Bytes;
use mcp_jsonrpc::{Limits, RequestId, Revision, likely_answer};
use parking_lot::Mutex;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response};
use tokio::sync::{Notify, OwnedSemaphorePermit, oneshot};
use tokio::time::timeout;

use crate::http::body::{Body, Pace};
use crate::http::get::{Get, Purpose};
use crate::http::headers::{self, SESSION, is_modern};
use crate::http::lanes::Lane;
use crate::http::listen::{Over, listen};
use crate::http::reconnect::Reconnect;
use crate::http::refusal::{discard, refusal};
use crate::http::reply::{Reply, blames_session, check_json};
use crate::http::resume::{Direct, ReplyStream};
use crate::http::session::{Session, SessionId};
use crate::http::tasks::Tasks;
use crate::http::turns::Turns;
use crate::http::{Ask, EventStream, Exchange, HttpLimits};
use crate::inbox::Inbox;
use crate::{
    Closed, Delivery, Incoming, Outgoing, OutgoingKind, Patience, SendError, TransportError,
    stand_back,
};

#[derive(Debug)]
pub(crate) struct Link {
    exchange: Arc<Exchange>,
    session: Mutex<Session>,
    /// The legacy revision in force, for requests that carry no message.
    agreed: Mutex<Option<Revision>>,
    inbox: Inbox,
    tasks: Arc<Tasks>,
    turns: Turns,
    /// Told whenever the server was reachable.
    poke: Notify,
}

/// A request whose reply begins.
struct Request {
    id: RequestId,
    patience: Patience,
    revision: Option<Revision>,
    session: Option<SessionId>,
    permit: OwnedSemaphorePermit,
    lane: Lane,
}

impl Link {
    pub(crate) fn new(exchange: Arc<Exchange>) -> Self {
        let limits = exchange.limits();
        Self {
            inbox: Inbox::new(limits.queued_messages, limits.queued_bytes),
            exchange,
            session: Mutex::default(),
            agreed: Mutex::default(),
            tasks: Arc::new(Tasks::new()),
            turns: Turns::new(),
            poke: Notify::new(),
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

    /// Ends everything that runs.
    pub(crate) fn abort(&self) {
        self.tasks.abort_all();
    }

    /// Sends a request; returns its answer, or sees to it that its reply reaches the inbox.
    pub(crate) async fn request(
        self: &Arc<Self>,
        message: Outgoing,
        is_awaited: bool,
        permit: OwnedSemaphorePermit,
        lane: Lane,
    ) -> Result<Option<Vec<u8>>, SendError> {
        let OutgoingKind::Request {
            id,
            method,
            patience,
        } = &message.kind
        else {
            return Ok(None);
        };
        let (id, patience, revision) = (id.clone(), *patience, message.revision);
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
            patience,
            revision,
            session,
            permit,
            lane,
        };
        match Reply::of(response).await.map_err(sent)? {
            Reply::Json(response) => self.take_json(request, response).await.map_err(sent),
            Reply::Events(response) => {
                let taken = self.take_events(request, is_awaited, response).await;
                taken.map_err(sent)
            }
        }
    }

    /// Sends what wants no reply.
    pub(crate) async fn tell(self: &Arc<Self>, message: Outgoing) -> Result<(), SendError> {
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
        let limits = self.limits();
        let time = match message.kind {
            OutgoingKind::Request { .. } => limits.first_byte_time,
            _ => limits.acknowledge_time,
        };
        let ask = Ask {
            body: Bytes::from(message.body),
            time,
            ..self.ask(Method::POST, headers, limits.challenges)
        };
        let response = self.exchange.send(&ask).await?;
        if response.status().is_success() {
            self.poke.notify_one();
            return Ok(response);
        }
        // Apart, like all that is rare, so that the usual request stays small.
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
    pub(crate) fn ask(&self, method: Method, headers: HeaderMap, challenges: u32) -> Ask<'_> {
        Ask {
            method,
            url: &self.exchange.config().url,
            headers,
            body: Bytes::new(),
            time: self.limits().first_byte_time,
            challenges,
        }
    }

    /// The server does not know this session any more.
    pub(crate) fn expire(&self, session: &SessionId) {
        self.session.lock().expire(session);
    }

    async fn take_json(
        &self,
        request: Request,
        response: Response,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        let body = Body::new(response, Pace::new(self.limits(), request.patience));
        let mut turn = self.turns.reader();
        let body = body.whole(self.limits().message_bytes, &mut turn).await?;
        check_json(&body)?;
        if likely_answer(&body).is_some_and(|(id, _)| request.id == id.into()) {
            return Ok(Some(body));
        }
        // Apart, like all that is rare.
        Box::pin(self.deliver(request.id, body)).await;
        Ok(None)
    }

    /// Hands on the one message there is in a reply, answer or not.
    pub(crate) async fn deliver(&self, request: RequestId, body: Vec<u8>) {
        let stream = Some(request.clone());
        self.inbox.push(Incoming::Message { body, stream }).await;
        let error = Arc::new(TransportError::NoAnswer {
            detail: "the reply holds another message".into(),
        });
        self.inbox.push(Incoming::Ended { request, error }).await;
    }

    /// Returns the answer if it comes with the head of the reply and is awaited here. What else
    /// there is reaches the inbox.
    async fn take_events(
        self: &Arc<Self>,
        request: Request,
        is_awaited: bool,
        response: Response,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        let Request {
            id,
            patience,
            revision,
            session,
            permit,
            lane,
        } = request;
        let limits = self.limits();
        let pace = Pace::new(limits, patience);
        let stream = EventStream::new(response, pace, limits.message_bytes).in_turns(&self.turns);
        let resume = (!is_modern(revision)).then(|| {
            let get = Get::new(self.clone(), Purpose::Reply, revision, session, pace);
            (get, Reconnect::new(limits, limits.resumptions))
        });
        // A stream that stays open must not take the place of a request that ends.
        let permit = Some(permit).filter(|_| patience == Patience::Normal);
        let decoding = Limits::default().with_message_bytes(limits.message_bytes);
        let (link, request) = (self.clone(), id.clone());
        let (direct, mut answer) = oneshot::channel();
        if !is_awaited {
            answer.close();
        }
        let mut reading = Box::pin(async move {
            let (inbox, tasks) = (&link.inbox, &link.tasks);
            let reply = ReplyStream {
                request: request.clone(),
                inbox,
                direct: Direct::Open(direct),
                limits: decoding,
                resume,
            };
            let on_answer = || {
                tasks.answered(&request);
                drop(permit);
            };
            reply.run(stream, on_answer).await;
            drop(lane);
        });
        // A reply that has come with its head needs no task of its own.
        let mut is_over = is_ready(reading.as_mut());
        answer.close();
        let answer = answer.try_recv().ok();
        if !is_over && answer.is_some() {
            // Its end may have come too, but had to wait until the answer was taken.
            stand_back().await;
            is_over = is_ready(reading.as_mut());
        }
        if is_over || self.tasks.read_reply(id, reading) || answer.is_some() {
            Ok(answer)
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
        let plan = Reconnect::new(self.limits(), self.limits().reconnects);
        let link = self.clone();
        self.tasks.listen(async move {
            let over = listen(get, plan, &link.inbox, &link.poke, ready).await;
            if let (Over::SessionGone, Some(session)) = (over, session) {
                link.expire(&session);
            }
        });
        let _ = timeout(self.limits().listen_time, is_ready).await;
    }

    /// Ends the session, waits for the tasks, and says that nothing more will come.
    pub(crate) async fn say_goodbye(&self) {
        let session = self.session.lock().take();
        if let Some(session) = session {
            let headers = headers::of_connection(*self.agreed.lock(), Some(&session));
            let ask = self.ask(Method::DELETE, headers, 0);
            let _ = timeout(self.limits().close_time, self.exchange.send(&ask)).await;
        }
        self.tasks.gone().await;
        self.inbox.end(Closed::clean());
    }
}

/// Whether it is done without waiting.
fn is_ready(work: Pin<&mut impl Future<Output = ()>>) -> bool {
    work.poll(&mut Context::from_waker(Waker::noop()))
        .is_ready()
}
