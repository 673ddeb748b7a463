//! The endpoint as a `tower` service.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body::Body;
use mcp_jsonrpc::{Incoming, MessageRef, decode};
use tokio::sync::Semaphore;

use super::event_stream::EventStream;
use super::guard::Guard;
#[cfg(feature = "sse")]
use super::legacy_sse::{Route, SseSessions};
use super::reply::{self, Accepts, HttpReply};
use super::sessions::Sessions;
use super::{headers, legacy, modern};
use crate::dispatch::era;
use crate::dispatch::guarded::{caught, caught_now, in_time};
use crate::dispatch::malformed;
use crate::handler::caller::Caller;
use crate::http::auth::{Authenticator, Denied};
use crate::server::Service;
use crate::server::shared::Shared;

/// After how long a reply begins as a stream although there is nothing to send yet, so that
/// clients and proxies see that the request is being handled.
pub(crate) const STREAM_AFTER: Duration = Duration::from_secs(1);

/// Streamable HTTP for a [`Service`](crate::Service): both eras at one endpoint.
///
/// It is a [`tower_service::Service`], for use with axum (`route_service`) and hyper; or use
/// [`serve`](crate::http::serve). Cheap to clone; clones share their sessions.
///
/// Only requests to loopback hosts are accepted until others are allowed: see [`allow_host`](Self::allow_host).
#[derive(Clone)]
pub struct HttpService {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    shared: Arc<Shared>,
    sessions: Arc<Sessions>,
    /// Room for modern requests.
    room: Arc<Semaphore>,
    #[cfg(feature = "sse")]
    sse: Option<Arc<SseSessions>>,
    guard: Guard,
    authenticator: Option<Arc<dyn Authenticator>>,
}

/// A request, without its body.
pub(crate) struct Subject<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) sessions: &'a Sessions,
    pub(crate) room: &'a Arc<Semaphore>,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) accepts: Accepts,
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) authenticator: Option<&'a dyn Authenticator>,
}

impl Subject<'_> {
    pub(crate) fn caller_id(&self) -> Option<&str> {
        self.caller.as_ref().map(|caller| caller.id.as_str())
    }

    /// The reply with the response of a stream: a challenge where its handler required more scopes.
    pub(crate) fn response(
        &self,
        stream: &EventStream,
        status: StatusCode,
        body: Bytes,
    ) -> HttpReply {
        let scopes = stream.missing_scopes();
        match self.authenticator.filter(|_| !scopes.is_empty()) {
            None => reply::json(status, body),
            Some(authenticator) => match caught_now(|| authenticator.insufficient_scope(&scopes)) {
                Ok(denied) => denied.challenged(reply::json(StatusCode::FORBIDDEN, body)),
                Err(_) => reply::json(StatusCode::FORBIDDEN, body),
            },
        }
    }
}

impl HttpService {
    /// Creates the endpoint for `service`.
    pub fn new(service: &Service) -> Self {
        let room = service.0.limits.requests().min(Semaphore::MAX_PERMITS);
        Self {
            inner: Arc::new(Inner {
                shared: Arc::clone(&service.0),
                sessions: Arc::new(Sessions::default()),
                room: Arc::new(Semaphore::new(room)),
                #[cfg(feature = "sse")]
                sse: None,
                guard: Guard::default(),
                authenticator: None,
            }),
        }
    }

    /// Allows requests to this host, and from its pages. Without a port.
    #[must_use]
    pub fn allow_host(mut self, host: &str) -> Self {
        Arc::make_mut(&mut self.inner).guard.allow_host(host);
        self
    }

    /// Allows requests to any host: for servers behind a proxy that checks the host.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        Arc::make_mut(&mut self.inner).guard.allow_any_host();
        self
    }

    /// Allows requests from pages of this origin, such as `https://app.example`.
    #[must_use]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        Arc::make_mut(&mut self.inner).guard.allow_origin(origin);
        self
    }

    /// Also serves HTTP+SSE, the transport of 2024-11-05: `GET` on a path that ends in `/sse` opens
    /// a session, and its messages are posted to the path that ends in `/messages` instead.
    #[cfg(feature = "sse")]
    #[must_use]
    pub fn legacy_sse(mut self) -> Self {
        Arc::make_mut(&mut self.inner).sse = Some(Arc::default());
        self
    }

    /// Requires every request to be authenticated.
    #[must_use]
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        Arc::make_mut(&mut self.inner).authenticator = Some(Arc::new(authenticator));
        self
    }

    /// The number of open legacy sessions.
    pub fn sessions(&self) -> usize {
        let open = self.inner.sessions.len();
        #[cfg(feature = "sse")]
        let open = open + self.inner.sse.as_ref().map_or(0, |sse| sse.len());
        open
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("info", &self.inner.shared.info)
            .field("guard", &self.inner.guard)
            .field("sessions", &self.sessions())
            .finish_non_exhaustive()
    }
}

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    type Response = HttpReply;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpReply, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move { Ok(inner.answer(request).await) })
    }
}

impl Inner {
    async fn answer<B>(&self, request: Request<B>) -> HttpReply
    where
        B: Body + Send,
        B::Data: Send,
    {
        let (parts, body) = request.into_parts();
        if let Err(why) = self.guard.check(&parts.uri, &parts.headers) {
            return reply::refusal(StatusCode::FORBIDDEN, why);
        }
        let mut caller = None;
        if let Some(authenticator) = &self.authenticator {
            let document = caught_now(|| authenticator.document(parts.uri.path()));
            if let Ok(Some(document)) = document
                && parts.method == Method::GET
            {
                return reply::json(StatusCode::OK, document);
            }
            let deciding = authenticator.authenticate(&parts.headers);
            let decided = caught(in_time(deciding, &self.shared.limits)).await;
            match decided.unwrap_or_else(|_| Err(Denied::unavailable())) {
                Ok(known) => caller = Some(Arc::new(known)),
                Err(denied) => return denied.into_reply(),
            }
        }
        let subject = Subject {
            shared: &self.shared,
            sessions: &self.sessions,
            room: &self.room,
            headers: &parts.headers,
            accepts: Accepts::of(&parts.headers),
            caller,
            authenticator: self.authenticator.as_deref(),
        };
        let has_sessions = self.shared.eras.has_legacy();
        #[cfg(feature = "sse")]
        if let (Some(sse), true) = (&self.sse, has_sessions) {
            match Route::of(&parts.method, &parts.uri) {
                Some(Route::Open(messages)) => return sse.open(&subject, &messages),
                Some(Route::Message(id)) => {
                    return match self.read(&subject, body).await {
                        Ok(message) => sse.message(&subject, id, &message).await,
                        Err(refusal) => *refusal,
                    };
                }
                None => {}
            }
        }
        match parts.method {
            Method::POST => self.post(&subject, body).await,
            Method::GET if has_sessions => legacy::get(&subject),
            Method::DELETE if has_sessions => legacy::delete(&subject),
            _ => {
                let mut reply =
                    reply::refusal(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
                let allowed = if has_sessions {
                    "GET, POST, DELETE"
                } else {
                    "POST"
                };
                reply
                    .headers_mut()
                    .insert(http::header::ALLOW, http::HeaderValue::from_static(allowed));
                reply
            }
        }
    }

    async fn post<B>(&self, subject: &Subject<'_>, body: B) -> HttpReply
    where
        B: Body + Send,
        B::Data: Send,
    {
        if !subject.accepts.json && !subject.accepts.events {
            let why = "accept application/json and text/event-stream";
            return reply::refusal(StatusCode::NOT_ACCEPTABLE, why);
        }
        let bytes = match self.read(subject, body).await {
            Ok(bytes) => bytes,
            Err(refusal) => return *refusal,
        };
        match decode(&bytes, &self.shared.limits.decoding()) {
            Ok(Incoming::Single(message)) => self.message(subject, message).await,
            Ok(Incoming::Batch(messages)) if self.shared.eras.has_legacy() => {
                legacy::batch(subject, messages).await
            }
            Ok(Incoming::Batch(_)) => {
                reply::refusal(StatusCode::BAD_REQUEST, "batches are not supported")
            }
            Err(error) => reply::json(StatusCode::BAD_REQUEST, malformed(&error).body),
        }
    }

    /// Reads a body of JSON.
    async fn read<B>(&self, subject: &Subject<'_>, body: B) -> Result<BytesMut, Box<HttpReply>>
    where
        B: Body + Send,
        B::Data: Send,
    {
        let refuse = |status, why: &str| Err(Box::new(reply::refusal(status, why)));
        if !reply::is_json(subject.headers) {
            let why = "the content type must be application/json";
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
        }
        let limits = &self.shared.limits;
        let reading = collect(body, limits.message_bytes());
        match tokio::time::timeout(limits.read_time(), reading).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(status)) => refuse(status, "the body cannot be read"),
            Err(_) => refuse(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"),
        }
    }

    async fn message(&self, subject: &Subject<'_>, message: MessageRef<'_>) -> HttpReply {
        let header = subject
            .headers
            .get(headers::VERSION)
            .and_then(|it| it.to_str().ok());
        let (method, params) = match &message {
            MessageRef::Request { method, params, .. }
            | MessageRef::Notification { method, params } => (method.as_ref(), *params),
            MessageRef::Response { .. } => ("", None),
        };
        let meta = era::meta_of(params);
        let is_modern = era::is_modern(method, meta.as_ref(), header.map(str::trim));
        let eras = self.shared.eras;
        match message {
            MessageRef::Request { id, method, params }
                if eras.has_modern()
                    && (is_modern || !eras.has_legacy())
                    && method != "initialize"
                    || is_modern && eras.has_modern() =>
            {
                modern::request(subject, id, &method, params, meta).await
            }
            // The modern era has none over HTTP; whatever it is, it changes nothing.
            MessageRef::Notification { .. } if is_modern && eras.has_modern() => {
                reply::empty(StatusCode::ACCEPTED)
            }
            message => legacy::message(subject, message).await,
        }
    }
}

/// Reads a body up to the limit.
async fn collect<B: Body + Send>(body: B, limit: usize) -> Result<BytesMut, StatusCode>
where
    B::Data: Send,
{
    let mut body = std::pin::pin!(body);
    if body.size_hint().lower() > limit as u64 {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let mut all = BytesMut::new();
    while let Some(frame) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let Ok(frame) = frame else {
            return Err(StatusCode::BAD_REQUEST);
        };
        if let Ok(mut data) = frame.into_data() {
            if all.len().saturating_add(data.remaining()) > limit {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            while data.has_remaining() {
                let chunk = data.chunk();
                all.extend_from_slice(chunk);
                let taken = chunk.len();
                data.advance(taken);
            }
        }
    }
    Ok(all)
}
