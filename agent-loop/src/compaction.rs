//! Fits a conversation into the model's context window.

pub(crate) mod apply;
pub(crate) mod plan;
pub(crate) mod size;
pub(crate) mod transcript;

use provider_adapters::Turn;
use serde::{Deserialize, Serialize};

/// The settings of compaction: when and how a conversation is shortened to fit the model's context window.
///
/// Calls stay with their results, and [pinned](crate::Run::pin) turns and the last user turn stay unchanged.
/// [`records`](crate::Run::records) still has every call with its complete result.
///
/// ```
/// use agent_loop::{Compaction, Run};
///
/// let window = 200_000;
/// let run = Run::default().with_compaction(Compaction::at(window * 8 / 10).keep_turns(6));
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Compaction {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<u64>,
    keep_turns: usize,
    strategy: Strategy,
}

/// The treatment of old turns.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strategy {
    /// A summary replaces them, written by the model or by [`Agent::on_compaction`](crate::Agent::on_compaction).
    #[default]
    Summarise,
    /// Results of old calls are dropped, and if that is not enough, old turns as well.
    DropResults,
}

impl Compaction {
    /// Compacts before a request of at least this many tokens, by the provider's last count and an estimate of what was
    /// added since, and when the provider rejects a request as too long.
    pub fn at(tokens: u64) -> Self {
        Self {
            at: Some(tokens),
            ..Self::when_full()
        }
    }

    /// Compacts only when the provider rejects a request as too long: for models whose context window is unknown.
    pub fn when_full() -> Self {
        Self {
            at: None,
            target: None,
            keep_turns: 6,
            strategy: Strategy::default(),
        }
    }

    /// Sets the number of tokens that remain after a compaction; half of its threshold by default. The last user turn
    /// may exceed the target, pinned turns may not.
    #[must_use]
    pub fn target(mut self, tokens: u64) -> Self {
        self.target = Some(tokens);
        self
    }

    /// Sets the number of latest turns that are kept if they fit. Default: 6.
    #[must_use]
    pub fn keep_turns(mut self, turns: usize) -> Self {
        self.keep_turns = turns;
        self
    }

    /// Sets the treatment of old turns.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Whether a context of this size is to be compacted.
    pub(crate) fn is_due(&self, tokens: u64) -> bool {
        self.at.is_some_and(|at| tokens >= at)
    }

    /// How many tokens of a context of this size are to be left.
    pub(crate) fn target_of(&self, tokens: u64) -> u64 {
        let half = self.at.map_or(tokens, |at| at.min(tokens)) / 2;
        self.target.map_or(half, |target| target.min(tokens))
    }

    pub(crate) fn kept(&self) -> usize {
        self.keep_turns
    }

    pub(crate) fn summarises(&self) -> bool {
        self.strategy == Strategy::Summarise
    }
}

/// Turns to be summarised.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToSummarise {
    /// The turns, oldest first. A summary takes their place.
    pub turns: Vec<Turn>,
    /// The maximum number of tokens of the summary, by estimate; a longer one is truncated.
    pub max_tokens: u64,
}

impl ToSummarise {
    /// The turns as text, in at most `max_chars` characters: long results are truncated in the middle, and so is the
    /// whole.
    pub fn transcript(&self, max_chars: usize) -> String {
        transcript::of(&self.turns, max_chars)
    }
}
