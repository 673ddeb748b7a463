//! The plan of a compaction: what it removes. Pure.

use std::collections::BTreeSet;
use std::fmt;

use provider_adapters::Turn;
use serde::{Deserialize, Serialize};

use crate::compaction::size::{self, Scale};
use crate::compaction::{Compaction, apply};

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
    /// The most tokens of the summary, by estimate.
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
    /// What a count of the provider says of our estimates.
    pub(crate) scale: Scale,
}

impl Context<'_> {
    /// The tokens of a request.
    pub(crate) fn tokens(&self) -> u64 {
        self.overhead + self.scale.of_all(self.turns)
    }

    /// What to remove so that at most `target` tokens are left; `None` if nothing can be.
    pub(crate) fn plan(
        &self,
        compaction: &Compaction,
        target: u64,
    ) -> Result<Option<Plan>, Uncompactable> {
        let counted = |estimated: u64| self.scale.counted(estimated);
        let pinned = self.pinned.iter().filter_map(|at| self.turns.get(*at));
        let pinned: u64 = pinned.map(|turn| counted(size::of(turn))).sum();
        if pinned > 0 && self.overhead + pinned + counted(MIN_SUMMARY) > target {
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
        let latest = self.turns.len().saturating_sub(compaction.kept());
        let (old, recent) = movable.split_at(movable.partition_point(|at| *at < latest));
        let mut draft = Draft::new(self, target);
        if compaction.summarises() {
            old.iter().for_each(|at| draft.cut(*at));
        }
        draft.shrink_while_too_long(old);
        // The latest results stay if they fit once all else is gone.
        if draft.without(old) <= target {
            draft.cut_while_too_long(old);
        }
        draft.shrink_while_too_long(recent);
        draft.cut_while_too_long(&movable);
        let before = self.tokens();
        // A summary of a turn or two may be longer than they are.
        Ok((draft.left < before).then_some(draft.plan))
    }
}

/// A plan in the making.
struct Draft<'a> {
    turns: &'a [Turn],
    scale: Scale,
    target: u64,
    plan: Plan,
    /// The tokens that are left, with a summary once a turn is cut.
    left: u64,
}

impl<'a> Draft<'a> {
    fn new(context: &Context<'a>, target: u64) -> Self {
        let eighth = context.scale.estimated(target / 8);
        let left = context.tokens();
        let plan = Plan {
            before: left,
            summary: eighth.clamp(MIN_SUMMARY, MAX_SUMMARY),
            ..Plan::default()
        };
        Self {
            turns: context.turns,
            scale: context.scale,
            target,
            plan,
            left,
        }
    }

    /// What is there of a turn now.
    fn size(&self, at: usize) -> u64 {
        let turn = self.turns.get(at).filter(|_| !self.plan.cut.contains(&at));
        let whole = turn.map_or(0, size::of);
        let shrunk = turn.filter(|_| self.plan.shrink.contains(&at));
        self.scale
            .counted(shrunk.and_then(apply::shrunk_size).unwrap_or(whole))
    }

    fn summary(&self) -> u64 {
        self.scale.counted(self.plan.summary)
    }

    /// The tokens that are left once these turns are cut.
    fn without(&self, turns: &[usize]) -> u64 {
        let more = self.plan.cut.is_empty() && !turns.is_empty();
        let cut: u64 = turns.iter().map(|at| self.size(*at)).sum();
        self.left - cut + self.summary() * u64::from(more)
    }

    fn cut(&mut self, at: usize) {
        self.left = self.without(&[at]);
        self.plan.shrink.remove(&at);
        self.plan.cut.insert(at);
    }

    fn cut_while_too_long(&mut self, turns: &[usize]) {
        for at in turns {
            if self.left > self.target && !self.plan.cut.contains(at) {
                self.cut(*at);
            }
        }
    }

    fn shrink_while_too_long(&mut self, turns: &[usize]) {
        for at in turns {
            let turn = self.turns.get(*at);
            let turn = turn.filter(|_| self.left > self.target && !self.plan.cut.contains(at));
            if turn.and_then(apply::shrunk_size).is_some() {
                let before = self.size(*at);
                self.plan.shrink.insert(*at);
                self.left = self.left - before + self.size(*at);
            }
        }
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
