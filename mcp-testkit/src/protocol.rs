//! The protocol of a well-behaved server, in both eras, independent of the transport.

mod call;
mod dialect;
mod listen;
mod message;
mod method;
mod play;
mod session;
mod task;
mod world;

pub(crate) use dialect::era_of;
pub(crate) use message::{Out, Piece, Reply, error, notification, request, result};
pub(crate) use session::Session;
pub(crate) use world::{Change, World};

/// The log levels, least severe first.
pub(crate) const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];
