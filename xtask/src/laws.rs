//! `cargo xtask laws [--minutes N] [--seed S] [PATTERN]`: every property test, on fresh seeds.
//!
//! `cargo test` draws the same cases each time (`.cargo/config.toml`); here each round has a seed
//! of its own, which is printed and repeats the round.

mod find;

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::shell::{Outcome, cargo_as_tested, output};

const SEED: &str = "PROPTEST_RNG_SEED";

/// What is asked for.
#[derive(Debug, Eq, PartialEq)]
struct Plan {
    /// New rounds begin for this long.
    minutes: u64,
    /// The only round's seed.
    seed: Option<u64>,
    /// A part of the tests' full names, such as `tool-schema::names`.
    pattern: String,
}

/// A test binary, and those of its tests that are property tests.
struct Binary {
    program: PathBuf,
    folder: PathBuf,
    tests: Vec<String>,
}

impl Binary {
    /// A test's name with the crate's folder in front.
    fn full(&self, test: &str) -> String {
        let folder = self.folder.file_name().unwrap_or_default();
        format!("{}::{test}", folder.to_string_lossy())
    }
}

/// The verb: rounds until the time is over or a round fails.
pub(crate) fn run(words: &[String]) -> Outcome {
    let plan = plan(words)?;
    let binaries = binaries(&plan.pattern)?;
    let count: usize = binaries.iter().map(|binary| binary.tests.len()).sum();
    if count == 0 {
        return Err(format!("no property test matches '{}'", plan.pattern));
    }
    println!("{count} property tests in {} binaries", binaries.len());
    let time = Duration::from_secs(plan.minutes * 60);
    let start = Instant::now();
    let mut rounds = 0;
    loop {
        let seed = plan
            .seed
            .unwrap_or_else(|| RandomState::new().hash_one(rounds));
        let began = Instant::now();
        let failed = round(&binaries, seed)?;
        rounds += 1;
        println!(
            "round {rounds}, seed {seed}: {} failed, {:.0} s",
            failed.len(),
            began.elapsed().as_secs_f64()
        );
        if !failed.is_empty() {
            return Err(how_to_repeat(&failed, seed));
        }
        if plan.seed.is_some() || start.elapsed() >= time {
            return Ok(());
        }
    }
}

fn plan(words: &[String]) -> Result<Plan, String> {
    let mut plan = Plan {
        minutes: 10,
        seed: None,
        pattern: String::new(),
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || {
            let number = words.next().and_then(|number| number.parse().ok());
            number.ok_or(format!("{word} wants a whole number"))
        };
        match word.as_str() {
            "--minutes" => plan.minutes = number()?,
            "--seed" => plan.seed = Some(number()?),
            word if word.starts_with("--") || !plan.pattern.is_empty() => {
                return Err(format!(
                    "unexpected '{word}'; usage: cargo xtask laws [--minutes N] [--seed S] [PATTERN]"
                ));
            }
            word => word.clone_into(&mut plan.pattern),
        }
    }
    Ok(plan)
}

/// Builds all test binaries and selects the property tests that match the pattern.
fn binaries(pattern: &str) -> Result<Vec<Binary>, String> {
    let targets = [
        "--lib",
        "--bins",
        "--tests",
        "--no-run",
        "--message-format",
        "json",
    ];
    let messages = output(cargo_as_tested("test", &targets))?;
    let mut binaries = Vec::new();
    for message in messages.lines() {
        let message: Value = serde_json::from_str(message).map_err(|e| format!("cargo: {e}"))?;
        let paths = ["/executable", "/manifest_path", "/target/src_path"];
        let paths = paths.map(|path| message.pointer(path).and_then(Value::as_str).map(Path::new));
        let [Some(program), Some(manifest), Some(root)] = paths else {
            continue;
        };
        let manifest_text = fs::read_to_string(manifest).unwrap_or_default();
        if message["profile"]["test"] == true && manifest_text.contains("proptest") {
            let folder = manifest.parent().unwrap_or(manifest).to_path_buf();
            // A library and a program in one folder: the modules are the library's.
            if root.ends_with("src/main.rs") && root.with_file_name("lib.rs").exists() {
                continue;
            }
            let mut binary = Binary {
                program: program.to_path_buf(),
                folder,
                tests: Vec::new(),
            };
            let mut tests = property_tests(program, root)?;
            tests.retain(|test| binary.full(test).contains(pattern));
            binary.tests = tests;
            if !binary.tests.is_empty() {
                binaries.push(binary);
            }
        }
    }
    Ok(binaries)
}

/// The property tests of a binary whose crate has its root at `root`.
fn property_tests(program: &Path, root: &Path) -> Result<Vec<String>, String> {
    let files = find::below(root.parent().unwrap_or(root))?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut list = Command::new(program);
    list.args(["--list", "--format", "terse"]);
    let listed = output(list)?;
    let all: Vec<String> = listed
        .lines()
        .filter_map(|line| Some(line.strip_suffix(": test")?.to_owned()))
        .collect();
    let mut tests = BTreeSet::new();
    for (module, found) in &files {
        let meant = found
            .among(&all, module)
            .map_err(|reason| format!("{}: {reason}", root.display()))?;
        tests.extend(meant);
    }
    Ok(tests.into_iter().map(str::to_owned).collect())
}

/// Runs every property test with this seed; returns those that failed, their output printed.
fn round(binaries: &[Binary], seed: u64) -> Result<Vec<String>, String> {
    let mut failed = Vec::new();
    for binary in binaries {
        let mut run = Command::new(&binary.program);
        run.arg("--exact").args(&binary.tests);
        run.current_dir(&binary.folder)
            .env("CARGO_MANIFEST_DIR", &binary.folder)
            .env("INSTA_UPDATE", "no")
            .env(SEED, seed.to_string());
        let output = run
            .output()
            .map_err(|e| format!("{}: {e}", binary.program.display()))?;
        if output.status.success() {
            continue;
        }
        let text = String::from_utf8_lossy(&output.stdout);
        println!("{text}{}", String::from_utf8_lossy(&output.stderr));
        let before = failed.len();
        failed.extend(text.lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("test ")?.split_once(" ... FAILED")?;
            Some(binary.full(name))
        }));
        if failed.len() == before {
            // It crashed: any of them may have done it.
            failed.extend(binary.tests.iter().map(|test| binary.full(test)));
        }
    }
    Ok(failed)
}

fn how_to_repeat(failed: &[String], seed: u64) -> String {
    let cases = std::env::var("PROPTEST_CASES");
    let cases = cases.map_or_else(
        |_| String::new(),
        |cases| format!("PROPTEST_CASES={cases} "),
    );
    failed
        .iter()
        .map(|test| {
            format!("{test} failed; repeat with: {cases}cargo xtask laws --seed {seed} {test}")
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(words: &str) -> Result<Plan, String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        plan(&words)
    }

    #[test]
    fn what_is_printed_for_a_failure_repeats_it() {
        let reported = how_to_repeat(&["law::a_claim".to_owned()], 7);
        let (_, command) = reported.split_once("cargo xtask laws ").unwrap();
        let plan = planned(command).unwrap();
        assert_eq!(
            (plan.seed, plan.pattern.as_str()),
            (Some(7), "law::a_claim")
        );
    }

    #[test]
    fn words_that_are_not_understood_are_refused() {
        for words in ["--minutes", "--minutes x", "--seeds 3", "one two"] {
            assert!(planned(words).is_err(), "{words}");
        }
    }
}
