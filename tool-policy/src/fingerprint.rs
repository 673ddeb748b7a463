//! Digests of tool definitions and of approval questions.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use mcp_jsonrpc::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::tool::Definition;

/// The digest of a tool's definition: SHA-256 over its name, title, description, schemas and
/// annotations as canonical JSON. The order of an object's members makes no difference; anything a
/// model or a person would see does.
#[derive(Clone, Copy, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; 32]);

/// The error of parsing a text that is not a fingerprint.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InvalidFingerprint;

impl Fingerprint {
    /// The fingerprint of a tool's definition.
    pub fn of(tool: &Tool) -> Self {
        let definition = definition(tool);
        let mut text = String::with_capacity(256 + tool.input_schema.get().len());
        canonical(&definition, &mut text);
        Self(Sha256::digest(text).into())
    }
}

/// Everything in a tool's definition that a model or a person can see: its name and description first.
pub(crate) fn definition(tool: &Tool) -> Value {
    // A schema that is nested too deeply to parse is taken as text.
    let schema = |raw: &mcp_jsonrpc::RawObject| {
        raw.parse::<Value>()
            .unwrap_or_else(|_| Value::from(raw.get()))
    };
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": schema(&tool.input_schema),
        "outputSchema": tool.output_schema.as_ref().map(schema),
        "annotations": tool.annotations,
    })
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

/// The digest of what a person is asked to approve: SHA-256 over `context` (what identifies the
/// question), the tool's definition and the arguments, each with its length. An answer that names
/// another digest answers another question.
pub fn consent_digest(context: &[&str], definition: &Definition, arguments: &str) -> String {
    let definition = [
        &*definition.server,
        &*definition.server_identity,
        &*definition.tool,
        &*definition.fingerprint,
        arguments,
    ];
    let mut hash = Sha256::new();
    for part in context.iter().copied().chain(definition) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
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
