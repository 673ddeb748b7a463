//! The result of a scan for a tool as a whole.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::rules::SCAN_RULES;
use super::{Finding, Severity};

/// Signs of an attack in a tool's definition: the most severe of its [findings](Finding).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alarm {
    /// The highest severity of its findings.
    pub severity: Severity,
    /// The severities of all findings.
    #[serde(default)]
    pub severities: BTreeSet<Severity>,
    /// The finding and its location, for people: safe to show.
    pub reason: String,
}

impl Alarm {
    /// The alarm for these findings; `None` if there are none.
    pub fn of(findings: &[Finding]) -> Option<Self> {
        let gravest = findings.iter().max_by_key(|finding| finding.severity)?;
        Some(Self {
            severity: gravest.severity,
            severities: findings.iter().map(|it| it.severity).collect(),
            reason: gravest.to_string(),
        })
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rule = SCAN_RULES.iter().find(|rule| rule.id == self.rule);
        let explanation = rule.map_or("", |rule| rule.explanation);
        write!(f, "{} ({}", explanation.trim_end_matches('.'), self.rule)?;
        match self.place.as_str() {
            "" => write!(f, "): {}", self.evidence),
            place => write!(f, ", {}): {}", place.escape_debug(), self.evidence),
        }
    }
}
