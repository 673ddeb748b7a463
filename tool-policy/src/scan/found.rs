//! What a scan has found so far: never more than is worth knowing.

use super::rules;
use super::{Finding, MAX_FINDINGS};

/// Names of tools that a definition may command something about; beyond them it says too much.
const MAX_MENTIONS: usize = 256;

/// Findings, and names that are findings where another server has a tool of that name.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    pub(super) mentions: Vec<Mention>,
}

/// A name that a text commands something about.
#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) evidence: String,
}

impl Found {
    /// Adds a finding, once a rule and place. Of too many, the gravest stay.
    pub(super) fn add(
        &mut self,
        rule: &'static str,
        place: &str,
        evidence: impl FnOnce() -> String,
    ) {
        let severity = rules::severity(rule);
        let is_known = |it: &Finding| it.rule == rule && it.place == place;
        if self.findings.iter().any(is_known) {
            return;
        }
        let room = if self.findings.len() < MAX_FINDINGS {
            None
        } else {
            let mildest = self.findings.iter_mut().min_by_key(|it| it.severity);
            match mildest.filter(|it| it.severity < severity) {
                Some(milder) => Some(milder),
                None => return,
            }
        };
        let finding = Finding {
            rule,
            severity,
            place: place.to_owned(),
            evidence: evidence(),
        };
        match room {
            Some(milder) => *milder = finding,
            None => self.findings.push(finding),
        }
    }

    /// Adds a name that something is commanded about.
    pub(super) fn mention(&mut self, name: &str, place: &str, evidence: impl FnOnce() -> String) {
        if self.mentions.iter().any(|it| it.name == name) {
            return;
        }
        if self.mentions.len() >= MAX_MENTIONS {
            self.add("too-much-text", place, || {
                "more names of tools than are compared".to_owned()
            });
            return;
        }
        self.mentions.push(Mention {
            name: name.to_owned(),
            place: place.to_owned(),
            evidence: evidence(),
        });
    }
}
