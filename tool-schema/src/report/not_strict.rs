//! Why a provider is not asked to enforce a schema.

use std::fmt;

use crate::{Loss, Quarantine};

/// One reason why a tool is not strict although its target can be.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NotStrict {
    /// The strict dialect cannot say a part of the original.
    Loss(Loss),
    /// The tool alone has more of something than the provider enforces.
    TooMuch {
        /// What is counted, in words.
        of: &'static str,
        /// How much the tool has.
        used: usize,
        /// How much the provider takes.
        limit: usize,
    },
    /// The tools of the request have, together, more than the provider enforces.
    RequestFull {
        /// What is counted, in words.
        of: &'static str,
        /// How much the strict tools of the request would have with this one.
        used: usize,
        /// How much the provider takes.
        limit: usize,
    },
    /// The strict dialect has no schema for the tool.
    Quarantined(Quarantine),
}

impl NotStrict {
    /// JSON pointer of the subschema in the *original*; empty for its root.
    pub fn pointer(&self) -> &str {
        match self {
            Self::Loss(loss) => &loss.pointer,
            Self::Quarantined(Quarantine::Impossible { pointer }) => pointer,
            Self::TooMuch { .. } | Self::RequestFull { .. } | Self::Quarantined(_) => "",
        }
    }
}

impl fmt::Display for NotStrict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}: ", self.pointer())?;
        match self {
            Self::Loss(loss) => write!(f, "`{}` would be {}", loss.keyword, loss.action),
            Self::TooMuch { of, used, limit } => {
                write!(f, "{used} {of}, at most {limit} are enforced")
            }
            Self::RequestFull { of, used, limit } => {
                write!(
                    f,
                    "{used} {of} in the request, at most {limit} are enforced"
                )
            }
            Self::Quarantined(quarantine) => quarantine.fmt(f),
        }
    }
}
