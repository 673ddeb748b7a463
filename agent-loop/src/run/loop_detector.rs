//! Detects a model that repeats itself.

use std::collections::VecDeque;

use provider_adapters::{ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use tool_policy::Pattern;

/// The longest loop that is detected, in rounds.
const LONGEST: usize = 3;
/// The number of repetitions that lead to a nudge.
const NUDGE: usize = 2;
/// The number of repetitions that end the run.
const STOP: usize = 4;

/// Compares rounds: the same calls with the same results, twice over, earn the model a nudge, four
/// times end the run. The same holds for loops of two or three rounds.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct LoopDetector {
    exempt: Vec<Pattern>,
    seen: VecDeque<u64>,
}

/// What the detector makes of the last round.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Repetition {
    None,
    Nudge,
    Stop,
}

impl LoopDetector {
    /// Never minds tools of this name (as the model sees it): those that are polled.
    pub(crate) fn exempt(&mut self, name: Pattern) {
        self.exempt.push(name);
    }

    /// Forgets the rounds so far.
    pub(crate) fn reset(&mut self) {
        self.seen.clear();
    }

    /// Takes in a round.
    pub(crate) fn watch<'a>(
        &mut self,
        round: impl Iterator<Item = (&'a ToolCall, &'a ToolResult)>,
    ) -> Repetition {
        let mut sign = Sign::default();
        let mut counted = false;
        for (call, result) in round {
            if self.exempt.iter().any(|name| name.matches(&call.name)) {
                continue;
            }
            counted = true;
            sign.text(&call.name);
            sign.text(&canonical(call.arguments.text()));
            sign.text(&serde_json::to_string(&result.content).unwrap_or_default());
            sign.text(result.structured.as_ref().map_or("", |json| json.get()));
        }
        if !counted {
            return Repetition::None;
        }
        self.seen.push_front(sign.0);
        self.seen.truncate(LONGEST * STOP);
        let times = (1..=LONGEST).map(|period| self.repeats(period)).max();
        match times.unwrap_or(0) {
            STOP.. => Repetition::Stop,
            NUDGE.. => Repetition::Nudge,
            _ => Repetition::None,
        }
    }

    /// How many times over the last `period` rounds have been the same.
    fn repeats(&self, period: usize) -> usize {
        let same = self
            .seen
            .iter()
            .zip(self.seen.iter().skip(period))
            .take_while(|(now, then)| now == then)
            .count();
        1 + same / period
    }
}

/// The arguments in canonical form: the order of keys does not count.
fn canonical(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(mut value) => {
            value.sort_all_objects();
            value.to_string()
        }
        Err(_) => text.to_owned(),
    }
}

/// A hash of texts: FNV-1a, the same on every machine.
struct Sign(u64);

impl Default for Sign {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Sign {
    fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use provider_adapters::{Arguments, ToolCall, ToolResult};

    use super::{LoopDetector, Repetition};

    fn watch(
        loop_detector: &mut LoopDetector,
        name: &str,
        arguments: &str,
        result: &str,
    ) -> Repetition {
        let call = ToolCall::new("1", name, Arguments::read(arguments));
        let result = ToolResult::text("1", result);
        loop_detector.watch([(&call, &result)].into_iter())
    }

    #[track_caller]
    fn check(rounds: &str, want: &[Repetition]) {
        let mut loop_detector = LoopDetector::default();
        let got: Vec<Repetition> = rounds
            .chars()
            .map(|name| watch(&mut loop_detector, &name.to_string(), "{}", "same"))
            .collect();
        assert_eq!(got, want, "{rounds}");
    }

    #[test]
    fn the_same_call_with_the_same_result_is_a_circle() {
        use Repetition::{None, Nudge, Stop};
        check("aaaa", &[None, Nudge, Nudge, Stop]);
        check("abab", &[None, None, None, Nudge]);
        check(
            "abababab",
            &[None, None, None, Nudge, Nudge, Nudge, Nudge, Stop],
        );
        check("abcabc", &[None, None, None, None, None, Nudge]);
        check("abcd", &[None, None, None, None]);
    }

    #[test]
    fn another_result_is_no_circle() {
        let mut loop_detector = LoopDetector::default();
        for result in ["1", "2", "3", "4", "5"] {
            assert_eq!(
                watch(&mut loop_detector, "poll", "{}", result),
                Repetition::None
            );
        }
    }

    #[test]
    fn the_order_of_keys_does_not_hide_a_circle() {
        let mut loop_detector = LoopDetector::default();
        assert_eq!(
            watch(&mut loop_detector, "a", r#"{"x":1,"y":2}"#, ""),
            Repetition::None
        );
        assert_eq!(
            watch(&mut loop_detector, "a", r#"{"y":2, "x":1}"#, ""),
            Repetition::Nudge
        );
    }

    #[test]
    fn a_polled_tool_is_exempt() {
        let mut loop_detector = LoopDetector::default();
        loop_detector.exempt("poll*".into());
        for _ in 0..9 {
            assert_eq!(
                watch(&mut loop_detector, "poll_it", "{}", "same"),
                Repetition::None
            );
        }
    }
}
