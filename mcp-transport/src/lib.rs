#![doc = include_str!("../README.md")]

mod auth;
mod error;
mod incoming;
mod line;
mod outgoing;
mod secret;
mod sse;
mod transport;

pub use auth::{AuthProvider, AuthRequest, AuthVerdict, Challenge, NoopAuth, StaticTokenAuth};
pub use error::{BoxError, Delivery, HttpFailure, ProcessExit, SendError, TransportError};
pub use incoming::{Closed, Incoming};
pub use line::{Line, LineFramer};
pub use outgoing::{Outgoing, OutgoingKind, Patience};
pub use secret::Secret;
pub use sse::{SseEvent, SseFrame, SseParser};
pub use transport::{Connect, Shape, Transport};
