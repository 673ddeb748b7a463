//! Our secrets in the arguments of calls: a secret of one server has no business at another.

use std::collections::BTreeSet;
use std::fmt;

use mcp_jsonrpc::RawObject;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Shorter values are not looked for: they are found in ordinary text.
const MIN_LENGTH: usize = 8;
/// The most secrets that are known; more are not added.
const MAX_SECRETS: usize = 1000;
/// Longer values, such as whole files of keys, are known by their beginning.
const MAX_LENGTH: usize = 4096;

/// Whose a secret is. Displays as in `GITHUB_TOKEN of the server "github"`; never with the value.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[non_exhaustive]
pub struct SecretSource {
    /// The server that it is for; none if it is for something else, such as a model's provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The variable, the header, or what else people call it.
    pub name: String,
}

/// The secrets that a host knows, to be found in the arguments of calls: as they are, in base64 and
/// percent-encoded.
///
/// ```
/// use tool_policy::Secrets;
///
/// let mut secrets = Secrets::default();
/// secrets.add_of_server("github", "GITHUB_TOKEN", "ghp_0123456789");
/// let arguments = serde_json::from_str(r#"{"body": "see ghp_0123456789"}"#)?;
/// let found = secrets.find("mail", &arguments).ok_or("not found")?;
/// assert_eq!(found.to_string(), r#"GITHUB_TOKEN of the server "github""#);
/// assert_eq!(secrets.find("github", &arguments), None); // it is its own
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Secrets {
    all: Vec<Known>,
}

#[derive(Clone)]
struct Known {
    source: SecretSource,
    value: String,
    /// What every text in base64 that has it inside contains, by where it begins in a group of three.
    encoded: [String; 3],
}

impl Secrets {
    /// Adds a secret of a server.
    pub fn add_of_server(&mut self, server: &str, name: &str, value: &str) {
        self.add(Some(server.to_owned()), name, value);
    }

    /// Adds a secret that is for no server, such as the key of a model's provider.
    pub fn add_other(&mut self, name: &str, value: &str) {
        self.add(None, name, value);
    }

    fn add(&mut self, server: Option<String>, name: &str, value: &str) {
        // `Bearer …` and the like: what is after it is the secret.
        let value = match value.split_once(' ') {
            Some((scheme, rest)) if scheme.chars().all(|c| c.is_ascii_alphabetic()) => rest,
            _ => value,
        };
        let mut end = value.trim().len().min(MAX_LENGTH);
        while !value.trim().is_char_boundary(end) {
            end -= 1;
        }
        let value = value.trim().get(..end).unwrap_or_default();
        if value.len() < MIN_LENGTH || self.all.len() >= MAX_SECRETS {
            return;
        }
        let name = name.to_owned();
        self.all.push(Known {
            source: SecretSource { server, name },
            value: value.to_owned(),
            encoded: [0, 1, 2].map(|shift| inside_base64(value.as_bytes(), shift)),
        });
    }

    /// The secrets of both.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        let room = MAX_SECRETS.saturating_sub(self.all.len());
        self.all.extend(others.all.into_iter().take(room));
        self
    }

    /// A secret in the arguments of a call that its server does not have itself.
    pub fn find(&self, server: &str, arguments: &RawObject) -> Option<&SecretSource> {
        if self.all.is_empty() {
            return None;
        }
        let is_own = |known: &&Known| known.source.server.as_deref() == Some(server);
        let own: BTreeSet<&str> = self
            .all
            .iter()
            .filter(is_own)
            .map(|it| &*it.value)
            .collect();
        let others: Vec<&Known> = self
            .all
            .iter()
            .filter(|it| !own.contains(&*it.value))
            .collect();
        // What is nested too deeply to parse is searched as text.
        let arguments = arguments
            .parse::<Value>()
            .unwrap_or_else(|_| Value::from(arguments.get()));
        find_in(&others, &arguments)
    }
}

/// A secret in a value, which is nested no deeper than JSON is parsed.
fn find_in<'a>(secrets: &[&'a Known], value: &Value) -> Option<&'a SecretSource> {
    match value {
        Value::String(text) => find_in_text(secrets, text),
        Value::Array(items) => items.iter().find_map(|item| find_in(secrets, item)),
        Value::Object(members) => members.iter().find_map(|(name, item)| {
            find_in_text(secrets, name).or_else(|| find_in(secrets, item))
        }),
        // A number may be a secret, too.
        Value::Number(number) => find_in_text(secrets, &number.to_string()),
        Value::Null | Value::Bool(_) => None,
    }
}

fn find_in_text<'a>(secrets: &[&'a Known], text: &str) -> Option<&'a SecretSource> {
    if text.len() < MIN_LENGTH {
        return None;
    }
    let decoded = text.contains('%').then(|| percent_decoded(text));
    let plain = decoded.as_deref().unwrap_or(text);
    // Both alphabets as one, without the line breaks that mail has.
    let folded: String = plain
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    let holds = |known: &&&Known| {
        text.contains(&known.value)
            || plain.contains(&known.value)
            || known.encoded.iter().any(|it| folded.contains(it))
    };
    secrets.iter().find(holds).map(|known| &known.source)
}

/// The characters that base64 has of these bytes alone, if they begin at this place of a group of three.
fn inside_base64(bytes: &[u8], shift: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| {
        let byte = bytes.get(at / 8).copied().unwrap_or_default();
        usize::from((byte >> (7 - at % 8)) & 1)
    };
    // The first character that has no bit of what comes before.
    let skipped = (6 - shift * 8 % 6) % 6;
    let count = (bytes.len() * 8).saturating_sub(skipped) / 6;
    let character = |at: usize| {
        let first = skipped + at * 6;
        let index = (first..first + 6).fold(0, |index, at| (index << 1) | bit(at));
        char::from(ALPHABET.get(index).copied().unwrap_or(b'='))
    };
    (0..count).map(character).collect()
}

/// A text with `%41` as `A`. What is no text then stays out.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources = self.all.iter().map(|known| &known.source);
        f.debug_list().entries(sources).finish()
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            Some(server) => write!(f, "{} of the server {server:?}", self.name),
            None => f.write_str(&self.name),
        }
    }
}
