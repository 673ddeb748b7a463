//! `cargo xtask fuzz [--minutes N] [TARGET…]`: laws of everything that reads other people's bytes,
//! held against a fuzzer. The targets are in `xtask/fuzz`; what they learn stays under `target/`.

mod seed;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install;
use crate::shell::{self, Outcome, command, exists, output};
use seed::TARGETS;

const VERSION: &str = "0.13.2";
const FOLDER: &str = "target/fuzz";
const NIGHTLY: &str = "fuzzing needs a nightly compiler beside the stable one, and rustup to \
    choose it: rustup toolchain install nightly --profile minimal";

/// What one run came to.
struct Ran {
    executions: String,
    per_second: String,
    /// The inputs that broke a law.
    findings: Vec<PathBuf>,
    failed: bool,
}

/// The verb: builds all targets, then runs those named, or all, one after another.
pub(crate) fn run(words: &[String]) -> Outcome {
    let (minutes, targets) = plan(words)?;
    if !exists(nightly("rustc", &["--version"])) {
        return Err(NIGHTLY.to_owned());
    }
    let programs = build()?;
    let mut rows = Vec::new();
    for target in targets {
        let corpus = Path::new(FOLDER).join("corpus").join(target);
        let seeds = seed::plant(target, &corpus)?;
        println!("{target}: {minutes} min, {seeds} seeds");
        rows.push((target, fuzz(&programs, target, &corpus, minutes)?));
    }
    report(&rows)
}

/// How long, and which targets.
fn plan(words: &[String]) -> Result<(u64, Vec<&'static str>), String> {
    let mut minutes = 1;
    let mut targets = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--minutes" {
            let number = words.next().and_then(|number| number.parse().ok());
            minutes = number.ok_or("--minutes wants a whole number")?;
            continue;
        }
        let known = TARGETS.iter().map(|(name, _)| *name);
        let names: Vec<&str> = known.clone().collect();
        let found = known.clone().find(|name| name == word);
        targets.push(found.ok_or(format!(
            "no target '{word}'; there are: {}",
            names.join(", ")
        ))?);
    }
    if targets.is_empty() {
        targets = TARGETS.iter().map(|(name, _)| *name).collect();
    }
    Ok((minutes, targets))
}

/// A command under the nightly compiler. The cargo that runs us is another.
fn nightly(program: &str, args: &[&str]) -> Command {
    let mut command = command("rustup", &["run", "nightly", program]);
    command.args(args).env_remove("CARGO");
    command
}

/// Builds every target; returns the folder of the programs.
fn build() -> Result<PathBuf, String> {
    let cargo_fuzz = install::cargo_tool("cargo-fuzz", VERSION)?;
    let mut build = nightly(&cargo_fuzz.to_string_lossy(), &["fuzz", "build"]);
    build.args(["--fuzz-dir", "xtask/fuzz", "--target-dir", FOLDER]);
    // What is fuzzed is safe code: a sanitizer would find nothing and take most of the time.
    build.args(["--sanitizer", "none"]);
    shell::run(build)?;
    let version = output(nightly("rustc", &["-vV"]))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(Path::new(FOLDER)
        .join(host.unwrap_or_default())
        .join("release"))
}

fn fuzz(programs: &Path, target: &str, corpus: &Path, minutes: u64) -> Result<Ran, String> {
    let artifacts = Path::new(FOLDER).join("artifacts").join(target);
    let log = Path::new(FOLDER).join(format!("{target}.log"));
    let fault = |e: std::io::Error| format!("{target}: {e}");
    let _ = fs::remove_dir_all(&artifacts);
    fs::create_dir_all(&artifacts).map_err(fault)?;
    let mut run = Command::new(programs.join(target));
    run.arg(corpus)
        .arg(format!("-max_total_time={}", minutes * 60))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args(["-max_len=8192", "-timeout=30", "-rss_limit_mb=2048"])
        .arg("-print_final_stats=1")
        .stderr(File::create(&log).map_err(fault)?);
    let status = run.status().map_err(fault)?;
    let reported = String::from_utf8_lossy(&fs::read(&log).map_err(fault)?).into_owned();
    let findings = fs::read_dir(&artifacts)
        .map_err(fault)?
        .filter_map(|entry| Some(entry.ok()?.path()));
    let ran = Ran {
        executions: stat(&reported, "number_of_executed_units"),
        per_second: stat(&reported, "average_exec_per_sec"),
        findings: findings.collect(),
        failed: !status.success(),
    };
    if ran.failed {
        println!("{}", panic_in(&reported));
        for input in &ran.findings {
            let program = programs.join(target);
            println!("repeat with: {} {}", program.display(), input.display());
        }
    }
    Ok(ran)
}

/// A figure that libFuzzer prints at the end.
fn stat(reported: &str, name: &str) -> String {
    let figure = reported.lines().find_map(|line| {
        line.strip_prefix("stat::")?
            .strip_prefix(name)?
            .strip_prefix(':')
    });
    figure.unwrap_or("?").trim().to_owned()
}

/// Where the log tells what went wrong.
fn panic_in(reported: &str) -> &str {
    let start = reported
        .find("panicked at")
        .or_else(|| reported.find("==ERROR"));
    let tail = start.and_then(|at| reported.get(at..)).unwrap_or(reported);
    let end = tail
        .char_indices()
        .nth(4000)
        .map_or(tail.len(), |(at, _)| at);
    tail.get(..end).unwrap_or(tail)
}

fn report(rows: &[(&str, Ran)]) -> Outcome {
    println!(
        "\n{:<18} {:>12} {:>9} {:>9}",
        "target", "runs", "runs/s", "findings"
    );
    for (target, ran) in rows {
        println!(
            "{target:<18} {:>12} {:>9} {:>9}",
            ran.executions,
            ran.per_second,
            ran.findings.len()
        );
    }
    let failed: Vec<&str> = rows
        .iter()
        .filter(|(_, ran)| ran.failed)
        .map(|(target, _)| *target)
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "findings in {}; inputs are under {FOLDER}/artifacts, logs in {FOLDER}",
        failed.join(", ")
    ))
}
