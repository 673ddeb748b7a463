//! The builder of a client.

use std::sync::Arc;

use mcp_jsonrpc::model::{ElicitFormParams, ElicitResult, Implementation, extension};
use mcp_jsonrpc::{OrderedMap, RawObject};
use mcp_transport::{Connect, TransportError};

use crate::client::Client;
use crate::client::limits::ClientLimits;
use crate::client::settings::Settings;
use crate::connect::error::ConnectError;
use crate::dialect::EraMode;
use crate::dialect::era_memory::EraMemory;
use crate::features::event::ClientEvent;
use crate::host::on_form::OnForm;
use crate::host::{Host, HostCapabilities, ServerRequest};

/// Builds a [`Client`]. Handlers are set before connecting, so that no event is missed.
#[derive(Debug)]
#[must_use = "a builder does nothing until `connect`"]
pub struct ClientBuilder {
    pub(crate) settings: Settings,
}

impl ClientBuilder {
    /// Creates a builder for the server that `connect` reaches.
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

    /// Sets the server's name in errors and server-to-client requests. Default: its command line or URL.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Sets the `clientInfo` sent to the server.
    pub fn client_info(mut self, info: Implementation) -> Self {
        self.settings.info = info;
        self
    }

    /// Sets the host that answers server-to-client requests, and the supported kinds. Only those are advertised.
    pub fn host(mut self, host: impl Host + 'static, capabilities: HostCapabilities) -> Self {
        self.settings.host = Some(Arc::new(host));
        self.settings.capabilities = capabilities;
        self
    }

    /// Answers the server's forms with this closure, and advertises that forms are supported. For
    /// URLs, sampling and roots, implement a [`Host`].
    ///
    /// ```no_run
    /// # use mcp_client::{Client, ConnectError};
    /// # use mcp_jsonrpc::model::ElicitResult;
    /// # async fn example() -> Result<(), ConnectError> {
    /// let client = Client::stdio("uvx", ["mcp-server-git"])
    ///     .on_form(|form| async move {
    ///         println!("{} asks: {}", form.server, form.params.message);
    ///         ElicitResult::decline()
    ///     })
    ///     .connect()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_form<F>(
        self,
        handler: impl Fn(ServerRequest<ElicitFormParams>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ElicitResult> + Send + 'static,
    {
        self.host(OnForm(handler), HostCapabilities::default().with_forms())
    }

    /// Declares an extension, with its settings.
    pub fn extension(mut self, id: impl Into<String>, settings: RawObject) -> Self {
        self.settings.extensions.insert(id, settings);
        self
    }

    /// Lets servers turn tool calls into tasks. [`Client::call_tool`] waits for a task like for any call;
    /// [`Client::start_tool`] does not.
    pub fn tasks(self) -> Self {
        self.extension(extension::TASKS, RawObject::empty())
    }

    /// Sets the handler of unsolicited events. It is called with one event at a time, in order, on a separate task.
    /// While it runs, events are queued; see [`ClientLimits::queued_events`].
    ///
    /// Do not store a [`Client`] in it: that would keep the connection open.
    pub fn on_event<F>(mut self, handler: impl Fn(ClientEvent) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.settings.on_event = Some(Arc::new(move |event| Box::pin(handler(event))));
        self
    }

    /// Sets the handler for the end of the connection. It runs on a separate task and gets the reason, unless we closed
    /// it or it ended cleanly.
    pub fn on_close(
        mut self,
        handler: impl Fn(Option<Arc<TransportError>>) + Send + Sync + 'static,
    ) -> Self {
        self.settings.on_close = Some(Arc::new(handler));
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: ClientLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets the era to use.
    pub fn era(mut self, mode: EraMode) -> Self {
        self.settings.mode = mode;
        self
    }

    /// Sets the memory of servers' eras.
    pub fn era_memory(mut self, memory: EraMemory) -> Self {
        self.settings.memory = memory;
        self
    }

    /// Connects: starts the server or connects to it, negotiates the era, performs the handshake, all within
    /// [`ClientLimits::connect_timeout`].
    ///
    /// # Errors
    ///
    /// See [`ConnectError`]. On failure, no process and no socket is left behind.
    pub async fn connect(self) -> Result<Client, ConnectError> {
        Client::open(Arc::new(self.settings)).await
    }
}
