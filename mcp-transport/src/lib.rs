#![doc = include_str!("../README.md")]

mod auth;
mod error;
mod incoming;
mod line;
pub mod memory;
mod outgoing;
#[cfg(feature = "stdio")]
mod process;
mod secret;
mod sse;
#[cfg(feature = "stdio")]
mod stdio;
mod transport;

pub use auth::{AuthProvider, AuthRequest, AuthVerdict, Challenge, NoopAuth, StaticTokenAuth};
pub use error::{BoxError, Delivery, HttpFailure, ProcessExit, SendError, TransportError};
pub use incoming::{Closed, Incoming};
pub use line::{Line, LineFramer};
pub use outgoing::{Outgoing, OutgoingKind, Patience};
#[cfg(feature = "stdio")]
pub use process::{
    LocalSpawner, ProcessLedger, ProcessStatus, ProcessTracker, SpawnRequest, SpawnedProcess,
    Spawner, Stop, TrackedProcess,
};
pub use secret::Secret;
pub use sse::{SseEvent, SseFrame, SseParser};
#[cfg(feature = "stdio")]
pub use stdio::{EnvPolicy, ServerCommand, StdioConnect, StdioLimits, StdioTransport};
pub use transport::{Connect, Shape, Transport};
