//! Limits of an answer, from the flags, the assistant and the settings.

use std::collections::BTreeMap;
use std::time::Duration;

use agent_loop::RunLimits;
use serde_json::Value;

use super::RunArgs;
use crate::store::{Assistant, OnLimit};

/// Limits of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) rounds: Option<u32>,
    pub(crate) on_limit: Option<OnLimit>,
    pub(crate) dollars: Option<f64>,
    pub(crate) time: Option<Duration>,
}

impl Bounds {
    /// The limits: of the flags, the assistant, or the settings.
    pub(crate) fn of(
        run_args: &RunArgs,
        assistant: Option<&Assistant>,
        settings: &BTreeMap<String, Value>,
    ) -> Self {
        let setting = settings.get("max_rounds").and_then(Value::as_u64);
        let setting = setting.and_then(|rounds| u32::try_from(rounds).ok());
        let of_assistant = assistant.and_then(|assistant| assistant.max_rounds);
        let assistant_on_limit = assistant.and_then(|assistant| assistant.on_limit);
        let dollars = settings.get("max_cost").and_then(Value::as_f64);
        let on_limit = settings.get("on_limit").and_then(Value::as_str);
        let on_limit = on_limit.and_then(OnLimit::named);
        Self {
            rounds: run_args.max_rounds.or(of_assistant).or(setting),
            on_limit: run_args.on_limit.or(assistant_on_limit).or(on_limit),
            dollars: run_args.max_cost.or(dollars),
            time: run_args.timeout,
        }
    }

    /// Converts to the loop's limits.
    pub(crate) fn limits(&self) -> RunLimits {
        let mut limits = RunLimits::default();
        if let Some(rounds) = self.rounds {
            limits = limits.with_rounds(rounds);
        }
        if let Some(dollars) = self.dollars {
            limits = limits.with_cost_micros((dollars.max(0.0) * 1e6).round() as u64);
        }
        if let Some(time) = self.time {
            limits = limits.with_time(time);
        }
        if self.on_limit == Some(OnLimit::Summarize) {
            limits = limits.with_summary();
        }
        limits
    }
}
