//! Requests to a client of the legacy era, and its responses.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mcp_jsonrpc::model::{CancelledParams, InputRequest, Meta};
use mcp_jsonrpc::{ErrorObject, RawJson, RequestId, encode_notification, encode_request};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::handler::ask::AskError;
use crate::pipe::outlet::Outlet;

type Outcome = Result<RawJson, ErrorObject>;

/// The client's end of one legacy session: the questions it has not answered yet.
#[derive(Default)]
pub(crate) struct Peer {
    next: AtomicI64,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    open: HashMap<RequestId, oneshot::Sender<Outcome>>,
    closed: bool,
}

/// One open question. Dropping it withdraws the question.
struct Open<'a> {
    peer: &'a Peer,
    outlet: &'a dyn Outlet,
    id: RequestId,
}

impl Peer {
    /// Sends the question by `outlet` and waits for its answer. The requests in flight, and the questions of each, bound
    /// the open ones.
    pub(crate) async fn ask(
        &self,
        question: &InputRequest,
        related: Option<&Meta>,
        outlet: &dyn Outlet,
        limit: Duration,
    ) -> Result<RawJson, AskError> {
        let id = RequestId::from(self.next.fetch_add(1, Ordering::Relaxed));
        let (sender, answer) = oneshot::channel();
        {
            let mut waiting = self.waiting.lock();
            if waiting.closed {
                return Err(AskError::Disconnected);
            }
            waiting.open.insert(id.clone(), sender);
        }
        let open = Open {
            peer: self,
            outlet,
            id,
        };
        let message = encoded(&open.id, question, related).ok_or_else(|| AskError::Invalid {
            reason: "the question cannot be written as JSON".to_owned(),
        })?;
        if !outlet.push(message) {
            return Err(AskError::Disconnected);
        }
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(error))) => Err(AskError::Rejected(error)),
            Ok(Err(_)) => Err(AskError::Disconnected),
            Err(_) => Err(AskError::TimedOut),
        }
    }

    /// Takes the client's answer; `false` if nothing of this id is open.
    pub(crate) fn answer(&self, id: &RequestId, outcome: Outcome) -> bool {
        let waiting = self.waiting.lock().open.remove(id);
        waiting.is_some_and(|sender| sender.send(outcome).is_ok())
    }

    /// Fails every open question, and all later ones.
    pub(crate) fn close(&self) {
        let mut waiting = self.waiting.lock();
        waiting.closed = true;
        waiting.open.clear();
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.peer.waiting.lock().open.remove(&self.id).is_none() {
            return;
        }
        let mut out = Vec::new();
        let params = CancelledParams::of(self.id.clone());
        if encode_notification(&mut out, "notifications/cancelled", &params).is_ok() {
            self.outlet.push(out);
        }
    }
}

fn encoded(id: &RequestId, question: &InputRequest, related: Option<&Meta>) -> Option<Vec<u8>> {
    // An input request is what a request has beside its envelope: `method` and `params`.
    let mut bare = serde_json::to_value(question).ok()?;
    let method = bare.get("method")?.as_str()?.to_owned();
    let mut params = bare.get_mut("params").map_or(Value::Null, Value::take);
    if let Some(related) = related {
        if params.is_null() {
            params = Value::Object(serde_json::Map::new());
        }
        params
            .as_object_mut()?
            .insert("_meta".to_owned(), serde_json::to_value(related).ok()?);
    }
    let mut out = Vec::new();
    encode_request(&mut out, id, &method, &params).ok()?;
    Some(out)
}

/// A shared handle.
pub(crate) type SharedPeer = Arc<Peer>;
