//! Several ways to do the same, timed in turns on the same input.
//!
//! All entrants run in every round, each round starting with another one, so that a busy machine
//! slows all of them alike. What counts is the thread's CPU time, the median over the rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::allocations::{Allocations, allocations};
use crate::cpu_time::cpu_time;

/// One comparison: the first entrant is ours, the others are measured against it.
pub struct Contest<'a> {
    title: String,
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
#[derive(Clone, Debug)]
pub struct Score {
    /// Its name.
    pub name: &'static str,
    /// The median time of one run, in nanoseconds.
    pub median: f64,
    /// The fastest round, in nanoseconds for one run.
    pub fastest: f64,
    /// What one run allocates.
    pub allocations: Allocations,
}

impl<'a> Contest<'a> {
    /// A comparison by that title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            entrants: Vec::new(),
        }
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
    pub fn run(mut self, plan: Plan) -> Vec<Score> {
        let mut wanted = std::env::args().skip(1).peekable();
        if wanted.peek().is_some() && !wanted.any(|part| self.title.contains(&part)) {
            return Vec::new();
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
            .map(|(entrant, mut times)| {
                times.sort_by(f64::total_cmp);
                Score {
                    name: entrant.name,
                    median: times[times.len() / 2],
                    fastest: times[0],
                    allocations: (entrant.work)(Mode::Count)
                        .unwrap_or(Allocations { count: 0, bytes: 0 }),
                }
            })
            .collect();
        print(&self.title, &scores);
        scores
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

fn print(title: &str, scores: &[Score]) {
    println!("\n{title}");
    println!(
        "  {:<34} {:>12} {:>12} {:>8} {:>9} {:>12}",
        "", "median µs", "fastest µs", "× ours", "allocs", "alloc bytes"
    );
    let ours = scores.first().map_or(f64::NAN, |first| first.median);
    for score in scores {
        println!(
            "  {:<34} {:>12.2} {:>12.2} {:>8.2} {:>9} {:>12}",
            score.name,
            score.median / 1000.0,
            score.fastest / 1000.0,
            score.median / ours,
            score.allocations.count,
            score.allocations.bytes,
        );
    }
}
