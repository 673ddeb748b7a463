//! The task that maintains one subscription: it establishes it, and re-establishes it when it is lost.

use std::sync::Arc;

use mcp_jsonrpc::model::{
    EmptyResult, Subscribe, SubscribeParams, SubscriptionsListen, SubscriptionsListenParams,
};
use mcp_jsonrpc::{ErrorCode, Method};
use mcp_transport::{Delivery, TransportError};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::renewal::Renewal;
use super::{Interests, Subscriber};
use crate::call::error::CallError;
use crate::call::exchange::{Attempt, RequestFailure};
use crate::call::request::Call;
use crate::client::Client;
use crate::dialect::Extras;
use crate::features::event::ClientEvent;

/// Called when the server has acknowledged a subscription.
type OnAcknowledged<'a> = &'a (dyn Fn() + Send + Sync);

/// Maintains a subscription until its final end. `established` receives the outcome of the first attempt as soon as it
/// is known.
pub(super) async fn keep(
    client: Client,
    subscriber: Arc<Subscriber>,
    established: oneshot::Sender<Result<(), CallError>>,
) {
    let mut renewal = Renewal::new(client.connection().settings.limits.resubscribe_attempts());
    let first = Mutex::new(Some(established));
    loop {
        let acknowledged = Mutex::new(None);
        let on_acknowledged = || {
            *acknowledged.lock() = Some(Instant::now());
            match first.lock().take() {
                Some(established) => drop(established.send(Ok(()))),
                // Changes between the loss and now were not announced.
                None => subscriber.tell(ClientEvent::Gap),
            }
        };
        let ended = client.stay(&subscriber, &on_acknowledged).await;
        if let Some(established) = first.lock().take() {
            let error = ended.err().unwrap_or_else(|| CallError::InvalidReply {
                call: client.call_name(SubscriptionsListen::NAME),
                detail: "it ended the subscription without acknowledging it".to_owned(),
            });
            // No subscription was established: there is nothing to maintain.
            let _ = established.send(Err(error));
            return subscriber.end(None);
        }
        let Err(error) = ended else {
            return subscriber.end(None);
        };
        let acknowledged = acknowledged.into_inner();
        if acknowledged.is_some() {
            subscriber.tell(ClientEvent::Gap);
        }
        let wait = renewal.next(acknowledged.map(|at| at.elapsed()));
        if let Some(wait) = wait.filter(|_| client.is_alive() && !is_final(&error)) {
            tracing::debug!(server = %client.name(), %error, ?wait, "a subscription was lost");
            tokio::select! {
                () = tokio::time::sleep(wait) => continue,
                // The error that ended the subscription takes precedence.
                () = client.connection().over() => {}
            }
        }
        tracing::debug!(server = %client.name(), %error, "a subscription ended");
        return subscriber.end(Some(error));
    }
}

/// Whether another attempt would fail in the same way.
fn is_final(error: &CallError) -> bool {
    match error {
        CallError::Unauthorized { .. }
        | CallError::Unsupported { .. }
        | CallError::Closed { .. }
        | CallError::InvalidRequest { .. } => true,
        CallError::Peer { error, .. } => error.code == ErrorCode::METHOD_NOT_FOUND,
        _ => false,
    }
}

impl Client {
    /// One attempt, from beginning to end: `Ok` if the server ended it normally.
    async fn stay(
        &self,
        subscriber: &Subscriber,
        on_acknowledged: OnAcknowledged<'_>,
    ) -> Result<(), CallError> {
        match self.revision().is_modern() {
            true => self.listen(subscriber, on_acknowledged).await,
            false => self.follow(&subscriber.interests, on_acknowledged).await,
        }
    }

    /// One `subscriptions/listen`.
    async fn listen(
        &self,
        subscriber: &Subscriber,
        on_acknowledged: OnAcknowledged<'_>,
    ) -> Result<(), CallError> {
        let (connection, snapshot) = (self.connection(), self.connection().snapshot());
        let params = SubscriptionsListenParams::new(subscriber.interests.filter());
        let attempt = Attempt {
            method: SubscriptionsListen::NAME,
            params: &params,
            extras: Extras::default(),
            name: None,
            headers: Vec::new(),
            deadlines: self.deadlines(&snapshot.tuning),
            on_progress: None,
            on_log: None,
            on_acknowledged: Some(on_acknowledged),
            noted_id: Some(&subscriber.id),
        };
        let dialect = &snapshot.session.dialect;
        let exchanged = connection.exchange(dialect, &attempt, &mut None).await;
        match exchanged.and_then(|body| body.result().map(drop)) {
            Ok(()) | Err(RequestFailure::Cancelled) => Ok(()),
            Err(failure) => {
                let failure = connection.explain(failure);
                Err(failure.into_error(self.call_name(SubscriptionsListen::NAME)))
            }
        }
    }

    /// Subscribes to each resource, until the server loses the session.
    async fn follow(
        &self,
        interests: &Interests,
        on_acknowledged: OnAcknowledged<'_>,
    ) -> Result<(), CallError> {
        let connection = self.connection();
        let renewed = connection.renewed.notified();
        let session = connection.session();
        if !interests.uris.is_empty() {
            self.require(Subscribe::NAME, "resources.subscribe", |can| {
                let resources = can.resources.as_ref();
                resources.is_some_and(|resources| resources.subscribe == Some(true))
            })?;
        }
        for uri in &interests.uris {
            self.resource_call(Subscribe::NAME, uri).await?;
        }
        on_acknowledged();
        // A call above may have repeated the handshake.
        if connection.session().number == session.number {
            tokio::select! {
                () = renewed => {}
                () = connection.over() => {}
            }
        }
        let call = self.call_name(Subscribe::NAME);
        let error = match connection.is_over() {
            true => connection
                .end_error()
                .unwrap_or_else(|| Arc::new(TransportError::Closed)),
            false => Arc::new(TransportError::SessionExpired),
        };
        let delivery = Delivery::Sent;
        Err(RequestFailure::Lost { error, delivery }.into_error(call))
    }

    pub(super) async fn resource_call(
        &self,
        method: &'static str,
        uri: &str,
    ) -> Result<(), CallError> {
        let params = SubscribeParams::new(uri);
        let call = Call::new(method, &params).about(uri);
        self.call::<EmptyResult>(&call).await.map(drop)
    }
}
