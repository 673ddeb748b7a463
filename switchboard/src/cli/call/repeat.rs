//! The same call many times: how long each took.

use std::future::Future;
use std::time::{Duration, Instant};

use clap::Args;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::cli::text::count;
use crate::display::untrusted;

/// The most calls.
const MAX_CALLS: u32 = 100_000;
/// The most calls at once.
const MAX_CONCURRENCY: u32 = 256;

/// How often a call is made.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Repeat {
    /// Make the call this many times, and print how long they took
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CALLS)))]
    pub(super) repeat: Option<u32>,
    /// With --repeat: this many calls at once
    #[arg(
        long,
        value_name = "K",
        requires = "repeat",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONCURRENCY))
    )]
    concurrency: u32,
}

/// How a call ended.
pub(super) enum Ended {
    Well,
    /// The tool failed, or there was no result: why.
    Badly(String),
}

/// What came of many calls.
#[derive(Debug)]
pub(super) struct Report {
    concurrency: u32,
    total: Duration,
    /// In ascending order.
    took: Vec<Duration>,
    failed: usize,
    first_failure: Option<String>,
}

impl Repeat {
    /// Makes the calls.
    pub(super) async fn run<F: Future<Output = Ended>>(
        self,
        times: u32,
        call: impl Fn() -> F,
    ) -> Report {
        let began = Instant::now();
        let one = |_| {
            let call = call();
            async {
                let began = Instant::now();
                (call.await, began.elapsed())
            }
        };
        let mut calls = stream::iter(0..times)
            .map(one)
            .buffer_unordered(self.concurrency as usize);
        let mut report = Report {
            concurrency: self.concurrency,
            total: Duration::ZERO,
            took: Vec::new(),
            failed: 0,
            first_failure: None,
        };
        while let Some((ended, took)) = calls.next().await {
            report.took.push(took);
            if let Ended::Badly(why) = ended {
                report.failed += 1;
                report.first_failure.get_or_insert(why);
            }
        }
        report.total = began.elapsed();
        report.took.sort_unstable();
        report
    }
}

impl Report {
    pub(super) fn has_failures(&self) -> bool {
        self.failed > 0
    }

    /// The time that this part of the calls took at most: the nearest rank.
    fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.took.len() * percent).div_ceil(100).max(1);
        self.took.get(rank - 1).copied().unwrap_or_default()
    }

    fn per_second(&self) -> f64 {
        self.took.len() as f64 / self.total.as_secs_f64().max(f64::EPSILON)
    }

    fn figures(&self) -> [(&'static str, Duration); 6] {
        let mean =
            self.took.iter().sum::<Duration>() / u32::try_from(self.took.len().max(1)).unwrap_or(1);
        [
            ("min", self.percentile(0)),
            ("p50", self.percentile(50)),
            ("p90", self.percentile(90)),
            ("p99", self.percentile(99)),
            ("max", self.percentile(100)),
            ("mean", mean),
        ]
    }

    pub(super) fn json(&self) -> Value {
        let millis = |it: Duration| (it.as_secs_f64() * 1e6).round() / 1e3;
        let figures = self
            .figures()
            .map(|(name, took)| (name.to_owned(), json!(millis(took))));
        json!({
            "calls": self.took.len(),
            "concurrency": self.concurrency,
            "failed": self.failed,
            "firstFailure": self.first_failure,
            "seconds": self.total.as_secs_f64(),
            "perSecond": self.per_second(),
            "latencyMs": figures.into_iter().collect::<serde_json::Map<_, _>>(),
        })
    }

    pub(super) fn text(&self) -> String {
        let head = format!(
            "{}, {} at once: {:.2} s, {:.0} a second, {} failed",
            count(self.took.len(), "call"),
            self.concurrency,
            self.total.as_secs_f64(),
            self.per_second(),
            self.failed
        );
        let figures = self.figures();
        let figures =
            figures.map(|(name, took)| format!("{name} {:.2} ms", took.as_secs_f64() * 1e3));
        let figures = figures.join(" · ");
        match &self.first_failure {
            Some(why) => format!(
                "{head}\n{figures}\nThe first failure: {}",
                untrusted::line(why)
            ),
            None => format!("{head}\n{figures}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let report = |times: &[u64]| Report {
            concurrency: 1,
            total: Duration::from_secs(1),
            took: times.iter().copied().map(Duration::from_millis).collect(),
            failed: 0,
            first_failure: None,
        };
        let all =
            |times: &[u64]| [0, 50, 90, 99, 100].map(|it| report(times).percentile(it).as_millis());
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(all(&hundred), [1, 50, 90, 99, 100]);
        assert_eq!(all(&[7]), [7; 5]);
        assert_eq!(all(&[1, 9]), [1, 1, 9, 9, 9]);
    }
}
