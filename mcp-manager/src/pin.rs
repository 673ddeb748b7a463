//! Tools as they were when somebody approved them.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use mcp_jsonrpc::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::catalog::{Catalog, Entry};
use mcp_config::ServerName;

/// What a tool's definition comes down to: SHA-256 over its name, title, description, schemas and
/// annotations as canonical JSON. The order in which a server writes an object's members makes no
/// difference; anything a model or a person would see does.
#[derive(Clone, Copy, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; 32]);

/// A text that is no fingerprint.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InvalidFingerprint;

/// The definitions that somebody approved, to be kept over restarts: a server that changes a tool
/// afterwards (a rug pull) is found out.
///
/// In JSON: `{"server": {"tool": "sha256:…"}}`.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Pins(BTreeMap<ServerName, BTreeMap<String, Fingerprint>>);

/// How a tool stands to what was approved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PinState {
    /// Nobody approved it.
    New,
    /// It is what was approved.
    Unchanged,
    /// It is something else than what was approved.
    Changed {
        /// What was approved.
        approved: Fingerprint,
    },
}

impl Fingerprint {
    pub(crate) fn of(tool: &Tool) -> Self {
        // A schema too deep to read stays text.
        let schema = |raw: &mcp_jsonrpc::RawObject| {
            raw.parse::<Value>()
                .unwrap_or_else(|_| Value::from(raw.get()))
        };
        let definition = json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": schema(&tool.input_schema),
            "outputSchema": tool.output_schema.as_ref().map(schema),
            "annotations": tool.annotations,
        });
        let mut text = String::with_capacity(256 + tool.input_schema.get().len());
        canonical(&definition, &mut text);
        Self(Sha256::digest(text).into())
    }
}

/// JSON with every object's members in the order of their names.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (name, value) in members {
                // Writing to a `String` does not fail.
                let _ = write!(out, "{}:", Value::from(name.as_str()));
                canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
        scalar => {
            let _ = write!(out, "{scalar}");
        }
    }
}

impl Pins {
    /// Nothing is approved.
    pub fn new() -> Self {
        Self::default()
    }

    /// Approves a tool as it is now.
    pub fn approve(&mut self, entry: &Entry) {
        self.0
            .entry(entry.server().clone())
            .or_default()
            .insert(entry.name().to_owned(), *entry.fingerprint());
    }

    /// Takes an approval back.
    pub fn forget(&mut self, server: &ServerName, tool: &str) {
        if let Some(tools) = self.0.get_mut(server) {
            tools.remove(tool);
            if tools.is_empty() {
                self.0.remove(server);
            }
        }
    }

    /// Takes back all approvals of a server's tools.
    pub fn forget_server(&mut self, server: &ServerName) {
        self.0.remove(server);
    }

    /// How a tool stands to what was approved.
    pub fn check(&self, entry: &Entry) -> PinState {
        let tools = self.0.get(entry.server());
        match tools.and_then(|tools| tools.get(entry.name())) {
            None => PinState::New,
            Some(approved) if approved == entry.fingerprint() => PinState::Unchanged,
            Some(&approved) => PinState::Changed { approved },
        }
    }

    /// The tools of `catalog` that are not what was approved, in its order.
    pub fn changed<'a>(&self, catalog: &'a Catalog) -> impl Iterator<Item = &'a Entry> {
        catalog
            .tools()
            .iter()
            .map(AsRef::as_ref)
            .filter(|entry| matches!(self.check(entry), PinState::Changed { .. }))
    }

    /// Whether nothing is approved.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

impl FromStr for Fingerprint {
    type Err = InvalidFingerprint;

    fn from_str(text: &str) -> Result<Self, InvalidFingerprint> {
        let hex = text.strip_prefix("sha256:").ok_or(InvalidFingerprint)?;
        if hex.len() != 64 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(InvalidFingerprint);
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let digits = hex.get(2 * at..2 * at + 2).ok_or(InvalidFingerprint)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| InvalidFingerprint)?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = InvalidFingerprint;

    fn try_from(text: String) -> Result<Self, InvalidFingerprint> {
        text.parse()
    }
}

impl fmt::Display for InvalidFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fingerprint is `sha256:` and 64 hexadecimal digits")
    }
}

impl std::error::Error for InvalidFingerprint {}
