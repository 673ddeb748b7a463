//! Problems of a file, and their places.

use std::fmt;

/// A problem of a configuration file.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ConfigProblem {
    /// Its place.
    pub place: Place,
    /// The server, as spelled in the file.
    pub server: Option<String>,
    /// The problem.
    pub message: String,
}

/// A place in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The path from the root: `$.mcpServers.git.args[1]`.
    pub path: String,
}

impl Place {
    /// The place at a byte of `text`.
    pub(crate) fn new(text: &str, at: usize, path: String) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        Self {
            line: 1 + before.matches('\n').count(),
            column: 1 + line.chars().count(),
            path,
        }
    }
}

/// `.name`, or `["na me"]` where that would be ambiguous.
pub(crate) fn step(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) {
        format!(".{name}")
    } else {
        format!("[{name:?}]")
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(server) = &self.server {
            write!(f, "server {server:?}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {} ({})",
            self.line, self.column, self.path
        )
    }
}

impl std::error::Error for ConfigProblem {}
