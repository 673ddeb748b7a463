//! The verdict on one run of one case. Pure: it depends only on observations.

use std::time::Duration;

use serde_json::Value;

use super::check::{is_call, leak};
use super::{Case, Expect, Text};
use crate::{Event, TransportKind};

/// Observations of a client.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Its output, without empty lines.
    pub lines: Vec<String>,
    /// The time of the first line.
    pub answered_after: Option<Duration>,
    /// How its process ended.
    pub ended: Ended,
    /// Its peak memory, in MB.
    pub memory_mb: u64,
    /// The command lines of the processes it left behind.
    pub left: Vec<String>,
    /// The tail of its standard error.
    pub stderr: String,
    /// What the server saw.
    pub events: Vec<Event>,
}

/// How a client's process ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ended {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// Killed by us: it took too long.
    TooSlow,
    /// Killed by us: it took too much memory.
    TooBig,
}

/// The verdict.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Success; the outcome in a few words.
    Passed(String),
    /// The failures.
    Failed(Vec<String>),
    /// The driver does not support the case; its message.
    Skipped(String),
}

impl Case {
    /// Judges one run.
    #[must_use]
    pub fn judge(&self, observed: &Observed) -> Verdict {
        let printed = observed
            .lines
            .first()
            .and_then(|line| serde_json::from_str::<Value>(line).ok());
        if let Some(why) = printed.as_ref().and_then(|line| line.get("unsupported")) {
            return Verdict::Skipped(why.to_string());
        }
        let mut failures = self.end_failures(observed);
        let outcome = printed.as_ref().and_then(|line| {
            let ok = line.get("ok")?.as_bool()?;
            Some((ok, line))
        });
        let mut words = String::new();
        match outcome {
            Some((true, line)) => {
                failures.extend(self.success_failures(line, observed));
                words = format!(
                    "ok {}",
                    clip(line.get("text").and_then(Value::as_str).unwrap_or_default())
                );
            }
            Some((false, line)) => {
                let error = line
                    .get("error")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                failures.extend(self.error_failures(error));
                words = format!("error {}", clip(error));
            }
            None if matches!(observed.ended, Ended::Status(_)) => {
                failures.push(format!("no line of JSON: {}", clip(tail(&observed.stderr))));
            }
            None => {}
        }
        if let (Some(took), true) = (observed.answered_after, outcome.is_some())
            && took > self.within
        {
            failures.push(format!(
                "the outcome took {:.1} s of {:.0}",
                took.as_secs_f64(),
                self.within.as_secs_f64()
            ));
        }
        failures.extend(self.trace_failures(observed));
        if failures.is_empty() {
            Verdict::Passed(words)
        } else {
            if let Some((false, line)) = outcome {
                failures.push(format!("it said: {}", clip(&line.to_string())));
            }
            Verdict::Failed(failures)
        }
    }

    /// Failures in the way the process ended, and in its use of memory.
    fn end_failures(&self, observed: &Observed) -> Vec<String> {
        let mut failures = Vec::new();
        match observed.ended {
            Ended::Status(0) => {}
            Ended::Status(status) => {
                failures.push(format!(
                    "exit status {status}: {}",
                    clip(tail(&observed.stderr))
                ));
            }
            Ended::Signal(signal) => failures.push(format!("killed by signal {signal}")),
            Ended::TooSlow => {
                let what = if observed.answered_after.is_some() {
                    "exit"
                } else {
                    "outcome"
                };
                failures.push(format!(
                    "HANG: no {what} within {:.0} s",
                    self.exit_within.as_secs_f64()
                ));
            }
            Ended::TooBig => failures.push(format!("MEMORY: more than {} MB", self.memory_mb)),
        }
        if observed.lines.len() > 1 {
            failures.push(format!("{} lines on standard output", observed.lines.len()));
        }
        if let Some(at) = observed.stderr.find("panicked at") {
            failures.push(format!(
                "PANIC: {}",
                clip(observed.stderr.get(at..).unwrap_or_default())
            ));
        }
        if observed.memory_mb > self.memory_mb && observed.ended != Ended::TooBig {
            failures.push(format!(
                "MEMORY: {} MB of {}",
                observed.memory_mb, self.memory_mb
            ));
        }
        let left = observed.left.iter().filter(|command| {
            self.may_leave
                .is_none_or(|program| !command.starts_with(program))
        });
        failures.extend(left.map(|command| format!("LEFT BEHIND: {}", clip(command))));
        failures
    }

    fn success_failures(&self, line: &Value, observed: &Observed) -> Vec<String> {
        let mut failures = Vec::new();
        let text = line.get("text").and_then(Value::as_str).unwrap_or_default();
        match &self.expect {
            Expect::Error(_) => failures.push(format!("must be an error, got '{}'", clip(text))),
            Expect::Ok(Text::Exactly(wanted)) | Expect::Either(Text::Exactly(wanted)) => {
                if text != wanted {
                    failures.push(format!("must be '{}', got '{}'", clip(wanted), clip(text)));
                }
            }
            Expect::Ok(Text::Letters(count)) | Expect::Either(Text::Letters(count)) => {
                let length = line.get("len").and_then(Value::as_u64);
                if text != "x".repeat(64) || length != u64::try_from(*count).ok() {
                    failures.push(format!(
                        "must be {count} letters x, got '{}' ({length:?})",
                        clip(text)
                    ));
                }
            }
        }
        if !observed.events.iter().any(|event| is_call(&event.seen)) {
            failures.push("claims success, but no call reached the server".to_owned());
        }
        failures
    }

    fn error_failures(&self, error: &str) -> Vec<String> {
        match &self.expect {
            Expect::Ok(_) => vec!["must succeed".to_owned()],
            _ if error.trim().is_empty() => vec!["an error without words".to_owned()],
            Expect::Error(mentions) => {
                let lower = error.to_lowercase();
                let missing = mentions
                    .iter()
                    .filter(|word| !lower.contains(&word.to_lowercase()));
                missing
                    .map(|word| format!("the error does not say '{word}'"))
                    .collect()
            }
            Expect::Either(_) => Vec::new(),
        }
    }

    /// Failures in what the server saw, and forbidden words.
    fn trace_failures(&self, observed: &Observed) -> Vec<String> {
        let line = observed
            .lines
            .first()
            .map(String::as_str)
            .unwrap_or_default();
        let forged = self.never.iter().filter(|word| line.contains(**word));
        let mut failures: Vec<String> = forged
            .map(|word| format!("took a forged answer ({word})"))
            .collect();
        failures.extend(
            self.checks
                .iter()
                .filter_map(|check| check.failure(&observed.events)),
        );
        if self.shape != TransportKind::Stdio {
            failures.extend(leak(&observed.events));
        }
        failures
    }
}

fn clip(text: &str) -> String {
    let mut short: String = text.chars().take(160).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short.replace(char::is_control, " ")
}

fn tail(text: &str) -> &str {
    let text = text.trim();
    let start = text.len().saturating_sub(160);
    (start..=text.len())
        .find_map(|at| text.get(at..))
        .unwrap_or_default()
}
