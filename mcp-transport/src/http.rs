//! Streamable HTTP, both eras in one transport.
//!
//! Up to 2025-11-25 a server may assign a session id, send unsolicited messages on a GET stream and support resumption
//! of broken streams. From 2026-07-28 on every POST is self-contained. The transport decides by the revision of each
//! message, so that both eras can be tried on one transport.

mod body;
mod body_budget;
mod client;
mod config;
mod connect;
mod connection;
mod escape;
mod events;
mod exchange;
mod get;
mod headers;
pub(crate) mod inbox;
mod limits;
mod listen;
mod reconnect;
mod redirect;
mod refusal;
mod reply;
mod reply_stream;
mod session;
mod tasks;
mod transport;

pub use client::client_builder;
pub use config::{HttpConfig, HttpConfigError};
pub use connect::HttpConnect;
pub use limits::HttpLimits;
pub use transport::HttpTransport;

pub(crate) use events::EventStream;
pub(crate) use exchange::{Exchange, HttpRequest};

// Shared with HTTP+SSE.
#[cfg(feature = "sse")]
pub(crate) use {
    body::ReadRate,
    headers::{of_message, of_stream},
    redirect::{same_origin, shown, strip},
    refusal::{discard, refusal},
    reply::answered,
};
