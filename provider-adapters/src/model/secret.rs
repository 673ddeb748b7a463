//! A string that must not be printed.

use std::fmt;

/// A key, or a header's value: prints as `…` everywhere.
#[derive(Clone, Eq, PartialEq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The secret itself, for the one place that must send it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text without it: some servers repeat the key they refuse. What is too short to be a key
    /// stays, and so does the word before it, as in `Bearer …`.
    #[cfg(feature = "http")]
    pub(crate) fn hide_in(&self, text: String) -> String {
        let key = self.0.rsplit(' ').next().unwrap_or_default();
        match key.len() >= 8 && text.contains(key) {
            true => text.replace(key, "…"),
            false => text,
        }
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
