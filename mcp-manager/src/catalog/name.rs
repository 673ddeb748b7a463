//! Exposed names: the names models call tools by.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use mcp_config::ServerName;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The maximum length of an exposed name, in characters: one less than the strictest provider accepts.
pub const MAX_EXPOSED_NAME: usize = 63;

const PREFIX: &str = "mcp__";
/// `_` and eight hexadecimal digits.
const MARK: usize = 9;

/// The name a model calls a tool by: `mcp__server__tool`.
///
/// It matches `[A-Za-z_][A-Za-z0-9_-]{0,62}`, so every provider accepts it. It is looked up in a
/// [`Catalog`](crate::Catalog), never parsed. The name of a tool depends only on its server's name and its own, not on
/// other servers or their order. It is the plain form where that is legal and unambiguous, else the plain form made
/// legal, with `_` and eight hexadecimal digits of a hash at its end. Only when two such hashes are equal, which takes
/// thousands of tools, the later one in catalogue order gets another name.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String")]
pub struct ExposedName(Arc<str>);

impl ExposedName {
    /// Creates the name of `tool` of `server`, if no other tool has it yet.
    pub(crate) fn new(server: &ServerName, tool: &str) -> Self {
        let (legal_server, legal_tool) = (legal(server.as_str()), legal(tool));
        let plain = format!("{PREFIX}{legal_server}__{legal_tool}");
        let unchanged = legal_server == server.as_str() && legal_tool == tool;
        // The end of the server's name is unambiguous: two tools cannot share the name.
        let clear = !legal_server.contains("__") && !legal_server.ends_with('_');
        if unchanged && clear && plain.len() <= MAX_EXPOSED_NAME && !is_marked(&plain) {
            return Self(plain.into());
        }
        Self(marked(&plain, server, tool, 0))
    }

    /// Creates another name for `tool` if the first one is taken: a new one for each `attempt`.
    pub(crate) fn again(&self, server: &ServerName, tool: &str, attempt: u32) -> Self {
        let stem = self.0.get(..self.0.len() - MARK).unwrap_or(&self.0);
        Self(marked(stem, server, tool, attempt))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `text` with `_` for every character that some provider does not accept.
fn legal(text: &str) -> String {
    let taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.chars()
        .map(|c| if taken(c) { c } else { '_' })
        .collect()
}

/// Whether `name` ends like a marked name; then it gets a mark, too, and the two kinds of names stay distinct.
fn is_marked(name: &str) -> bool {
    name.rsplit_once('_').is_some_and(|(_, digits)| {
        digits.len() + 1 == MARK
            && digits
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

fn marked(stem: &str, server: &ServerName, tool: &str, attempt: u32) -> Arc<str> {
    let mut hash = Sha256::new();
    for part in [server.as_str(), tool] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.update(attempt.to_be_bytes());
    let digest = hash.finalize();
    let (head, _) = digest.split_first_chunk().unwrap_or((&[0; 4], &[]));
    let stem = stem.get(..MAX_EXPOSED_NAME - MARK).unwrap_or(stem);
    format!("{stem}_{:08x}", u32::from_be_bytes(*head)).into()
}

impl fmt::Display for ExposedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ExposedName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ExposedName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<ExposedName> for String {
    fn from(name: ExposedName) -> Self {
        name.0.as_ref().to_owned()
    }
}
