//! One client on one duplex channel: stdio, HTTP+SSE, or an in-memory pair. Both eras share the channel.

#[cfg(feature = "stdio")]
pub(crate) mod lines;
pub(crate) mod outlet;

use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::model::{RootsListChanged, SubscriptionsListen};
use mcp_jsonrpc::{
    DecodeError, ErrorCode, ErrorObject, Incoming, MessageRef, Method as _,
    NotificationMethod as _, RequestId, Side, decode,
};
use mcp_transport::{Outgoing, Transport};
use tokio::task::JoinSet;

use crate::dispatch::era;
use crate::dispatch::in_flight::InFlight;
use crate::dispatch::{Exchange, Reply, malformed, owned};
use crate::handler::caller::Caller;
use crate::handler::context::ClientFacts;
use crate::notifier::queue::{Batch, Queue};
use crate::notifier::{Listening, Subscribers};
use crate::pipe::outlet::Outlet;
use crate::server::shared::Shared;
use crate::session::Session;

/// Whole messages from one client.
#[async_trait]
pub(crate) trait Input: Send + 'static {
    async fn recv(&mut self) -> Received;
}

/// Whole messages to one client.
#[async_trait]
pub(crate) trait Output: Send + 'static {
    /// Sends messages in order; `false` once the client is gone.
    async fn send(&mut self, messages: Vec<Vec<u8>>) -> bool;
}

/// What comes from a client.
pub(crate) enum Received {
    Message(Vec<u8>),
    /// A message over the limit was discarded.
    TooLarge,
    End,
}

/// Either half of a transport of `mcp-transport`, seen from the server's end.
pub(crate) struct TransportHalf<T>(pub(crate) Arc<T>);

#[async_trait]
impl<T: Transport + 'static> Input for TransportHalf<T> {
    async fn recv(&mut self) -> Received {
        use mcp_transport::Incoming;
        loop {
            match self.0.recv().await {
                Incoming::Message { body, .. } => return Received::Message(body),
                Incoming::TooLarge { .. } => return Received::TooLarge,
                Incoming::Closed(_) => return Received::End,
                _ => {}
            }
        }
    }
}

#[async_trait]
impl<T: Transport + 'static> Output for TransportHalf<T> {
    async fn send(&mut self, messages: Vec<Vec<u8>>) -> bool {
        for body in messages {
            // As a request: those wait for room, and nothing of ours may be lost.
            let message = Outgoing::request(RequestId::from(0), "", body);
            if self.0.send(message).await.is_err() {
                return false;
            }
        }
        true
    }
}

/// The state of one connection.
struct Connection {
    shared: Arc<Shared>,
    caller: Option<Arc<Caller>>,
    queue: Arc<Queue>,
    session: Option<Arc<Session>>,
    /// The session's part in announcements.
    listening: Option<Listening>,
    in_flight: Arc<InFlight>,
    tasks: JoinSet<()>,
    /// The requests that only end with their client.
    subscriptions: JoinSet<()>,
}

/// Serves until the client is gone. Whatever still runs is dropped then.
pub(crate) async fn serve(
    shared: &Arc<Shared>,
    caller: Option<Arc<Caller>>,
    mut input: impl Input,
    mut output: impl Output,
) {
    let queue = Arc::new(Queue::new(shared.limits.queue_bytes()));
    let mut connection = Connection {
        shared: Arc::clone(shared),
        caller,
        queue: Arc::clone(&queue),
        session: None,
        listening: None,
        in_flight: Arc::default(),
        tasks: JoinSet::new(),
        subscriptions: JoinSet::new(),
    };
    let write = async {
        while let Some(messages) = queue.next().await {
            if !output.send(messages).await {
                break;
            }
        }
    };
    let read = async {
        loop {
            // Finished tasks must not pile up.
            while connection.tasks.try_join_next().is_some() {}
            while connection.subscriptions.try_join_next().is_some() {}
            match input.recv().await {
                Received::Message(bytes) => connection.receive(&bytes).await,
                Received::TooLarge => {
                    let limit = connection.shared.limits.message_bytes();
                    let message = format!("message too large: the limit is {limit} bytes");
                    let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, message);
                    connection
                        .queue
                        .push_response(Reply::error(None, &error).body)
                        .await;
                }
                Received::End => break,
            }
        }
        // What was asked before the end is answered, as long as the client reads.
        connection.finish().await;
    };
    let ended = tokio::select! {
        () = read => true,
        () = write => false,
    };
    // The last responses.
    let rest = queue.take();
    if ended && !rest.is_empty() {
        output.send(rest).await;
    }
}

impl Connection {
    async fn receive(&mut self, bytes: &[u8]) {
        match decode(bytes, &self.shared.limits.decoding()) {
            Ok(Incoming::Single(message)) => self.message(message, None).await,
            Ok(Incoming::Batch(messages)) => {
                let batches = |session: &Arc<Session>| session.client.revision.has_batches();
                if !self.session.as_ref().is_some_and(batches) {
                    let error =
                        ErrorObject::new(ErrorCode::INVALID_REQUEST, "batches are not supported");
                    self.queue
                        .push_response(Reply::error(None, &error).body)
                        .await;
                    return;
                }
                let batch = Arc::new(Batch::new(Arc::clone(&self.queue)));
                for message in messages {
                    match message {
                        Ok(message) => self.message(message, Some(&batch)).await,
                        Err(error) => batch.add(malformed(&error).body),
                    }
                }
            }
            Err(error) => self.refuse(&error).await,
        }
    }

    async fn refuse(&self, error: &DecodeError) {
        // An answer that cannot be read is not answered, but its question ends.
        if let (Side::Answers, Some(id), Some(session)) = (error.side(), error.id(), &self.session)
        {
            let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, error.to_string());
            session.peer.answer(id, Err(error));
            return;
        }
        self.queue.push_response(malformed(error).body).await;
    }

    async fn message(&mut self, message: MessageRef<'_>, batch: Option<&Arc<Batch>>) {
        match message {
            MessageRef::Response {
                id: Some(id),
                outcome,
            } => {
                if let Some(session) = &self.session {
                    session.peer.answer(&id, outcome.map(Into::into));
                }
            }
            MessageRef::Response { id: None, .. } => {}
            MessageRef::Notification { method, .. } if method == RootsListChanged::NAME => {
                if let Some(session) = &self.session {
                    session.roots_changed(&self.shared);
                }
            }
            MessageRef::Notification { method, params } => {
                if method == "notifications/cancelled" {
                    self.in_flight.cancel(params);
                }
            }
            MessageRef::Request { id, method, params } => {
                let reply = Replying {
                    queue: Arc::clone(&self.queue),
                    batch: batch.cloned(),
                };
                if let Err(refusal) = self.request(id, &method, params, &reply) {
                    reply.send(refusal.body).await;
                }
            }
        }
    }

    /// Starts a request; `Err` with what refuses it.
    fn request(
        &mut self,
        id: RequestId,
        method: &str,
        params: Option<mcp_jsonrpc::RawRef<'_>>,
        reply: &Replying,
    ) -> Result<(), Reply> {
        let refuse =
            |code, message: String| Err(Reply::error(Some(&id), &ErrorObject::new(code, message)));
        let meta = era::meta_of(params);
        let eras = self.shared.eras;
        if eras.has_modern() && era::is_modern(method, meta.as_ref(), None) {
            let client = era::modern_client(meta.as_ref())
                .map_err(|error| Reply::error(Some(&id), &error))?;
            return self.start(id, method, params, Arc::new(client), None, reply);
        }
        if method == "initialize" {
            if self.session.is_some() {
                return refuse(
                    ErrorCode::INVALID_REQUEST,
                    "the session is initialized already".into(),
                );
            }
            let caller = self.caller.as_deref();
            let params = owned(params);
            let (session, answer) = Session::open(&self.shared, caller, &id, params.as_ref())?;
            let outlet: Arc<dyn Outlet> = self.queue.clone();
            let interests = session.interests();
            self.listening = Subscribers::listen(&self.shared, interests, outlet);
            self.session = Some(session);
            return Err(answer);
        }
        match self.session.clone() {
            Some(session) => {
                let client = Arc::clone(&session.client);
                self.start(id, method, params, client, Some(session), reply)
            }
            None if method == "ping" => Err(Reply::ok(&id)),
            None if !eras.has_legacy() => Err(Reply::error(
                Some(&id),
                &era::modern_client(meta.as_ref())
                    .err()
                    .unwrap_or_else(|| era::unsupported_version("none")),
            )),
            None if method == "server/discover" => refuse(
                ErrorCode::METHOD_NOT_FOUND,
                format!("method not found: {method}"),
            ),
            None => refuse(
                ErrorCode::INVALID_REQUEST,
                "the session is not initialized: send initialize first".to_owned(),
            ),
        }
    }

    fn start(
        &mut self,
        id: RequestId,
        method: &str,
        params: Option<mcp_jsonrpc::RawRef<'_>>,
        client: Arc<ClientFacts>,
        session: Option<Arc<Session>>,
        reply: &Replying,
    ) -> Result<(), Reply> {
        let limit = self.shared.limits.in_flight();
        let exchange = Exchange {
            shared: Arc::clone(&self.shared),
            client,
            caller: self.caller.clone(),
            outlet: self.queue.clone(),
            session,
            id: id.clone(),
            method: method.to_owned(),
            params: owned(params),
        };
        let tasks = match method == SubscriptionsListen::NAME {
            true => &mut self.subscriptions,
            false => &mut self.tasks,
        };
        let reply = reply.clone();
        self.in_flight.start(&id, limit, |ticket| {
            tasks.spawn(async move {
                let place = ticket.take_place();
                let answer = exchange.respond().await;
                if place.leave() {
                    reply.send(answer.body).await;
                }
            })
        })
    }

    /// The client will send nothing more: lets what runs come to its end, for a while.
    async fn finish(&mut self) {
        if let Some(session) = &self.session {
            session.peer.close();
        }
        self.listening = None;
        // No one hears of changes any more.
        self.subscriptions.abort_all();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(self.shared.limits.drain_time(), all).await;
        self.tasks.abort_all();
    }
}

/// Where a request's response goes.
#[derive(Clone)]
struct Replying {
    queue: Arc<Queue>,
    batch: Option<Arc<Batch>>,
}

impl Replying {
    async fn send(&self, body: Vec<u8>) {
        match &self.batch {
            Some(batch) => batch.add(body),
            None => self.queue.push_response(body).await,
        }
    }
}
