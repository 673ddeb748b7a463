//! The rules, as data: their descriptions, and the words they look for.

mod data;
mod needles;
mod phrases;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::phrase::Phrase;
use super::text::Word;

pub use data::SCAN_RULES;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "policies answer each of them")]
pub enum Severity {
    /// Worth knowing; honest servers do it, too.
    Low,
    /// Unusual: a person should look before the tool is used.
    Medium,
    /// Honest servers have no reason for it.
    High,
}

/// A rule of the scan.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScanRule {
    /// Its id, which stays the same.
    pub id: &'static str,
    /// The severity.
    pub severity: Severity,
    /// Its entry in OWASP's list for MCP.
    pub owasp: &'static str,
    /// The finding and its risk, for people.
    pub explanation: &'static str,
}

/// What a text is part of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Subject {
    Tool,
    Instructions,
    Result,
}

/// How much a rule matters. Only ids of rules are used, which a test ensures.
pub(super) fn severity(rule: &str) -> Severity {
    let rule = SCAN_RULES.iter().find(|it| it.id == rule);
    rule.map_or(Severity::Medium, |it| it.severity)
}

/// The rules about words that a text breaks, and where.
pub(super) fn matches(
    text: &str,
    words: &[Word],
    subject: Subject,
    place: &str,
) -> Vec<(&'static str, usize)> {
    let mut found: Vec<(&'static str, usize)> = Vec::new();
    let is_parameter = place.contains("/properties/") && place.starts_with("/inputSchema");
    let applies = |to: Applies| match to {
        Applies::Everywhere => true,
        Applies::Definitions => subject != Subject::Result,
        Applies::Results => subject == Subject::Result,
        Applies::Parameters => is_parameter,
    };
    for (at, word) in words.iter().enumerate() {
        let Some(phrases) = BY_FIRST_WORD.get(word.text.as_str()) else {
            continue;
        };
        let rest = words.get(at + 1..).unwrap_or_default();
        for (rule, to, phrase) in phrases {
            let is_new = applies(*to) && !found.iter().any(|(id, _)| id == rule);
            if is_new && phrase.goes_on(rest) {
                found.push((rule, word.at));
            }
        }
    }
    found.extend(needles::matches(text, words, subject));
    found
}

/// A phrase, its rule, and where it applies.
type Entry = (&'static str, Applies, &'static Phrase);

/// The phrases that begin with a word, with their rules.
static BY_FIRST_WORD: LazyLock<HashMap<&str, Vec<Entry>>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<_>> = HashMap::new();
    for (rule, to, phrases) in phrases::PHRASES {
        for phrase in *phrases {
            for word in phrase.first_words() {
                all.entry(word).or_default().push((*rule, *to, phrase));
            }
        }
    }
    all
});

/// Where a list of phrases applies.
#[derive(Clone, Copy, Debug)]
enum Applies {
    Everywhere,
    Definitions,
    Results,
    Parameters,
}
