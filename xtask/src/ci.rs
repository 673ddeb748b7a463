//! `cargo xtask ci`: every check that gates a change, in one run with one table at the end.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::shell::{self, Outcome, cargo, exists};
use crate::{postgres, publish_check, tidy};

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
];

/// Suites that wait for other programs more than they compute: the rows run side by side, each
/// suite as a process of its own, whose output is shown when it ends. Journeys come first, for they
/// install what interop needs as well.
const SIDE_BY_SIDE: [&[&[&str]]; 3] = [
    &[&["journeys", "--profile", "dev"], &["browser"]],
    &[&["conformance"], &["interop"], &["oracles"], &["deploy"]],
    &[&["chaos"], &["cluster", "--short"]],
];

/// A step that has run.
struct Ran {
    name: &'static str,
    time: Duration,
    /// Unknown of what runs beside others.
    cpu: Option<f64>,
    outcome: Outcome,
}

impl Ran {
    fn print(&self) {
        let (name, seconds) = (self.name, self.time.as_secs_f64());
        match &self.outcome {
            Ok(()) => println!("=== {name}: ok in {seconds:.1} s"),
            Err(message) => println!("=== {name}: FAILED in {seconds:.1} s\n{message}"),
        }
    }
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
            let ran = Ran {
                name,
                time,
                cpu: Some(cpu),
                outcome,
            };
            ran.print();
            ran
        })
        .collect()
}

/// Runs the suites of [`SIDE_BY_SIDE`].
fn run_suites() -> Vec<Ran> {
    let row = |suites: &'static [&'static [&'static str]]| -> Vec<Ran> {
        suites.iter().copied().map(suite).collect()
    };
    thread::scope(|scope| {
        let rows = SIDE_BY_SIDE.map(|suites| scope.spawn(move || row(suites)));
        let ran = rows
            .into_iter()
            .map(|row| row.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ran.flatten().collect()
    })
}

fn suite(args: &'static [&'static str]) -> Ran {
    let name = args.first().copied().unwrap_or_default();
    println!("\n=== {name} begins");
    let start = Instant::now();
    let outcome = std::env::current_exe()
        .map_err(|error| format!("xtask does not find itself: {error}"))
        .and_then(|xtask| {
            let mut command = Command::new(xtask);
            command.args(args);
            shell::run_quietly(command)
        });
    let ran = Ran {
        name,
        time: start.elapsed(),
        cpu: None,
        outcome: outcome.map(|printed| println!("\n=== {name}\n{printed}")),
    };
    ran.print();
    ran
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
    let (start, used) = (Instant::now(), cpu());
    let mut results = run_steps();
    results.extend(run_suites());
    println!("\n{:<20} {:>8} {:>8}  result", "step", "seconds", "CPU");
    for ran in &results {
        let verdict = if ran.outcome.is_ok() { "ok" } else { "FAILED" };
        let (name, seconds) = (ran.name, ran.time.as_secs_f64());
        let cpu = ran.cpu.map(|it| format!("{it:.1}")).unwrap_or_default();
        println!("{name:<20} {seconds:>8.1} {cpu:>8}  {verdict}");
    }
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    println!("{minutes:.1} minutes, {:.0} s of CPU", cpu() - used);
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

/// What is held to both back ends of the store: the REST interface and its crashes, but for what only
/// SQLite has.
const ON_POSTGRES: &str = "binary(it) & package(switchboard) & (test(/^rest::/) | test(/^serve::/)) \
     - test(/^serve::(storage|two)::/) - test(/::what_settings_approve_by_name/)";

fn tests() -> Outcome {
    let (mut all, mut on_postgres) = if exists(cargo(&["nextest", "--version"])) {
        // Most tests wait for other processes more than they compute.
        let threads = 2 * thread::available_parallelism().map_or(2, NonZero::get);
        let mut all = cargo(&["nextest", "run", "--workspace", "--all-features"]);
        all.args(["--no-fail-fast", "--test-threads", &threads.to_string()]);
        let mut some = cargo(&["nextest", "run", "--workspace", "--all-features"]);
        some.args(["--no-fail-fast", "--test-threads", &threads.to_string()]);
        some.args(["--filterset", ON_POSTGRES]);
        (all, some)
    } else {
        let mut all = cargo(&["test", "--workspace", "--all-features", "--no-fail-fast"]);
        all.args(["--lib", "--bins", "--tests"]);
        let mut some = cargo(&["test", "--workspace", "--all-features", "--no-fail-fast"]);
        some.args(["--test", "it", "--", "rest::", "serve::"]);
        some.args(["--skip", "serve::storage::", "--skip", "serve::two::"]);
        some.args(["--skip", "what_settings_approve_by_name"]);
        (all, some)
    };
    all.env("INSTA_UPDATE", "no");
    on_postgres.env("INSTA_UPDATE", "no");
    on_postgres.env("SWITCHBOARD_TEST_STORE", "postgres");
    postgres::with_server(all, Some(on_postgres))
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
