//! `cargo xtask ci`: every check that gates a change, in one run with one table at the end.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::shell::{self, Outcome, cargo, exists};
use crate::{
    browser, chaos, conformance, features, interop, journeys, oracles, publish_check, tidy,
};

type Step = (&'static str, fn() -> Outcome);

const STEPS: &[Step] = &[
    ("fmt", || shell::run(cargo(&["fmt", "--all", "--check"]))),
    ("tidy", tidy::run),
    ("clippy", clippy),
    ("each crate alone", each_crate_alone),
    ("tests", tests),
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
    ("browser", || browser::run(&[])),
    ("journeys", journeys::run),
];

/// Runs every step and goes on after a failure, so that one run shows all that is wrong.
fn run_steps() -> Vec<(&'static str, Duration, Outcome)> {
    STEPS
        .iter()
        .map(|(name, step)| {
            println!("\n=== {name}");
            let start = Instant::now();
            let outcome = step();
            let time = start.elapsed();
            match &outcome {
                Ok(()) => println!("=== {name}: ok in {:.1} s", time.as_secs_f64()),
                Err(message) => {
                    println!(
                        "=== {name}: FAILED in {:.1} s\n{message}",
                        time.as_secs_f64()
                    );
                }
            }
            (*name, time, outcome)
        })
        .collect()
}

/// The verb.
pub(crate) fn run() -> Outcome {
    let results = run_steps();
    println!("\n{:<20} {:>8}  result", "step", "seconds");
    for (name, time, outcome) in &results {
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("{name:<20} {:>8.1}  {verdict}", time.as_secs_f64());
    }
    let failed = results
        .iter()
        .filter(|(_, _, outcome)| outcome.is_err())
        .count();
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

/// Feature unification hides missing features: each published crate must also build by itself,
/// with its default features and with none. `cargo xtask features` tries each feature alone, too.
fn each_crate_alone() -> Outcome {
    features::check(features::Depth::Ends)
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
    shell::run(command)
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
