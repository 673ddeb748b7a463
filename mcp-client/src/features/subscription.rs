//! Subscriptions: one stream of changes on top of the mechanisms of both eras.
//!
//! Up to 2025-11-25 changes of lists are announced unsolicited and resources are subscribed to one by one; in later
//! revisions one request per subscription stays open. Either way a subscription is acknowledged within a call's time
//! limits, or fails like a call. A lost one is re-established, within limits, and reports that changes may have been
//! missed.

mod keep;
mod renewal;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{SubscriptionFilter, SubscriptionsListen, Unsubscribe};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use self::keep::keep;
use crate::call::error::CallError;
use crate::client::Client;
use crate::connection::Connection;
use crate::connection::event_queue::EventQueue;
use crate::features::event::ClientEvent;

/// The changes to subscribe to.
///
/// ```
/// let interests = mcp_client::Interests::default().with_tools().with_resource("file:///a");
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Interests {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: Vec<String>,
}

impl Interests {
    /// Includes changes of the list of tools.
    #[must_use]
    pub fn with_tools(mut self) -> Self {
        self.tools = true;
        self
    }

    /// Includes changes of the list of prompts.
    #[must_use]
    pub fn with_prompts(mut self) -> Self {
        self.prompts = true;
        self
    }

    /// Includes changes of the list of resources.
    #[must_use]
    pub fn with_resources(mut self) -> Self {
        self.resources = true;
        self
    }

    /// Includes changes of this resource.
    #[must_use]
    pub fn with_resource(mut self, uri: impl Into<String>) -> Self {
        self.uris.push(uri.into());
        self
    }

    fn wants(&self, event: &ClientEvent) -> bool {
        match event {
            ClientEvent::ToolsChanged => self.tools,
            ClientEvent::PromptsChanged => self.prompts,
            ClientEvent::ResourcesChanged => self.resources,
            ClientEvent::ResourceUpdated { uri } => {
                self.uris.iter().any(|asked| covers(asked, uri))
            }
            ClientEvent::Gap => true,
            _ => false,
        }
    }

    fn filter(&self) -> SubscriptionFilter {
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = self.tools.then_some(true);
        filter.prompts_list_changed = self.prompts.then_some(true);
        filter.resources_list_changed = self.resources.then_some(true);
        filter.resource_subscriptions = (!self.uris.is_empty()).then(|| self.uris.clone());
        filter
    }
}

/// A [`Stream`] of changes. It ends when it is dropped, when the server ends it, when it is lost and cannot be
/// re-established, or with the connection, which it keeps open.
#[derive(Debug)]
pub struct Subscription {
    client: Client,
    subscriber: Arc<Subscriber>,
    keeper: AbortHandle,
}

/// The reader's side of a subscription.
#[derive(Debug)]
pub(crate) struct Subscriber {
    interests: Interests,
    /// The id of its `subscriptions/listen`; 0 for none, as in the legacy era.
    id: AtomicI64,
    events: Mutex<EventQueue>,
    /// Set at the end, with the reason unless the server ended it.
    ended: OnceLock<Option<CallError>>,
    /// The waker of the task that waits for the next event.
    waker: Mutex<Option<Waker>>,
}

impl Client {
    /// Subscribes, and returns when the server has acknowledged it, within a call's time limits.
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server does not support subscriptions; else as for any call.
    /// The first attempt is not repeated.
    pub async fn subscribe(&self, interests: Interests) -> Result<Subscription, CallError> {
        let connection = self.connection();
        let subscriber = Arc::new(Subscriber {
            events: Mutex::new(EventQueue::new(connection.settings.limits.queued_events())),
            ended: OnceLock::new(),
            waker: Mutex::new(None),
            id: AtomicI64::new(0),
            interests,
        });
        connection
            .subscribers
            .lock()
            .push(Arc::downgrade(&subscriber));
        let (ready, is_ready) = oneshot::channel();
        let keeper = tokio::spawn(keep(self.clone(), Arc::clone(&subscriber), ready));
        let subscription = Subscription {
            client: self.clone(),
            subscriber,
            keeper: keeper.abort_handle(),
        };
        match is_ready.await {
            Ok(outcome) => outcome.map(|()| subscription),
            Err(_) => Err(CallError::Closed {
                call: self.call_name(SubscriptionsListen::NAME),
            }),
        }
    }
}

impl Subscription {
    /// The next change; `None` when the subscription has ended, with the reason in [`error`](Self::error).
    /// [`ClientEvent::Gap`] means that changes may have been missed: fetch again what you depend on. It is delivered
    /// when a subscription is lost, and again when it is re-established.
    ///
    /// Waits for as long as the subscription lasts. Cancel-safe: a dropped future loses nothing.
    pub async fn next(&mut self) -> Option<ClientEvent> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<ClientEvent>> {
        let subscriber = &self.subscriber;
        // Stored before the queue is checked, so that no event is missed in between.
        *subscriber.waker.lock() = Some(cx.waker().clone());
        match subscriber.events.lock().pop() {
            Some(event) => Poll::Ready(Some(event)),
            None if subscriber.ended.get().is_some() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// The reason why the subscription ended; `None` while it lasts, and if the server ended it normally.
    ///
    /// A lost subscription is re-established up to
    /// [`ClientLimits::resubscribe_attempts`](crate::ClientLimits::resubscribe_attempts) times in a row; this is the
    /// last attempt's error. There are no further attempts after [`CallError::Unauthorized`].
    pub fn error(&self) -> Option<&CallError> {
        self.subscriber.ended.get()?.as_ref()
    }
}

impl Stream for Subscription {
    type Item = ClientEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ClientEvent>> {
        self.get_mut().poll_event(cx)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.keeper.abort();
        let client = self.client.clone();
        let mut others = client.connection().subscribers.lock();
        others.retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(&self.subscriber)));
        let uris = self.subscriber.interests.uris.iter();
        let unused: Vec<String> = uris
            .filter(|uri| !others.iter().any(|other| wants_uri(other, uri)))
            .cloned()
            .collect();
        drop(others);
        if client.revision().is_modern() || unused.is_empty() || !client.is_alive() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                for uri in unused {
                    let _ = client.resource_call(Unsubscribe::NAME, &uri).await;
                }
            });
        }
    }
}

/// Whether `updated` is the resource `asked` for, or a sub-resource, which a server may name instead.
fn covers(asked: &str, updated: &str) -> bool {
    updated.strip_prefix(asked).is_some_and(|rest| {
        rest.is_empty() || asked.ends_with('/') || rest.starts_with(['/', '?', '#'])
    })
}

fn wants_uri(other: &std::sync::Weak<Subscriber>, uri: &String) -> bool {
    let other = other.upgrade();
    other.is_some_and(|other| other.interests.uris.contains(uri))
}

impl Subscriber {
    fn tell(&self, event: ClientEvent) {
        self.events.lock().push(event);
        self.wake();
    }

    fn end(&self, error: Option<CallError>) {
        // Only the first end counts.
        let _ = self.ended.set(error);
        self.wake();
    }

    fn wake(&self) {
        let waiting = self.waker.lock().take();
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}

impl Connection {
    /// Delivers a change to the interested subscriptions; only to this one, if it names one.
    pub(crate) fn tell_subscribers(&self, event: &ClientEvent, subscription: Option<i64>) {
        for subscriber in self.subscribers.lock().iter() {
            if let Some(subscriber) = subscriber.upgrade()
                && subscription.is_none_or(|id| subscriber.id.load(Ordering::SeqCst) == id)
                && subscriber.interests.wants(event)
            {
                subscriber.tell(event.clone());
            }
        }
    }
}
