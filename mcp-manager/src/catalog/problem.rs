//! Problems with a server's lists.

use std::fmt;

/// An item of a server's lists that could not be listed, or an incomplete list.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ListProblem {
    /// The item could not be read.
    Unreadable {
        /// The kind of the item.
        kind: ItemKind,
        /// Its name, if it could be read.
        name: Option<String>,
        /// The problem.
        reason: String,
    },
    /// The item has no name, so it cannot be requested.
    Nameless {
        /// The kind of the item.
        kind: ItemKind,
    },
    /// The server lists the name again: the first one wins.
    Duplicate {
        /// The kind of the item.
        kind: ItemKind,
        /// The name.
        name: String,
    },
    /// The list could not be read to its end.
    Incomplete {
        /// The kind of its items.
        kind: ItemKind,
        /// The reason.
        reason: String,
    },
}

/// The kinds of items that servers list.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ItemKind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A resource template.
    ResourceTemplate,
}

impl ListProblem {
    /// The kind of the item or list.
    pub fn kind(&self) -> ItemKind {
        match self {
            Self::Unreadable { kind, .. }
            | Self::Nameless { kind }
            | Self::Duplicate { kind, .. }
            | Self::Incomplete { kind, .. } => *kind,
        }
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::ResourceTemplate => "resource template",
        })
    }
}

impl fmt::Display for ListProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { kind, name, reason } => match name {
                Some(name) => write!(f, "{kind} {name:?} cannot be used: {reason}"),
                None => write!(f, "a {kind} cannot be used: {reason}"),
            },
            Self::Nameless { kind } => write!(f, "a {kind} has no name and cannot be used"),
            Self::Duplicate { kind, name } => {
                write!(f, "{kind} {name:?} is listed twice; the first one counts")
            }
            Self::Incomplete { kind, reason } => {
                write!(f, "the list of {kind}s is not complete: {reason}")
            }
        }
    }
}
