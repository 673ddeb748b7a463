//! The reasons why a provider is not asked to enforce a schema.

use std::fmt;

use crate::{Loss, Quarantine};

/// One reason why a tool is not strict although its target supports that.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NotStrict {
    /// The strict dialect cannot express a part of the original.
    Loss(Loss),
    /// The tool alone exceeds a limit of the provider.
    TooMuch {
        /// The counted quantity, in words.
        of: &'static str,
        /// The tool's count.
        used: usize,
        /// The provider's limit.
        limit: usize,
    },
    /// The tools of the request together exceed a limit of the provider.
    RequestFull {
        /// The counted quantity, in words.
        of: &'static str,
        /// The count of the request's strict tools including this one.
        used: usize,
        /// The provider's limit.
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
