//! What a scan says about a tool as a whole.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::rules::SCAN_RULES;
use super::{Finding, Severity};

/// That a tool's definition has signs of an attack: the gravest of its [findings](Finding).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alarm {
    /// How much the gravest matters.
    pub severity: Severity,
    /// How much each of them matters.
    #[serde(default)]
    pub severities: BTreeSet<Severity>,
    /// What was found and where, for people: safe to show.
    pub reason: String,
}

impl Alarm {
    /// The alarm that findings give; `None` if there are none.
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
