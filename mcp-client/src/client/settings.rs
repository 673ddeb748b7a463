//! The settings of a client, shared by all its connections.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcp_jsonrpc::model::{ClientCapabilities, Implementation};
use mcp_jsonrpc::{OrderedMap, RawObject};
use mcp_transport::{Connect, TransportError};

use crate::client::limits::ClientLimits;
use crate::dialect::EraMode;
use crate::dialect::era_memory::EraMemory;
use crate::features::event::ClientEvent;
use crate::host::{Host, HostCapabilities};

/// A boxed future.
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Called with each event, one at a time.
pub(crate) type EventHandler = Arc<dyn Fn(ClientEvent) -> BoxFuture<()> + Send + Sync>;

/// Called when a connection has ended, with the reason, unless we closed it or it ended cleanly.
pub(crate) type CloseHandler = Arc<dyn Fn(Option<Arc<TransportError>>) + Send + Sync>;

/// The settings made on the builder.
pub(crate) struct Settings {
    pub(crate) connect: Arc<dyn Connect>,
    pub(crate) name: Arc<str>,
    pub(crate) info: Implementation,
    pub(crate) host: Option<Arc<dyn Host>>,
    pub(crate) capabilities: HostCapabilities,
    pub(crate) extensions: OrderedMap<RawObject>,
    pub(crate) on_event: Option<EventHandler>,
    pub(crate) on_close: Option<CloseHandler>,
    pub(crate) limits: ClientLimits,
    pub(crate) mode: EraMode,
    pub(crate) memory: EraMemory,
}

impl Settings {
    /// The capabilities in `initialize`.
    pub(crate) fn legacy_capabilities(&self) -> ClientCapabilities {
        let mut all = self.capabilities.advertised();
        if let Some(roots) = &mut all.roots {
            roots.list_changed = Some(true);
        }
        all
    }

    /// The capabilities in every modern request.
    pub(crate) fn modern_capabilities(&self) -> ClientCapabilities {
        let mut all = self.capabilities.advertised();
        if !self.extensions.is_empty() {
            all.extensions = Some(self.extensions.clone());
        }
        all
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("name", &self.name)
            .field("connect", &self.connect)
            .field("capabilities", &self.capabilities)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
