//! The result of the handshake.

use mcp_jsonrpc::Revision;
use mcp_jsonrpc::model::{Implementation, ServerCapabilities};

use crate::dialect::Dialect;

/// A server's declarations about itself.
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

/// The result of a handshake. Another handshake replaces it as a whole.
#[derive(Debug)]
pub(crate) struct Session {
    /// The dialect in use.
    pub(crate) dialect: Dialect,
    /// The server's declarations.
    pub(crate) facts: ServerDetails,
    /// The number of earlier handshakes.
    pub(crate) number: u64,
}

impl Session {
    /// The state before the first handshake.
    pub(crate) fn unknown() -> Self {
        Self {
            dialect: Dialect::handshake(),
            facts: ServerDetails::default(),
            number: 0,
        }
    }
}
