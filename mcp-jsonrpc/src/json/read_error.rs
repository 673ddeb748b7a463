//! Errors of reading JSON as a type of the model.

use std::error::Error;
use std::fmt;

/// The reason why JSON could not be read, and the location in it.
///
/// ```
/// use mcp_jsonrpc::model::ListRootsResult;
/// use mcp_jsonrpc::{Body, RawJson};
///
/// let raw = RawJson::from_text(r#"{"roots":[{"uri":"file:///a"},{"uri":7}]}"#.to_owned())?;
/// let error = ListRootsResult::read(raw.as_ref()).unwrap_err();
/// assert_eq!(error.to_string(), "roots[1].uri: expected a string, found a number");
/// # Ok::<(), mcp_jsonrpc::ReadError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ReadError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    path: String,
    problem: Problem,
}

#[derive(Clone, PartialEq, Eq)]
enum Problem {
    /// Invalid JSON from this byte on.
    Syntax { expected: &'static str, at: usize },
    /// Nested deeper than allowed.
    Depth,
    /// Valid JSON of the wrong shape.
    Structure(String),
}

impl ReadError {
    /// The location of the problem in the value, such as `tools[3].name`; empty for the value itself.
    pub fn path(&self) -> &str {
        self.0.path.strip_prefix('.').unwrap_or(&self.0.path)
    }

    pub(crate) fn syntax(expected: &'static str, at: usize) -> Self {
        Self::new(Problem::Syntax { expected, at })
    }

    pub(crate) fn depth() -> Self {
        Self::new(Problem::Depth)
    }

    pub(crate) fn shape(what: impl Into<String>) -> Self {
        Self::new(Problem::Structure(what.into()))
    }

    pub(crate) fn missing(member: &str) -> Self {
        Self::shape(format!("`{member}` is missing"))
    }

    pub(crate) fn is_depth(&self) -> bool {
        self.0.problem == Problem::Depth
    }

    pub(crate) fn is_shape(&self) -> bool {
        matches!(self.0.problem, Problem::Structure(_))
    }

    pub(crate) fn in_member(mut self, name: &str) -> Self {
        self.0.path = format!(".{name}{}", self.0.path);
        self
    }

    pub(crate) fn in_item(mut self, index: usize) -> Self {
        self.0.path = format!("[{index}]{}", self.0.path);
        self
    }

    fn new(problem: Problem) -> Self {
        Self(Box::new(Inner {
            path: String::new(),
            problem,
        }))
    }
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        Self::shape(error.to_string())
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path().is_empty() {
            write!(f, "{}: ", self.path())?;
        }
        match &self.0.problem {
            Problem::Syntax { expected, at } => write!(f, "expected {expected} at byte {at}"),
            Problem::Depth => f.write_str("nested too deep"),
            Problem::Structure(what) => f.write_str(what),
        }
    }
}

impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadError({self})")
    }
}

impl Error for ReadError {}
