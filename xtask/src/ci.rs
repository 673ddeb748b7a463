//! `cargo xtask ci`: every check that gates a change, in one run with one table at the end.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::shell::{self, Outcome, cargo, exists};
use crate::{
    browser, chaos, cluster, conformance, interop, journeys, oracles, postgres, publish_check, tidy,
};

type Step = (&'static str, fn() -> Outcome);

const STEPS: &[Step] = &[
    ("fmt", || shell::run(cargo(&["fmt", "--all", "--check"]))),
    ("tidy", tidy::run),
    // Before clippy, which then finds the build scripts' output.
    ("tests", tests),
    ("clippy", clippy),
    ("doc tests", || {
        shell::run(cargo(&[
            "test",
            "--workspace",
            "--all-features",
            "--doc",
            "--quiet",
        ]))
    }),
    ("docs", docs),
    ("publish-check", publish_check::without_builds),
    ("chaos", || chaos::run(&[])),
    ("conformance", || conformance::run(&[])),
    ("interop", interop::run),
    ("oracles", || oracles::run(&[])),
    ("cluster", || cluster::run(&["--short".into()])),
    ("browser", || browser::run(&[])),
    ("journeys", || {
        journeys::run(&["--profile".into(), "dev".into()])
    }),
];

/// A step that has run.
struct Ran {
    name: &'static str,
    time: Duration,
    cpu: f64,
    outcome: Outcome,
}

/// Runs every step and goes on after a failure, so that one run shows all that is wrong.
fn run_steps() -> Vec<Ran> {
    STEPS
        .iter()
        .map(|(name, step)| {
            println!("\n=== {name}");
            let (start, cpu) = (Instant::now(), cpu());
            let outcome = step();
            let (time, cpu) = (start.elapsed(), self::cpu() - cpu);
            match &outcome {
                Ok(()) => println!("=== {name}: ok in {:.1} s", time.as_secs_f64()),
                Err(message) => {
                    println!(
                        "=== {name}: FAILED in {:.1} s\n{message}",
                        time.as_secs_f64()
                    );
                }
            }
            Ran {
                name,
                time,
                cpu,
                outcome,
            }
        })
        .collect()
}

/// The seconds of CPU that ended children of ours used; 0 where the system does not tell.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name is in parentheses; the children's times are in hundredths of a second.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(13).take(2);
    ticks.filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The verb.
pub(crate) fn run() -> Outcome {
    let results = run_steps();
    println!("\n{:<20} {:>8} {:>8}  result", "step", "seconds", "CPU");
    for ran in &results {
        let verdict = if ran.outcome.is_ok() { "ok" } else { "FAILED" };
        let (name, seconds) = (ran.name, ran.time.as_secs_f64());
        println!("{name:<20} {seconds:>8.1} {:>8.1}  {verdict}", ran.cpu);
    }
    let total: Duration = results.iter().map(|ran| ran.time).sum();
    println!("{:.1} minutes", total.as_secs_f64() / 60.0);
    let failed = results.iter().filter(|ran| ran.outcome.is_err()).count();
    println!("{} passed, {failed} failed", results.len() - failed);
    if failed == 0 {
        Ok(())
    } else {
        Err("ci failed".to_owned())
    }
}

fn clippy() -> Outcome {
    shell::run(cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ]))
}

fn tests() -> Outcome {
    let mut command: Command = if exists(cargo(&["nextest", "--version"])) {
        cargo(&[
            "nextest",
            "run",
            "--workspace",
            "--all-features",
            "--no-fail-fast",
        ])
    } else {
        cargo(&[
            "test",
            "--workspace",
            "--all-features",
            "--lib",
            "--bins",
            "--tests",
            "--no-fail-fast",
        ])
    };
    command.env("INSTA_UPDATE", "no");
    postgres::with_server(command)
}

fn docs() -> Outcome {
    let mut command = cargo(&[
        "doc",
        "--workspace",
        "--all-features",
        "--no-deps",
        "--quiet",
    ]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    shell::run(command)
}
