//! The limits of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The limits of a run. At a limit every open call is cancelled with a result that names the limit, and the run ends
/// with it as the reason; it can be continued.
///
/// ```
/// use std::time::Duration;
/// use agent_loop::RunLimits;
///
/// let limits = RunLimits::default().with_rounds(5).with_time(Duration::from_secs(600));
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct RunLimits {
    pub(crate) rounds: u32,
    pub(crate) calls: u64,
    pub(crate) tokens: u64,
    pub(crate) cost_micros: u64,
    pub(crate) time: Option<Duration>,
    #[serde(rename = "call_time")]
    pub(crate) call_idle_timeout: Duration,
    #[serde(rename = "call_time_factor")]
    pub(crate) call_deadline_factor: u32,
    pub(crate) parallel: usize,
    pub(crate) questions: u32,
    pub(crate) result_bytes: usize,
    pub(crate) result_tokens: usize,
    pub(crate) summary: bool,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            rounds: 20,
            calls: 0,
            tokens: 0,
            cost_micros: 0,
            time: None,
            call_idle_timeout: Duration::from_secs(120),
            call_deadline_factor: 10,
            parallel: 8,
            questions: 10,
            result_bytes: 50 << 10,
            result_tokens: 25_000,
            summary: false,
        }
    }
}

impl RunLimits {
    /// Sets the maximum number of rounds, which are requests to the model. Default: 20; 0 means no limit.
    #[must_use]
    pub fn with_rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the maximum number of tool calls executed. Default: 0, which means no limit.
    #[must_use]
    pub fn with_calls(mut self, calls: u64) -> Self {
        self.calls = calls;
        self
    }

    /// Sets the maximum number of tokens of requests and replies together. Default: 0, which means no limit.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sets the maximum cost, in millionths of the prices' currency. Default: 0, which means no limit.
    #[must_use]
    pub fn with_cost_micros(mut self, micros: u64) -> Self {
        self.cost_micros = micros;
        self
    }

    /// Sets the maximum time, not counting the time people take to answer. Default: no limit.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets the idle timeout of a tool call: the time without a response or progress, where neither the tool nor its
    /// server has its own. Default: two minutes.
    #[must_use]
    pub fn with_call_idle_timeout(mut self, timeout: Duration) -> Self {
        self.call_idle_timeout = timeout;
        self
    }

    /// Sets the total deadline of a tool call, regardless of progress, as a multiple of its idle timeout. Default: 10.
    #[must_use]
    pub fn with_call_deadline_factor(mut self, factor: u32) -> Self {
        self.call_deadline_factor = factor.max(1);
        self
    }

    /// Sets the maximum number of concurrent calls. Default: 8.
    #[must_use]
    pub fn with_parallel(mut self, calls: usize) -> Self {
        self.parallel = calls.max(1);
        self
    }

    /// Sets the maximum number of a server's questions in one call. Default: 10.
    #[must_use]
    pub fn with_questions(mut self, questions: u32) -> Self {
        self.questions = questions;
        self
    }

    /// Sets the maximum size of a result's text shown to the model at once, in bytes; the remainder is stored. Default:
    /// 50 KiB.
    #[must_use]
    pub fn with_result_bytes(mut self, bytes: usize) -> Self {
        self.result_bytes = bytes;
        self
    }

    /// Sets the maximum number of tokens, by estimate, of a result's text shown to the model at once. Default: 25,000.
    #[must_use]
    pub fn with_result_tokens(mut self, tokens: usize) -> Self {
        self.result_tokens = tokens;
        self
    }

    /// Adds a turn without tools at a limit, in which the model summarises.
    #[must_use]
    pub fn with_summary(mut self) -> Self {
        self.summary = true;
        self
    }

    /// The limit that what is spent has reached.
    pub(crate) fn reached(&self, spent: &Spent) -> Option<LimitKind> {
        let over = |limit: u64, used: u64| limit != 0 && used >= limit;
        if over(self.rounds.into(), spent.rounds.into()) {
            Some(LimitKind::Rounds)
        } else if over(self.tokens, spent.tokens) {
            Some(LimitKind::Tokens)
        } else if over(self.cost_micros, spent.cost_micros) {
            Some(LimitKind::Cost)
        } else if self.time.is_some_and(|limit| spent.time >= limit) {
            Some(LimitKind::Time)
        } else {
            None
        }
    }

    /// The description of a limit.
    pub(crate) fn describe(&self, kind: LimitKind) -> String {
        match kind {
            LimitKind::Rounds => format!("the limit of {} rounds", self.rounds),
            LimitKind::Calls => format!("the limit of {} tool calls", self.calls),
            LimitKind::Tokens => format!("the limit of {} tokens", self.tokens),
            LimitKind::Cost => "the limit on cost".to_owned(),
            LimitKind::Time => format!("the limit of {:?}", self.time.unwrap_or_default()),
        }
    }
}

/// The kind of a limit.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// Requests to the model.
    Rounds,
    /// Tool calls executed.
    Calls,
    /// Tokens.
    Tokens,
    /// Cost.
    Cost,
    /// Time.
    Time,
}

/// The amounts a run has spent since the last user turn, including its sub-agents.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spent {
    /// The number of requests to the model.
    pub rounds: u32,
    /// The number of tool calls executed.
    pub calls: u64,
    /// Tokens of requests and replies, as reported by the provider.
    pub tokens: u64,
    /// The cost, in millionths.
    pub cost_micros: u64,
    /// The time, not counting the time people took to answer.
    pub time: Duration,
}

impl Spent {
    /// What was spent since then.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            rounds: self.rounds.saturating_sub(before.rounds),
            calls: self.calls.saturating_sub(before.calls),
            tokens: self.tokens.saturating_sub(before.tokens),
            cost_micros: self.cost_micros.saturating_sub(before.cost_micros),
            time: self.time.saturating_sub(before.time),
        }
    }

    /// Adds what a sub-agent has spent. Its rounds and its time are its own.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost_micros = self.cost_micros.saturating_add(other.cost_micros);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_two_minutes_without_progress_and_ten_times_that_in_total() {
        let limits = RunLimits::default();
        assert_eq!(limits.call_idle_timeout, Duration::from_secs(120));
        assert_eq!(limits.call_deadline_factor, 10);
    }

    #[test]
    fn stored_limits_keep_their_names() {
        let stored = serde_json::to_value(RunLimits::default()).unwrap();
        assert!(stored.get("call_time").is_some(), "{stored}");
        assert!(stored.get("call_time_factor").is_some(), "{stored}");
    }
}
