//! Being told of changes: what the eras do in two ways, as one stream.
//!
//! Up to 2025-11-25 lists announce their changes unasked and resources are subscribed to one by
//! one; later one request per subscription stays open. Either way a subscription goes on for as
//! long as somebody holds it: it is renewed when the server forgets it, and whoever listens is
//! told that something may have been missed.

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::Method;
use mcp_jsonrpc::model::{
    EmptyResult, Subscribe, SubscribeParams, SubscriptionFilter, SubscriptionsListen,
    SubscriptionsListenParams, Unsubscribe,
};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;

use crate::call::{Attempt, Miss};
use crate::client::Client;
use crate::clock::Allowance;
use crate::dialect::Extras;
use crate::error::CallError;
use crate::event::Event;
use crate::link::Link;
use crate::mailbox::Mailbox;
use crate::request::Call;

/// The first wait before a lost subscription is renewed; it doubles from there.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Where the doubling stops.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long a server may take to say that it listens.
const ACKNOWLEDGE: Duration = Duration::from_secs(30);
/// As good as for ever.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// What to be told of.
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
    /// Changes of the list of tools.
    #[must_use]
    pub fn with_tools(mut self) -> Self {
        self.tools = true;
        self
    }

    /// Changes of the list of prompts.
    #[must_use]
    pub fn with_prompts(mut self) -> Self {
        self.prompts = true;
        self
    }

    /// Changes of the list of resources.
    #[must_use]
    pub fn with_resources(mut self) -> Self {
        self.resources = true;
        self
    }

    /// Changes of this resource.
    #[must_use]
    pub fn with_resource(mut self, uri: impl Into<String>) -> Self {
        self.uris.push(uri.into());
        self
    }

    fn wants(&self, event: &Event) -> bool {
        match event {
            Event::ToolsChanged => self.tools,
            Event::PromptsChanged => self.prompts,
            Event::ResourcesChanged => self.resources,
            // It may name a part of what was subscribed to.
            Event::ResourceUpdated { .. } => !self.uris.is_empty(),
            Event::Gap => true,
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

/// Changes a server tells of, as they come. Ends when it is dropped, when the server ends it, or
/// with the connection, which it keeps open.
#[derive(Debug)]
pub struct Subscription {
    client: Client,
    subscriber: Arc<Subscriber>,
    keeper: AbortHandle,
}

/// What the reader knows of a subscription.
#[derive(Debug)]
pub(crate) struct Subscriber {
    interests: Interests,
    mailbox: Mutex<Mailbox>,
    over: Mutex<bool>,
    bell: Notify,
}

/// How one stretch of a subscription ended.
enum End {
    /// The server is done with it, or the connection is: it stays ended.
    Final,
    /// It was lost and can be renewed.
    Lost,
}

impl Client {
    /// Subscribes, and returns when the server listens.
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server cannot be subscribed to; else as for any call.
    pub async fn subscribe(&self, interests: Interests) -> Result<Subscription, CallError> {
        let link = self.link();
        let subscriber = Arc::new(Subscriber {
            mailbox: Mutex::new(Mailbox::new(link.settings.limits.queued_events())),
            over: Mutex::new(false),
            bell: Notify::new(),
            interests,
        });
        link.subscribers.lock().push(Arc::downgrade(&subscriber));
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
    /// The next change; `None` when the subscription has ended. [`Event::Gap`] means that changes
    /// may have been missed: fetch anew what you depend on.
    ///
    /// Cancel-safe: a dropped future loses nothing.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            let rung = self.subscriber.bell.notified();
            if let Some(event) = self.subscriber.mailbox.lock().pop() {
                return Some(event);
            }
            if *self.subscriber.over.lock() {
                return None;
            }
            rung.await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.keeper.abort();
        let client = self.client.clone();
        let mut others = client.link().subscribers.lock();
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

fn wants_uri(other: &std::sync::Weak<Subscriber>, uri: &String) -> bool {
    let other = other.upgrade();
    other.is_some_and(|other| other.interests.uris.contains(uri))
}

impl Subscriber {
    fn tell(&self, event: Event) {
        self.mailbox.lock().push(event);
        self.bell.notify_one();
    }
}

impl Link {
    /// Hands a change to the subscriptions that want it.
    pub(crate) fn tell_subscribers(&self, event: &Event) {
        for subscriber in self.subscribers.lock().iter() {
            if let Some(subscriber) = subscriber.upgrade()
                && subscriber.interests.wants(event)
            {
                subscriber.tell(event.clone());
            }
        }
    }
}

/// Keeps a subscription going until it is over for good.
async fn keep(
    client: Client,
    subscriber: Arc<Subscriber>,
    ready: oneshot::Sender<Result<(), CallError>>,
) {
    let ready = Mutex::new(Some(ready));
    let (mut wait, up) = (FIRST_WAIT, Mutex::new(false));
    let on_ready = || {
        *up.lock() = true;
        if let Some(ready) = ready.lock().take() {
            let _ = ready.send(Ok(()));
        }
    };
    loop {
        let stretch = match client.revision().is_modern() {
            true => client.listen(&subscriber.interests, &on_ready).await,
            false => client.follow(&subscriber.interests, &on_ready).await,
        };
        let lost = match stretch {
            Ok(End::Final) => break,
            Ok(End::Lost) => true,
            Err(error) => match ready.lock().take() {
                // Whoever subscribes is told; there is nothing to renew yet.
                Some(ready) => {
                    let _ = ready.send(Err(error));
                    break;
                }
                None => client.is_alive(),
            },
        };
        if !lost || !client.is_alive() {
            break;
        }
        subscriber.tell(Event::Gap);
        if std::mem::take(&mut *up.lock()) {
            wait = FIRST_WAIT;
        }
        tokio::time::sleep(wait).await;
        wait = wait.saturating_mul(2).min(LONGEST_WAIT);
    }
    *subscriber.over.lock() = true;
    subscriber.bell.notify_one();
}

impl Client {
    /// One `subscriptions/listen`, from its beginning to its end.
    async fn listen(
        &self,
        interests: &Interests,
        on_ready: &(dyn Fn() + Send + Sync),
    ) -> Result<End, CallError> {
        let link = self.link();
        let params = SubscriptionsListenParams::new(interests.filter());
        let attempt = Attempt {
            method: SubscriptionsListen::NAME,
            params: &params,
            extras: Extras::default(),
            name: None,
            headers: Vec::new(),
            allowance: Allowance {
                idle: ACKNOWLEDGE,
                total: FOR_EVER,
            },
            on_progress: None,
            on_acknowledged: Some(on_ready),
        };
        match link
            .exchange(&link.session().dialect, &attempt, &mut None)
            .await
        {
            Ok(_) => Ok(End::Final),
            Err(Miss::Lost { .. }) if !link.is_over() => Ok(End::Lost),
            Err(miss) => Err(miss.into_error(self.call_name(SubscriptionsListen::NAME))),
        }
    }

    /// Subscribes to each resource, until the server forgets us.
    async fn follow(
        &self,
        interests: &Interests,
        on_ready: &(dyn Fn() + Send + Sync),
    ) -> Result<End, CallError> {
        let link = self.link();
        let renewed = link.renewed.notified();
        let session = link.session();
        if !interests.uris.is_empty() {
            self.require(Subscribe::NAME, "resources.subscribe", |can| {
                let resources = can.resources.as_ref();
                resources.is_some_and(|resources| resources.subscribe == Some(true))
            })?;
        }
        for uri in &interests.uris {
            self.resource_call(Subscribe::NAME, uri).await?;
        }
        on_ready();
        // A call above may have met a server that forgot us, and made friends again.
        if link.session().number == session.number {
            tokio::select! {
                () = renewed => {}
                () = link.over() => return Ok(End::Final),
            }
        }
        Ok(End::Lost)
    }

    async fn resource_call(&self, method: &'static str, uri: &str) -> Result<(), CallError> {
        let params = SubscribeParams::new(uri);
        let call = Call::new(method, &params).about(uri);
        self.call::<EmptyResult>(&call).await.map(drop)
    }
}
