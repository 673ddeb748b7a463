//! Several ways to do the same, timed in turns on the same input.
//!
//! All entrants run in every round, each round starting with another one, so that a busy machine
//! slows all of them alike. What counts is the thread's CPU time, the median over the rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::allocations::{Allocations, allocations};
use crate::cpu_time::cpu_time;
use crate::table::{Table, is_wanted, median, number, ratio};

/// One comparison: the first entrant is ours, the others are measured against it.
pub struct Contest<'a> {
    title: String,
    rates: Vec<(&'static str, f64)>,
    entrants: Vec<Entrant<'a>>,
}

struct Entrant<'a> {
    name: &'static str,
    /// Runs once, and tells what that allocated if asked to.
    work: Box<dyn FnMut(Mode) -> Option<Allocations> + 'a>,
}

enum Mode {
    Time,
    Count,
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many rounds.
    pub rounds: usize,
    /// How long one entrant runs in one round.
    pub slice: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            rounds: 31,
            slice: Duration::from_millis(20),
        }
    }
}

/// What an entrant achieved.
struct Score {
    name: &'static str,
    /// The rounds, in nanoseconds for one run.
    times: Vec<f64>,
    /// What one run allocates.
    allocations: Allocations,
}

impl<'a> Contest<'a> {
    /// A comparison by that title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            rates: Vec::new(),
            entrants: Vec::new(),
        }
    }

    /// Also tells how many of these are done in a second, where one run does `amount`.
    #[must_use]
    pub fn rate(mut self, unit: &'static str, amount: f64) -> Self {
        self.rates.push((unit, amount));
        self
    }

    /// Adds a way to do it. Its result is dropped inside the timed part.
    #[must_use]
    pub fn entrant<R>(mut self, name: &'static str, mut work: impl FnMut() -> R + 'a) -> Self {
        let work = Box::new(move |mode| match mode {
            Mode::Time => {
                black_box(work());
                None
            }
            Mode::Count => Some(allocations(&mut work)),
        });
        self.entrants.push(Entrant { name, work });
        self
    }

    /// Measures and prints a table, unless the command line names other titles.
    pub fn run(mut self, plan: Plan) {
        if !is_wanted(&self.title) {
            return;
        }
        let runs: Vec<u32> = self
            .entrants
            .iter_mut()
            .map(|e| calibrate(e, plan.slice))
            .collect();
        let mut times = vec![Vec::with_capacity(plan.rounds); self.entrants.len()];
        for round in 0..plan.rounds {
            for turn in 0..self.entrants.len() {
                let at = (round + turn) % self.entrants.len();
                let start = cpu_time();
                for _ in 0..runs[at] {
                    (self.entrants[at].work)(Mode::Time);
                }
                let time = cpu_time() - start;
                times[at].push(time.as_nanos() as f64 / f64::from(runs[at]));
            }
        }
        let scores: Vec<Score> = self
            .entrants
            .iter_mut()
            .zip(times)
            .map(|(entrant, times)| Score {
                name: entrant.name,
                times,
                allocations: (entrant.work)(Mode::Count)
                    .unwrap_or(Allocations { count: 0, bytes: 0 }),
            })
            .collect();
        self.print(&scores);
    }

    fn print(&self, scores: &[Score]) {
        let mut columns = vec!["time × ours", "µs", "allocations", "bytes allocated"];
        columns.extend(self.rates.iter().map(|(unit, _)| unit));
        let mut table = Table::new(&self.title, &columns);
        for score in scores {
            let ours = scores.first().map_or(&score.times, |first| &first.times);
            let Allocations { count, bytes } = score.allocations;
            let median = median(&score.times);
            let mut values = vec![ratio(&score.times, ours), number(median / 1000.0)];
            values.extend([count.to_string(), bytes.to_string()]);
            values.extend(self.rates.iter().map(|(_, amount)| number(amount * 1e9 / median)));
            table.row(score.name, values);
        }
        table.print();
    }
}

fn calibrate(entrant: &mut Entrant<'_>, slice: Duration) -> u32 {
    let start = Instant::now();
    let mut runs = 0_u32;
    while start.elapsed() < slice {
        (entrant.work)(Mode::Time);
        runs += 1;
    }
    runs.max(1)
}
