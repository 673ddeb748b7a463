//! One line of the report.

use std::fmt;

use mcp_testkit::chaos::{self, Case, Expect};
use serde_json::{Value, json};

/// The result of one case.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) verdict: Verdict,
    expect: &'static str,
    answered_s: Option<f64>,
    exited_s: Option<f64>,
    memory_mb: u64,
    remark: String,
}

/// The verdict.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    Skipped,
}

impl Row {
    pub(crate) fn new(
        case: &Case,
        verdict: &chaos::Verdict,
        answered_s: Option<f64>,
        exited_s: f64,
        memory_mb: u64,
    ) -> Self {
        let (verdict, remark) = match verdict {
            chaos::Verdict::Failed(failures) => (Verdict::Failed, failures.join("; ")),
            chaos::Verdict::Skipped(why) => (Verdict::Skipped, why.clone()),
            chaos::Verdict::Passed(words) => (Verdict::Passed, words.clone()),
            other => (Verdict::Failed, format!("{other:?}")),
        };
        Self {
            name: case.name.clone(),
            verdict,
            expect: expectation(case),
            answered_s,
            exited_s: Some(exited_s),
            memory_mb,
            remark,
        }
    }

    /// The suite itself failed.
    pub(crate) fn broken(case: &Case, why: &str) -> Self {
        Self {
            name: case.name.clone(),
            verdict: Verdict::Failed,
            expect: expectation(case),
            answered_s: None,
            exited_s: None,
            memory_mb: 0,
            remark: format!("SUITE: {why}"),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "verdict": self.verdict.word(), "answered": self.answered_s, "exited": self.exited_s,
            "memory": self.memory_mb, "remark": self.remark,
        })
    }

    pub(crate) fn from_json(case: &Case, text: &str) -> Self {
        let Ok(row) = serde_json::from_str::<Value>(text) else {
            return Self::broken(case, "it printed no row");
        };
        let verdict = match row.get("verdict").and_then(Value::as_str) {
            Some("pass") => Verdict::Passed,
            Some("skip") => Verdict::Skipped,
            _ => Verdict::Failed,
        };
        let number = |name: &str| row.get(name).and_then(Value::as_f64);
        Self {
            name: case.name.clone(),
            verdict,
            expect: expectation(case),
            answered_s: number("answered"),
            exited_s: number("exited"),
            memory_mb: row.get("memory").and_then(Value::as_u64).unwrap_or(0),
            remark: row
                .get("remark")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
        }
    }

    pub(crate) fn head() -> String {
        format!(
            "{:<40} {:<6} {:>6} {:>6} {:>4}  verdict",
            "case", "expect", "answer", "exit", "MB"
        )
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.2}"));
        write!(
            f,
            "{:<40} {:<6} {:>6} {:>6} {:>4}  {}  {}",
            self.name,
            self.expect,
            seconds(self.answered_s),
            seconds(self.exited_s),
            self.memory_mb,
            self.verdict.word(),
            self.remark
        )
    }
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed => "FAIL",
            Self::Skipped => "skip",
        }
    }
}

fn expectation(case: &Case) -> &'static str {
    match case.expect {
        Expect::Ok(_) => "ok",
        Expect::Error(_) => "error",
        _ => "either",
    }
}
