//! Why the store could not be used.

use std::fmt;
use std::path::PathBuf;

/// An error of another crate, whichever.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why the store could not be opened, read or written. A commit that fails changes nothing.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// It was changed or answered concurrently, or the name is taken. Load again before deciding.
    Conflict {
        /// The kind of row.
        what: &'static str,
    },
    /// Another process drives the conversation.
    Leased,
    /// A change names a row that is not there.
    Missing {
        /// The kind of row that was to be written.
        what: &'static str,
    },
    /// A value itself was to be stored where only a reference was agreed to.
    PlainSecret {
        /// Whose value.
        of: String,
    },
    /// The row has too many bytes, is nested too deep, or holds a number out of range.
    TooBig {
        /// The kind of row.
        what: &'static str,
    },
    /// The file was written by a newer version of the program.
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its tables.
        found: u32,
        /// The latest version this program knows.
        known: u32,
    },
    /// The file is a database of another program. It was left alone.
    Foreign(PathBuf),
    /// The file cannot be opened.
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: BoxError,
    },
    /// Another process has been writing for too long.
    Busy,
    /// The database cannot be reached now. It was tried for a while.
    Unavailable(BoxError),
    /// The database takes no changes: it is a standby, as after a fail-over, or was made read-only.
    ReadOnly,
    /// There is no room left for the file: the disk is full, or the file as large as it may get.
    Full(BoxError),
    /// Reading or writing failed: the file is damaged, or its disk.
    Failed(BoxError),
    /// The store was closed.
    Closed,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { what } => {
                write!(
                    f,
                    "the {what} was changed concurrently, or its name is taken"
                )
            }
            Self::Leased => {
                f.write_str("an answer of the conversation is under way in another process")
            }
            Self::Missing { what } => {
                write!(f, "the {what} belongs to something that is not stored")
            }
            Self::PlainSecret { of } => write!(
                f,
                "{of} has a value in plain text: store a reference (env:NAME or keyring:ID), or \
                 agree to plain values"
            ),
            Self::TooBig { what } => write!(f, "the {what} is too big to be stored"),
            Self::Newer { path, found, known } => write!(
                f,
                "{} was written by a newer version of switchboard (tables of version {found}, \
                 this one knows {known}): update switchboard, or use another file with --database",
                path.display()
            ),
            Self::Foreign(path) => write!(
                f,
                "{} is a database of another program: use another file with --database",
                path.display()
            ),
            Self::Open { path, .. } => write!(f, "{} cannot be opened", path.display()),
            Self::Busy => f.write_str(
                "another process has been writing to the database for too long: try again",
            ),
            Self::Unavailable(_) => f.write_str("the database cannot be reached"),
            Self::ReadOnly => {
                f.write_str("the database takes no changes: it is a standby, or was made read-only")
            }
            Self::Full(_) => f.write_str(
                "there is no room left for the database: the disk is full, or the file as large \
                 as it may get",
            ),
            Self::Failed(_) => f.write_str("the store could not be read or written"),
            Self::Closed => f.write_str("the store is closed"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open { source, .. }
            | Self::Unavailable(source)
            | Self::Full(source)
            | Self::Failed(source) => Some(source.as_ref()),
            _ => None,
        }
    }
}
