//! The plan of a compaction: what it removes. Pure.

use std::collections::BTreeSet;
use std::fmt;

use provider_adapters::Turn;
use serde::{Deserialize, Serialize};

use crate::compaction::{Compaction, apply, size};

/// The most tokens of a summary.
const MAX_SUMMARY: u64 = 2_000;
/// The fewest tokens that are left for one.
const MIN_SUMMARY: u64 = 40;

/// What a compaction removes, by positions in the conversation.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Plan {
    /// Turns whose place a summary takes.
    pub(crate) cut: BTreeSet<usize>,
    /// Turns whose results are dropped.
    pub(crate) shrink: BTreeSet<usize>,
    /// The most tokens of the summary.
    pub(crate) summary: u64,
    /// How many tokens the request had before.
    pub(crate) before: u64,
}

/// What cannot be removed is more than what may be left.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Uncompactable {
    /// The pinned turns, by position.
    pub(crate) pinned: Vec<usize>,
    /// Their tokens.
    pub(crate) tokens: u64,
    /// The tokens of instructions and tools.
    pub(crate) overhead: u64,
    /// The tokens that were to be left.
    pub(crate) target: u64,
}

/// The conversation, and what is known about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) turns: &'a [Turn],
    pub(crate) pinned: &'a BTreeSet<usize>,
    /// Tokens of a request besides its turns: instructions and tools.
    pub(crate) overhead: u64,
}

impl Context<'_> {
    /// The tokens of a request.
    pub(crate) fn tokens(&self) -> u64 {
        self.overhead + size::of_all(self.turns)
    }

    /// What to remove so that at most `target` tokens are left; `None` if nothing can be.
    pub(crate) fn plan(
        &self,
        compaction: &Compaction,
        target: u64,
    ) -> Result<Option<Plan>, Uncompactable> {
        let sizes: Vec<u64> = self.turns.iter().map(size::of).collect();
        let of = |at: usize| sizes.get(at).copied().unwrap_or(0);
        let pinned: u64 = self.pinned.iter().map(|at| of(*at)).sum();
        let before = self.tokens();
        let summary = (target / 8).clamp(MIN_SUMMARY, MAX_SUMMARY);
        if pinned > 0 && self.overhead + pinned + MIN_SUMMARY > target {
            return Err(Uncompactable {
                pinned: self.pinned.iter().copied().collect(),
                tokens: pinned,
                overhead: self.overhead,
                target,
            });
        }
        let last_user = self
            .turns
            .iter()
            .rposition(|turn| matches!(turn, Turn::User(_)));
        let is_fixed = |at: usize| self.pinned.contains(&at) || last_user == Some(at);
        let movable: Vec<usize> = (0..self.turns.len()).filter(|at| !is_fixed(*at)).collect();
        let old = self.turns.len().saturating_sub(compaction.kept());
        let mut plan = Plan {
            before,
            ..Plan::default()
        };
        // The tokens that are left, with a summary once a turn is cut.
        let mut left = before;
        if compaction.summarises() {
            for at in movable.iter().filter(|at| **at < old) {
                left -= of(*at);
                plan.cut.insert(*at);
            }
            left += summary * u64::from(!plan.cut.is_empty());
        }
        for at in &movable {
            if left <= target {
                break;
            }
            let saved = self.turns.get(*at).map_or(0, apply::saved_by_shrinking);
            if !plan.cut.contains(at) && saved > 0 {
                left -= saved;
                plan.shrink.insert(*at);
            }
        }
        for at in &movable {
            if left <= target {
                break;
            }
            if plan.cut.contains(at) {
                continue;
            }
            if plan.cut.is_empty() {
                left += summary;
            }
            let shrunk = plan.shrink.remove(at);
            let turn = self.turns.get(*at).filter(|_| shrunk);
            left -= of(*at) - turn.map_or(0, apply::saved_by_shrinking);
            plan.cut.insert(*at);
        }
        plan.summary = summary;
        // A summary of a turn or two may be longer than they are.
        Ok((left < before).then_some(plan))
    }
}

impl fmt::Display for Uncompactable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pinned = self.pinned.iter().map(|at| (at + 1).to_string());
        let pinned: Vec<String> = pinned.collect();
        write!(
            f,
            "the conversation cannot be compacted to {} tokens: pinned turns {} have about {}, \
             instructions and tools about {}; unpin some, or raise the target",
            self.target,
            pinned.join(", "),
            self.tokens,
            self.overhead
        )
    }
}
