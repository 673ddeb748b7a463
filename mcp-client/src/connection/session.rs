//! What both sides know of each other once the handshake is done.

use mcp_jsonrpc::Revision;
use mcp_jsonrpc::model::{Implementation, ServerCapabilities};

use crate::dialect::Dialect;

/// What a server says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerDetails {
    /// Its name and version: for display, never for trust.
    pub info: Option<Implementation>,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// How to use it, for a model.
    pub instructions: Option<String>,
    /// The revision spoken with it.
    pub revision: Option<Revision>,
}

/// A handshake's result. Replaced whole when there is another handshake.
#[derive(Debug)]
pub(crate) struct Session {
    /// How to speak.
    pub(crate) dialect: Dialect,
    /// With whom.
    pub(crate) facts: ServerDetails,
    /// How many handshakes there were before.
    pub(crate) number: u64,
}

impl Session {
    /// Before the first handshake.
    pub(crate) fn unknown() -> Self {
        Self {
            dialect: Dialect::handshake(),
            facts: ServerDetails::default(),
            number: 0,
        }
    }
}
