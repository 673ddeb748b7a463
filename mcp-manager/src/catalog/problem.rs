//! What a server lists that cannot be offered.

use std::fmt;

/// An item of a server's lists that could not be offered, or a list that is not complete.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ListProblem {
    /// The item could not be read.
    Unreadable {
        /// What it is.
        kind: ItemKind,
        /// Its name, if that much could be read.
        name: Option<String>,
        /// What is wrong with it.
        reason: String,
    },
    /// The item has no name, so it cannot be requested.
    Nameless {
        /// What it is.
        kind: ItemKind,
    },
    /// The server lists the name again: the first one counts.
    Duplicate {
        /// What it is.
        kind: ItemKind,
        /// The name.
        name: String,
    },
    /// The list was not read to its end.
    Incomplete {
        /// Of what it is a list.
        kind: ItemKind,
        /// Why.
        reason: String,
    },
}

/// What servers list.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ItemKind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A pattern of resources.
    ResourceTemplate,
}

impl ListProblem {
    /// What it is about.
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
