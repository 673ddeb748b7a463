//! Entrants that are processes, measured in turns: each round starts with another one, so that a busy
//! machine slows all of them alike.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::table::{Table, median, number, ratio};

/// The command line of a topic: `[--seconds S] [--rounds N] [part of a row's title]`.
pub struct Options {
    /// How long one entrant runs in one round.
    pub seconds: f64,
    /// How many rounds.
    pub rounds: usize,
    wanted: Option<String>,
}

impl Options {
    /// Reads it, with these for defaults.
    pub fn read(seconds: f64, rounds: usize) -> Self {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let option = |name: &str| {
            let at = args.iter().position(|arg| arg == name)?;
            args.get(at + 1)?.parse::<f64>().ok()
        };
        Self {
            seconds: option("--seconds").unwrap_or(seconds),
            rounds: option("--rounds").map_or(rounds, |rounds| rounds as usize),
            wanted: args.iter().find(|arg| !arg.starts_with("--") && arg.parse::<f64>().is_err()).cloned(),
        }
    }

    /// Whether the row of this title is asked for.
    pub fn is_wanted(&self, title: &str) -> bool {
        self.wanted.as_ref().is_none_or(|part| title.contains(part.as_str()))
    }

    /// How long one entrant runs in one round, in milliseconds, as the load clients take it.
    pub fn milliseconds(&self) -> String {
        ((self.seconds * 1000.0) as u64).to_string()
    }
}

/// The entrants' names, and what each achieved in each round.
pub struct Scores(Vec<(&'static str, Vec<Value>)>);

impl Scores {
    /// Has every entrant measured in every round. What is `None` did not finish, or does not take part.
    pub fn take<E>(
        rounds: usize,
        entrants: &[(&'static str, E)],
        mut measure: impl FnMut(usize, &'static str, &E) -> Option<Value>,
    ) -> Self {
        let mut scores: Vec<_> = entrants.iter().map(|(name, _)| (*name, Vec::new())).collect();
        for round in 0..rounds {
            for turn in 0..entrants.len() {
                let at = (round + turn) % entrants.len();
                let (name, entrant) = &entrants[at];
                scores[at].1.extend(measure(round, name, entrant));
            }
        }
        Self(scores)
    }

    /// The rounds of an entrant.
    pub fn rounds(&self, at: usize, key: &str) -> Vec<f64> {
        let values = self.0[at].1.iter().map(|score| &score[key]);
        values.map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
    }

    /// Prints a table: columns of ratios to the entrant `base`, then columns of figures; each has a
    /// title and the figure's key.
    pub fn print(&self, title: &str, base: usize, ratios: &[(&str, &str)], figures: &[(&str, &str)]) {
        let columns: Vec<&str> = ratios.iter().chain(figures).map(|(column, _)| *column).collect();
        let mut table = Table::new(title, &columns);
        for (at, (name, rows)) in self.0.iter().enumerate() {
            if rows.is_empty() {
                continue;
            }
            let ratios = ratios.iter().map(|(_, key)| ratio(&self.rounds(at, key), &self.rounds(base, key)));
            let figures = figures.iter().map(|(_, key)| number(median(&self.rounds(at, key))));
            table.row(name, ratios.chain(figures).collect::<Vec<_>>());
        }
        table.print();
    }
}

/// Runs a load client and reads its report.
pub fn load(mut client: Command, name: &str, title: &str) -> Option<Value> {
    let output = client.stderr(Stdio::inherit()).output().unwrap();
    let score = serde_json::from_slice(&output.stdout).ok();
    if score.is_none() {
        eprintln!("{name} has not finished {title}");
    }
    score
}

/// An HTTP server in a process of its own, which prints its URL first.
pub struct Running {
    /// The process.
    pub child: Child,
    /// The server's URL.
    pub url: String,
}

impl Running {
    /// Starts it, and waits for its URL.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program of this package.
pub fn program(name: &str) -> String {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::current_exe().unwrap().with_file_name(name).to_string_lossy().into_owned()
}
