//! Losses: settings that another program's file cannot express.

use std::fmt;

use crate::server::name::ServerName;

/// A setting of a server that a dialect cannot express: it is missing in the file, or changed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// The server.
    pub server: ServerName,
    /// The loss.
    pub message: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server {:?}: {}", self.server.as_str(), self.message)
    }
}
