//! Lines of JSON in which each names the hash of the one before. Pure.
//!
//! A line that was changed, removed or inserted breaks the chain. Lines cut off at the end do not: the
//! hash of the last one has to be kept elsewhere.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

const HASH: &str = ",\"hash\":\"";

/// The place in a chain after its last line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Chain {
    previous: String,
    lines: u64,
}

impl Chain {
    /// The start of the chain of this name.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            previous: hash(name.as_bytes()),
            lines: 0,
        }
    }

    /// The next line, without its line break.
    pub(crate) fn append(&mut self, members: Map<String, Value>) -> String {
        let mut body = Map::new();
        body.insert("number".to_owned(), Value::from(self.lines + 1));
        body.insert("previous".to_owned(), Value::from(&*self.previous));
        body.extend(members);
        let mut line = Value::Object(body).to_string();
        let digest = hash(line.as_bytes());
        line.pop();
        line.push_str(HASH);
        line.push_str(&digest);
        line.push_str("\"}");
        self.previous = digest;
        self.lines += 1;
        line
    }

    /// The hash of the last line.
    pub(crate) fn last(&self) -> &str {
        &self.previous
    }

    /// The number of lines.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Checks the next line; the error says what is wrong with it.
    pub(crate) fn check(&mut self, line: &str) -> Result<(), String> {
        let split = line.rfind(HASH).map(|at| line.split_at(at));
        let Some((body, rest)) = split else {
            return Err("it has no hash".to_owned());
        };
        let digest = rest.get(HASH.len()..).and_then(|it| it.strip_suffix("\"}"));
        let body = format!("{body}}}");
        let found = hash(body.as_bytes());
        if digest != Some(&*found) {
            return Err("it was changed: its hash is another".to_owned());
        }
        let parsed: Value = serde_json::from_str(&body).map_err(|error| error.to_string())?;
        if parsed.get("previous").and_then(Value::as_str) != Some(&*self.previous) {
            return Err("it does not follow the line before it".to_owned());
        }
        self.previous = found;
        self.lines += 1;
        Ok(())
    }
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<String> {
        let mut chain = Chain::new("a");
        let line = |text: &str| {
            [("text".to_owned(), Value::from(text))]
                .into_iter()
                .collect()
        };
        let texts = ["one", ",\"hash\":\"two\"}", "three"];
        texts.map(|text| chain.append(line(text))).into()
    }

    fn verify(name: &str, lines: &[String]) -> Result<u64, String> {
        let mut chain = Chain::new(name);
        lines.iter().try_for_each(|line| chain.check(line))?;
        Ok(chain.lines)
    }

    #[test]
    fn a_chain_as_it_was_written_is_good_and_its_lines_are_json() {
        let lines = lines();
        assert_eq!(verify("a", &lines), Ok(3));
        for line in &lines {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn a_changed_removed_moved_or_foreign_line_breaks_it() {
        let good = lines();
        for at in 0..3 {
            let mut changed = good.clone();
            changed[at] = changed[at].replacen("text", "next", 1);
            assert!(verify("a", &changed).is_err());
        }
        let removed = [good[0].clone(), good[2].clone()];
        assert!(verify("a", &removed).is_err());
        assert!(verify("a", &good[1..]).is_err());
        let moved = [good[1].clone(), good[0].clone(), good[2].clone()];
        assert!(verify("a", &moved).is_err());
        assert!(verify("b", &good).is_err(), "another chain's name");
    }
}
