//! What another program's file cannot say.

use std::fmt;

use crate::server::name::ServerName;

/// Something of a server that a dialect has no way to say: it is not in the file, or not as it is
/// meant.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// The server.
    pub server: ServerName,
    /// What is lost.
    pub message: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server {:?}: {}", self.server.as_str(), self.message)
    }
}
