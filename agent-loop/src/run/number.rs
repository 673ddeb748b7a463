//! Numbers of tool calls.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a tool call within its run, never used twice.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct CallNumber(pub(crate) u64);

impl CallNumber {
    /// The number as an integer.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl From<u64> for CallNumber {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Display for CallNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
