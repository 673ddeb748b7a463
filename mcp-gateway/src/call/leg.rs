//! One leg of a call: the connection it runs on, and the data from its client.

use std::sync::Arc;

use mcp_client::{Caller, Client, HostCapabilities};
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{ClientCapabilities, LoggingLevel, Meta, extension};
use mcp_manager::{CallOptions, Manager, ManagerError, ServerName};
use mcp_server::Context;
use tokio::sync::mpsc;

use crate::call::live_call::{Event, Outcome};
use crate::call::open_calls::{Asking, Channel, Holder, OpenCall};
use crate::call::questions::declared;
use crate::call::relay::{RELAY_TIME, Start, forwarded};
use crate::gateway::Shared;

/// What a leg brings along.
pub(crate) struct Leg {
    id: String,
    holder: Holder,
    caller: Option<String>,
    /// What the client declares to legacy servers, and to modern ones.
    can: HostCapabilities,
    capabilities: Arc<ClientCapabilities>,
    /// Questions in a result go to the client as such: it is modern.
    parks: bool,
    meta: Option<Meta>,
    level: Option<LoggingLevel>,
    wants_progress: bool,
    events: mpsc::Sender<Event>,
}

impl Leg {
    pub(crate) fn new(id: &str, cx: &Context, events: mpsc::Sender<Event>) -> Self {
        Self {
            id: id.to_owned(),
            holder: Holder::of(cx),
            caller: cx.caller().map(|caller| caller.id.clone()),
            can: declared(cx.client_capabilities()),
            capabilities: Arc::new(capabilities(cx)),
            parks: cx.session_id().is_none(),
            meta: forwarded(cx.meta()),
            level: cx.log_level(),
            wants_progress: cx.meta().progress_token().is_some(),
            events,
        }
    }

    /// Makes the call.
    pub(crate) async fn run<T>(
        self,
        shared: &Shared,
        server: &ServerName,
        start: Start<T>,
    ) -> Outcome<T> {
        let managed = connected(&shared.manager, server).await?;
        // A server that is connected for this call may ask something before it is made.
        let registered = |channel: Channel, client: &Client| {
            let call = OpenCall {
                channel,
                asking: Asking::of(client, self.parks),
                holder: self.holder.clone(),
                caller: self.caller.clone(),
                events: self.events.clone(),
            };
            shared.calls.register(&self.id, call)
        };
        let opening = |channel| registered(channel, &managed);
        let lease = shared
            .connections
            .lease(server, &managed, self.holder.clone(), self.can, opening)
            .await?;
        let client = lease.as_ref().map_or(&managed, |lease| &lease.client);
        let channel = match &lease {
            Some(lease) => lease.channel.clone(),
            None => Channel::Managed(server.as_str().to_owned()),
        };
        let _registration = registered(channel, client);
        let can_log = client.server().capabilities.logging.is_some();
        let level = self.level.filter(|_| can_log);
        if let Some(level) = level
            && let Err(error) = client.lower_log_level(level).await
        {
            tracing::debug!(%server, %error, "the log level was not set");
        }
        let revision = client.revision();
        let mut options = self.options(level);
        if let Some(lease) = &lease {
            options = options.with_connection(lease.client.clone());
        }
        drop(managed);
        Ok(start(options, revision).await?)
    }

    fn options(self, level: Option<LoggingLevel>) -> CallOptions {
        let mut options = CallOptions::default()
            .with_usual_idle_timeout(RELAY_TIME)
            .with_caller(Caller::new(&*self.id, &*self.id))
            .with_capabilities(self.capabilities);
        if self.parks {
            options = options.with_parking();
        }
        if let Some(meta) = self.meta {
            options = options.with_meta(meta);
        }
        if self.wants_progress {
            let events = self.events.clone();
            options = options.with_progress(move |report| {
                // A slow client misses reports, never the result.
                let _ = events.try_send(Event::Progress(report));
            });
        }
        if let Some(level) = level {
            let events = self.events;
            options = options.with_log_level(level).with_log(move |message| {
                let _ = events.try_send(Event::Log(message));
            });
        }
        options
    }
}

/// The managed connection to a server, once there is one.
pub(crate) async fn connected(
    manager: &Manager,
    server: &ServerName,
) -> Result<Client, ManagerError> {
    let client = |client: Client| std::future::ready(Ok(client));
    manager.call(server.as_str(), client).await
}

/// What a modern server learns of the client. One of the legacy era does not know of tasks: the
/// gateway waits for them.
pub(crate) fn capabilities(cx: &Context) -> ClientCapabilities {
    let mut all = cx.client_capabilities().clone();
    if cx.session_id().is_some() {
        all.tasks = None;
        let extensions = all.extensions.get_or_insert_default();
        extensions.insert(extension::TASKS, RawObject::empty());
    }
    all
}
