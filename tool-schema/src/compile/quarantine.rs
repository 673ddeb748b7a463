//! The reasons why a schema cannot be compiled at all.

use std::fmt;

/// The reason why one tool is omitted from the list. Other tools are not affected.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Quarantine {
    /// More subschemas than [`CompileLimits::with_nodes`](crate::CompileLimits::with_nodes) allows.
    TooManyNodes {
        /// The limit.
        limit: usize,
    },
    /// Deeper nesting than [`CompileLimits::with_depth`](crate::CompileLimits::with_depth) allows.
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// A larger schema, before or after, than [`CompileLimits::with_bytes`](crate::CompileLimits::with_bytes) allows.
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// More to report than [`CompileLimits::with_report_bytes`](crate::CompileLimits::with_report_bytes) allows.
    TooManyLosses {
        /// The limit.
        limit: usize,
    },
    /// No arguments satisfy the schema.
    Impossible {
        /// JSON pointer of the contradiction in the original.
        pointer: String,
    },
}

impl fmt::Display for Quarantine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyNodes { limit } => write!(
                f,
                "the schema has more than {limit} subschemas; ask the server for a smaller one or raise the limit"
            ),
            Self::TooDeep { limit } => write!(
                f,
                "the schema nests deeper than {limit} levels; ask the server for a flatter one or raise the limit"
            ),
            Self::TooLarge { limit } => write!(
                f,
                "the schema is larger than {limit} bytes; ask the server for a smaller one or raise the limit"
            ),
            Self::TooManyLosses { limit } => write!(
                f,
                "the loss report is larger than {limit} bytes, so the schema would be mangled beyond use"
            ),
            Self::Impossible { pointer } => write!(
                f,
                "no arguments can satisfy the schema: it contradicts itself at `#{pointer}`"
            ),
        }
    }
}

impl std::error::Error for Quarantine {}
