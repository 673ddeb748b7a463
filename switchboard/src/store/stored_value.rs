//! Values that may be secrets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A header, an environment variable or a key as the store keeps it: where to find it, or, if the
/// user insists, the value itself.
///
/// As text it is `env:NAME`, `keyring:ID`, `private-file:ID` or `plain:VALUE`.
///
/// ```
/// use switchboard::store::StoredValue;
///
/// let key: StoredValue = "env:OPENAI_API_KEY".parse().unwrap();
/// assert_eq!(key, StoredValue::Env("OPENAI_API_KEY".to_owned()));
/// assert_eq!(format!("{:?}", StoredValue::Plain("sk-1".to_owned())), "plain:…");
/// ```
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum StoredValue {
    /// In this environment variable.
    Env(String),
    /// Under this name in the operating system's keyring.
    Keyring(String),
    /// Under this name among the program's private files, where there is no keyring.
    PrivateFile(String),
    /// In the store itself, as plain text.
    Plain(String),
}

impl StoredValue {
    /// Whether the value itself is in the store.
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    fn scheme(&self) -> (&'static str, &str) {
        match self {
            Self::Env(name) => ("env", name),
            Self::Keyring(id) => ("keyring", id),
            Self::PrivateFile(id) => ("private-file", id),
            Self::Plain(value) => ("plain", value),
        }
    }
}

impl From<StoredValue> for String {
    fn from(value: StoredValue) -> Self {
        let (scheme, rest) = value.scheme();
        format!("{scheme}:{rest}")
    }
}

impl TryFrom<String> for StoredValue {
    type Error = UnknownScheme;

    fn try_from(text: String) -> Result<Self, UnknownScheme> {
        match text.split_once(':') {
            Some(("env", name)) => Ok(Self::Env(name.to_owned())),
            Some(("keyring", id)) => Ok(Self::Keyring(id.to_owned())),
            Some(("private-file", id)) => Ok(Self::PrivateFile(id.to_owned())),
            Some(("plain", value)) => Ok(Self::Plain(value.to_owned())),
            _ => Err(UnknownScheme),
        }
    }
}

impl FromStr for StoredValue {
    type Err = UnknownScheme;

    fn from_str(text: &str) -> Result<Self, UnknownScheme> {
        Self::try_from(text.to_owned())
    }
}

impl fmt::Debug for StoredValue {
    /// Without the value itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for StoredValue {
    /// As text, without the value itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(_) => f.write_str("plain:…"),
            _ => {
                let (scheme, rest) = self.scheme();
                write!(f, "{scheme}:{rest}")
            }
        }
    }
}

/// A stored value begins with none of `env:`, `keyring:`, `private-file:` and `plain:`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnknownScheme;

impl fmt::Display for UnknownScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a stored value begins with env:, keyring:, private-file: or plain:")
    }
}

impl std::error::Error for UnknownScheme {}
