//! How a client comes to be: everything it needs is said up front.

use std::sync::Arc;

use mcp_jsonrpc::model::{Implementation, extension};
use mcp_jsonrpc::{OrderedMap, RawObject};
use mcp_transport::{Connect, TransportError};

use crate::client::Client;
use crate::client::limits::ClientLimits;
use crate::client::settings::Settings;
use crate::connect::error::ConnectError;
use crate::dialect::EraMode;
use crate::dialect::era_memory::EraMemory;
use crate::features::event::ClientEvent;
use crate::host::{Host, HostCapabilities};

/// Builds a [`Client`]. Handlers are given before connecting, so that nothing is missed.
#[derive(Debug)]
#[must_use = "a builder does nothing until `connect`"]
pub struct ClientBuilder {
    pub(crate) settings: Settings,
}

impl ClientBuilder {
    /// For the server that `connect` reaches.
    pub fn new(connect: Arc<dyn Connect>) -> Self {
        let name = connect.target().into();
        let info = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self {
            settings: Settings {
                connect,
                name,
                info,
                host: None,
                capabilities: HostCapabilities::default(),
                extensions: OrderedMap::new(),
                on_event: None,
                on_close: None,
                limits: ClientLimits::default(),
                mode: EraMode::default(),
                memory: EraMemory::default(),
            },
        }
    }

    /// What to call the server, in errors and questions. By default its command line or URL.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Who we say we are.
    pub fn client_info(mut self, info: Implementation) -> Self {
        self.settings.info = info;
        self
    }

    /// Who answers what the server asks, and what they can answer. Only that is advertised.
    pub fn host(mut self, host: impl Host + 'static, capabilities: HostCapabilities) -> Self {
        self.settings.host = Some(Arc::new(host));
        self.settings.capabilities = capabilities;
        self
    }

    /// Declares an extension, with its settings.
    pub fn extension(mut self, id: impl Into<String>, settings: RawObject) -> Self {
        self.settings.extensions.insert(id, settings);
        self
    }

    /// Lets servers turn tool calls into tasks. [`Client::call_tool`] waits for those like for any
    /// call; [`Client::start_tool`] does not.
    pub fn tasks(self) -> Self {
        self.extension(extension::TASKS, RawObject::empty())
    }

    /// Called with everything the server tells unasked: one event at a time, in order, on a task
    /// of its own. While it works, events queue up; see
    /// [`ClientLimits::queued_events`].
    ///
    /// Do not keep a [`Client`] in it: a handle that is kept keeps the connection open.
    pub fn on_event<F>(mut self, handler: impl Fn(ClientEvent) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.settings.on_event = Some(Arc::new(move |event| Box::pin(handler(event))));
        self
    }

    /// Called when the connection has ended, on a task of its own, with the reason, unless we
    /// closed it or it ended cleanly.
    pub fn on_close(
        mut self,
        handler: impl Fn(Option<Arc<TransportError>>) + Send + Sync + 'static,
    ) -> Self {
        self.settings.on_close = Some(Arc::new(handler));
        self
    }

    /// Bounds everything.
    pub fn limits(mut self, limits: ClientLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Which era to speak.
    pub fn era(mut self, mode: EraMode) -> Self {
        self.settings.mode = mode;
        self
    }

    /// Where verdicts about servers' eras are kept.
    pub fn era_memory(mut self, memory: EraMemory) -> Self {
        self.settings.memory = memory;
        self
    }

    /// Connects: starts or reaches the server, finds out which era it speaks, shakes hands. All
    /// of it within [`ClientLimits::connect_timeout`].
    ///
    /// # Errors
    ///
    /// See [`ConnectError`]. Nothing is left behind then: no process, no socket.
    pub async fn connect(self) -> Result<Client, ConnectError> {
        Client::open(Arc::new(self.settings)).await
    }
}
