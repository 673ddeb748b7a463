//! The result of the handshake.

use mcp_jsonrpc::Revision;
use mcp_jsonrpc::model::{Implementation, ServerCapabilities};

use crate::dialect::Dialect;

/// What a server declares about itself.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerDetails {
    /// Its name and version, for display only: they are not verified.
    pub info: Option<Implementation>,
    /// Its capabilities.
    pub capabilities: ServerCapabilities,
    /// Instructions for a model.
    pub instructions: Option<String>,
    /// The protocol revision in use.
    pub revision: Option<Revision>,
}

/// The result of a handshake. Replaced as a whole by another handshake.
#[derive(Debug)]
pub(crate) struct Session {
    /// The dialect in use.
    pub(crate) dialect: Dialect,
    /// What the server declared.
    pub(crate) facts: ServerDetails,
    /// The number of handshakes before.
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
