//! `cargo xtask laws [--minutes N] [--seed S] [PATTERN]`: every property test, on fresh seeds.
//!
//! `cargo test` draws the same cases each time (`.cargo/config.toml`); here each round has a seed
//! of its own, which is printed and repeats the round.

mod find;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::shell::{Outcome, cargo_as_tested, output};

const SEED: &str = "PROPTEST_RNG_SEED";
const CASES: &str = "PROPTEST_CASES";
/// What a test draws if nothing else is said.
const DEFAULT_CASES: u32 = 256;
/// How long a test may take for that many cases. One that hangs is ended and counts as failed.
const LIMIT: Duration = Duration::from_secs(10 * 60);
/// How often to look whether a test has ended.
const LOOK: Duration = Duration::from_millis(20);
/// What a test prints.
const PRINTED: &str = "target/laws";

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
    fs::create_dir_all(PRINTED).map_err(|e| format!("{PRINTED}: {e}"))?;
    let tests = binaries.iter().flat_map(|binary| {
        let tests = binary.tests.iter();
        tests.map(move |test| (binary, test.as_str()))
    });
    let tests: Vec<(&Binary, &str)> = tests.collect();
    let next = AtomicUsize::new(0);
    let limit = limit(std::env::var(CASES).ok().as_deref());
    let take = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        tests
            .get(number)
            .map(|(binary, test)| (number, *binary, *test))
    };
    let work = || {
        let mut failed = Vec::new();
        while let Some((number, binary, test)) = take() {
            let printed = Path::new(PRINTED).join(format!("{number}.txt"));
            if let Err(why) = run_one(command(binary, test, seed), &printed, limit) {
                let text = fs::read_to_string(&printed).unwrap_or_default();
                println!("{text}{}: {why}", binary.full(test));
                failed.push(binary.full(test));
            }
        }
        failed
    };
    let threads = thread::available_parallelism().map_or(2, NonZero::get);
    let failed = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let failed = workers
            .into_iter()
            .map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic)));
        failed.flatten().collect()
    });
    Ok(failed)
}

fn command(binary: &Binary, test: &str, seed: u64) -> Command {
    let mut command = Command::new(&binary.program);
    command.args(["--exact", test]).current_dir(&binary.folder);
    command
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        .env("INSTA_UPDATE", "no")
        .env(SEED, seed.to_string());
    command
}

/// The time of a test that draws this many cases.
fn limit(cases: Option<&str>) -> Duration {
    let cases = cases.and_then(|cases| cases.parse().ok());
    let cases: u32 = cases.unwrap_or(DEFAULT_CASES);
    LIMIT * cases.div_ceil(DEFAULT_CASES).max(1)
}

/// Runs a test, which prints into a file, for this long at most.
fn run_one(mut command: Command, printed: &Path, limit: Duration) -> Outcome {
    let to = |e: std::io::Error| format!("{}: {e}", printed.display());
    let out = File::create(printed).map_err(to)?;
    command.stderr(out.try_clone().map_err(to)?).stdout(out);
    let mut child = command.spawn().map_err(|e| format!("not started: {e}"))?;
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("failed ({status})")),
            Ok(None) if began.elapsed() < limit => thread::sleep(LOOK),
            outcome => {
                let _ = child.kill();
                let _ = child.wait();
                outcome.map_err(|e| format!("not waited for: {e}"))?;
                return Err(format!("not done after {} s, ended", limit.as_secs()));
            }
        }
    }
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

    #[cfg(unix)]
    #[test]
    fn a_test_that_hangs_is_ended_and_its_print_is_kept() {
        let folder = Path::new(PRINTED);
        fs::create_dir_all(folder).unwrap();
        let printed = folder.join(format!("{}.test", std::process::id()));
        let run = |script: &str, limit| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            run_one(command, &printed, limit)
        };
        assert_eq!(run("true", LIMIT), Ok(()));
        assert!(run("exit 3", LIMIT).unwrap_err().contains("failed"));
        let why = run("echo begun; sleep 600", Duration::from_secs(1)).unwrap_err();
        assert_eq!(why, "not done after 1 s, ended");
        assert_eq!(fs::read_to_string(&printed).unwrap(), "begun\n");
        fs::remove_file(&printed).unwrap();
    }

    #[test]
    fn more_cases_may_take_longer() {
        assert_eq!(limit(None), LIMIT);
        assert_eq!(limit(Some("1")), LIMIT);
        assert_eq!(limit(Some("5000")), LIMIT * 20);
    }

    #[test]
    fn words_that_are_not_understood_are_refused() {
        for words in ["--minutes", "--minutes x", "--seeds 3", "one two"] {
            assert!(planned(words).is_err(), "{words}");
        }
    }
}
