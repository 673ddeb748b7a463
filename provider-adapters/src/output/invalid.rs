//! Replies that do not match their schema.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A reply that does not match the request's output schema, even after repair.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InvalidOutput {
    /// The model's text.
    pub text: String,
    /// The violations, one sentence each.
    pub violations: Vec<String>,
}

impl InvalidOutput {
    pub(crate) fn new(text: &str, violations: Vec<String>) -> Self {
        Self {
            text: text.to_owned(),
            violations,
        }
    }
}

impl fmt::Display for InvalidOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reply does not match the output schema:")?;
        self.violations
            .iter()
            .try_for_each(|violation| write!(f, "\n- {violation}"))
    }
}

impl std::error::Error for InvalidOutput {}
