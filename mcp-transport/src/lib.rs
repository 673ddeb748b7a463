#![doc = include_str!("../README.md")]

mod auth;
mod error;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod inbox;
mod incoming;
#[cfg(feature = "sse")]
mod legacy_sse;
mod line;
pub mod memory;
mod outgoing;
#[cfg(feature = "stdio")]
mod process;
mod secret;
mod sse;
mod stand_back;
#[cfg(feature = "stdio")]
mod stdio;
mod transport;

pub use auth::{AuthProvider, AuthRequest, AuthVerdict, Challenge, NoopAuth, StaticTokenAuth};
pub use error::{BoxError, Delivery, HttpFailure, ProcessExit, SendError, TransportError};
#[cfg(feature = "http")]
pub use http::{
    HttpConfig, HttpConfigError, HttpConnect, HttpLimits, HttpTransport, client_builder,
};
pub use incoming::{Closed, Incoming};
#[cfg(feature = "sse")]
pub use legacy_sse::{SseConnect, SseTransport};
pub use line::{Line, LineFramer};
pub use outgoing::{Outgoing, OutgoingKind, Patience};
#[cfg(all(feature = "stdio", unix))]
pub use process::spawn_detached;
#[cfg(feature = "stdio")]
pub use process::{
    LocalSpawner, ProcessLedger, ProcessStatus, ProcessTracker, SpawnRequest, SpawnedProcess,
    Spawner, Stop, TrackedProcess,
};
pub use secret::Secret;
pub use sse::{SseEvent, SseFrame, SseParser};
pub use stand_back::stand_back;
#[cfg(feature = "stdio")]
pub use stdio::{EnvPolicy, ServerCommand, StdioConnect, StdioLimits, StdioTransport};
pub use transport::{Connect, Shape, Transport};
