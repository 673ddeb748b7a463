//! Connecting: detection of a server's transport and era, and the handshake.

pub(crate) mod error;
pub(crate) mod handshake;
pub(crate) mod negotiation;
