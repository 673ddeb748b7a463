#![doc = include_str!("../README.md")]

mod auth;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "sse")]
mod legacy_sse;
mod line;
mod loopback;
pub mod memory;
#[cfg(feature = "stdio")]
mod process;
#[cfg(feature = "stdio")]
mod stdio;
mod transport;

pub use auth::{AuthProvider, AuthRequest, AuthVerdict, Challenge, NoopAuth, StaticTokenAuth};
#[cfg(feature = "http")]
pub use http::{
    HttpConfig, HttpConfigError, HttpConnect, HttpLimits, HttpTransport, client_builder,
};
#[cfg(feature = "sse")]
pub use legacy_sse::{SseConnect, SseTransport};
#[doc(hidden)]
pub use line::{Line, LineFramer};
pub use loopback::is_loopback_host;
pub use mcp_jsonrpc::Secret;
#[cfg(all(feature = "stdio", unix))]
pub use process::spawn_detached;
#[cfg(feature = "stdio")]
pub use process::{
    LocalSpawner, ProcessLedger, ProcessStatus, ProcessTracker, SpawnRequest, SpawnedProcess,
    Spawner, Stop, TrackedProcess,
};
#[cfg(feature = "stdio")]
pub use stdio::{EnvPolicy, ServerCommand, StdioConnect, StdioLimits, StdioTransport};
pub use transport::error::{
    BoxError, Delivery, HttpFailure, ProcessExit, SendError, TransportError,
};
pub use transport::incoming::{Closed, Incoming};
pub use transport::outgoing::{Outgoing, OutgoingKind, ReplyTimeout};
pub use transport::{Connect, Transport, TransportKind};
