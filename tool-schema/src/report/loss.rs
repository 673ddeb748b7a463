//! The differences between a schema and its compiled form.

use std::fmt;

/// One difference between a schema and its compiled form.
///
/// Every difference is listed, including harmless ones; [`Loss::lossy`] distinguishes them.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// JSON pointer of the subschema in the *original*; empty for its root.
    pub pointer: String,
    /// The keyword that changed.
    pub keyword: String,
    /// The change.
    pub action: Action,
    /// Whether the set of possible calls changed: the compiled schema accepts arguments that the original rejects, or
    /// cannot express arguments that the original describes.
    ///
    /// An object that lists its properties and does not mention others counts as describing just those: closing it is
    /// listed, and not lossy.
    pub lossy: bool,
}

/// The change of a keyword.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Action {
    /// Omitted.
    Dropped,
    /// Omitted as a keyword and described in words.
    Described,
    /// Replaced by something that accepts more.
    Weakened,
    /// Replaced by something that accepts less.
    Narrowed,
    /// Replaced by something that means the same, once the arguments are restored.
    Rewritten,
}

impl Action {
    /// The action in one lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Described => "described",
            Self::Weakened => "weakened",
            Self::Narrowed => "narrowed",
            Self::Rewritten => "rewritten",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.lossy { "lossy" } else { "lossless" };
        write!(
            f,
            "#{}: `{}` {} ({kind})",
            self.pointer, self.keyword, self.action
        )
    }
}
