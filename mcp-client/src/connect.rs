//! Connecting: which transport and era a server speaks, and the handshake in it.

pub(crate) mod error;
pub(crate) mod handshake;
pub(crate) mod negotiation;
