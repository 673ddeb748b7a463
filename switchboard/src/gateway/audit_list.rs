//! The calls of the audit log, newest first: all records of a call as one.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::audit_file::read;
use super::audit_folder::files;

/// A call, as people read it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AuditedCall {
    pub(crate) time: String,
    pub(crate) caller: String,
    pub(crate) client: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) decision: String,
    /// `None` for a call that does not run, or still runs.
    pub(crate) outcome: Option<String>,
    pub(crate) duration_ms: Option<u64>,
    /// The digest of its arguments.
    pub(crate) arguments: String,
}

impl AuditedCall {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "time": self.time, "caller": self.caller, "client": self.client,
            "server": self.server, "tool": self.tool, "decision": self.decision,
            "outcome": self.outcome, "durationMs": self.duration_ms,
            "argumentsDigest": self.arguments,
        })
    }

    fn has(&self, text: &str) -> bool {
        let outcome = self.outcome.as_deref().unwrap_or_default();
        let fields = [
            &self.time,
            &self.caller,
            &self.client,
            &self.server,
            &self.tool,
            &self.decision,
        ];
        let mut fields = fields.iter().map(|it| it.as_str()).chain([outcome]);
        fields.any(|field| field.to_lowercase().contains(text))
    }
}

/// The latest calls in which `text` occurs, newest first.
pub(crate) fn latest(text: &str, limit: usize) -> io::Result<Vec<AuditedCall>> {
    let text = text.to_lowercase();
    let mut found = Vec::new();
    for file in files()?.iter().rev() {
        let calls = of_file(file)?;
        found.extend(calls.into_iter().rev().filter(|call| call.has(&text)));
        if found.len() >= limit {
            break;
        }
    }
    // Several gateways write at once.
    found.sort_by(|a, b| b.time.cmp(&a.time));
    found.truncate(limit);
    Ok(found)
}

fn of_file(path: &Path) -> io::Result<Vec<AuditedCall>> {
    let lines = read(path)?.lines;
    let lines = lines
        .iter()
        .filter_map(|(line, _)| serde_json::from_str(line).ok());
    Ok(calls(lines))
}

/// The calls of one file's records, oldest first.
fn calls(records: impl Iterator<Item = Value>) -> Vec<AuditedCall> {
    let mut calls: Vec<AuditedCall> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for record in records {
        let member = |name: &str| record.get(name);
        let text = |name: &str| {
            let text = member(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let outcome = member("outcome").and_then(Value::as_str);
        if member("event").is_some() {
            calls.push(AuditedCall {
                time: text("time"),
                caller: text("user"),
                client: text("by"),
                server: "switchboard".to_owned(),
                tool: text("event"),
                decision: text("detail"),
                outcome: outcome.map(str::to_owned),
                duration_ms: None,
                arguments: String::new(),
            });
            continue;
        }
        let duration_ms = member("durationMs").and_then(Value::as_u64);
        let place = places.get(&text("call")).copied();
        match place.and_then(|at| calls.get_mut(at)) {
            Some(call) => {
                call.outcome = outcome.map(str::to_owned);
                call.duration_ms = duration_ms;
            }
            None => {
                places.insert(text("call"), calls.len());
                calls.push(AuditedCall {
                    time: text("time"),
                    caller: text("caller"),
                    client: text("client"),
                    server: text("server"),
                    tool: text("tool"),
                    decision: text("decision"),
                    outcome: outcome.map(str::to_owned),
                    duration_ms,
                    arguments: text("arguments"),
                });
            }
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_records_of_a_call_are_one_line() {
        let record = |call: &str, tool: &str, outcome: Option<&str>| {
            json!({"time": "t", "call": call, "tool": tool, "decision": "allowed",
                "outcome": outcome, "durationMs": outcome.map(|_| 7)})
        };
        let records = [
            record("1", "a", None),
            record("2", "b", None),
            record("1", "a", Some("succeeded")),
        ];
        let calls = calls(records.into_iter());
        let seen: Vec<_> = calls
            .iter()
            .map(|it| (it.tool.as_str(), it.duration_ms))
            .collect();
        assert_eq!(seen, [("a", Some(7)), ("b", None)]);
        assert!(calls[0].has("succ") && !calls[1].has("succ"));
    }
}
