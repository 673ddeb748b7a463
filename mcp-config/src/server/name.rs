//! Server names.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

const MAX_SERVER_NAME: usize = 128;

/// The name of a server in its host, unique among the host's servers: 1–128 characters without control characters.
/// Cheap to clone; ordered by its bytes.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(Arc<str>);

/// The error for a text that is not a valid server name.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InvalidServerName {
    /// The text.
    pub text: String,
}

impl ServerName {
    /// Validates a name.
    ///
    /// # Errors
    ///
    /// If it is empty, longer than 128 characters, or contains control characters.
    pub fn new(name: impl Into<Arc<str>>) -> Result<Self, InvalidServerName> {
        let name = name.into();
        match name.chars().count() {
            1..=MAX_SERVER_NAME if !name.contains(char::is_control) => Ok(Self(name)),
            _ => Err(InvalidServerName {
                text: name.as_ref().to_owned(),
            }),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ServerName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0.as_ref().to_owned()
    }
}

impl TryFrom<String> for ServerName {
    type Error = InvalidServerName;

    fn try_from(name: String) -> Result<Self, InvalidServerName> {
        Self::new(name)
    }
}

impl std::str::FromStr for ServerName {
    type Err = InvalidServerName;

    fn from_str(name: &str) -> Result<Self, InvalidServerName> {
        Self::new(name)
    }
}

impl fmt::Display for InvalidServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() {
            return f.write_str("a server's name must not be empty");
        }
        let start: String = self.text.chars().take(40).collect();
        write!(
            f,
            "{start:?} cannot be a server's name: 1 to {MAX_SERVER_NAME} characters, none of them \
             a control character"
        )
    }
}

impl std::error::Error for InvalidServerName {}
