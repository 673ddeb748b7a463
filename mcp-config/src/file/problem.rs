//! What is wrong with a file, and where.

use std::fmt;

/// Something wrong with a file of servers.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ConfigProblem {
    /// Where it is.
    pub place: Place,
    /// The server it is about, as the file spells it.
    pub server: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// A place in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1 on.
    pub line: usize,
    /// The character in its line, from 1 on.
    pub column: usize,
    /// The way there from the top: `$.mcpServers.git.args[1]`.
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
