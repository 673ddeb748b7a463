//! `cargo xtask conformance [--gateway] [PATTERN…]`: the official suites against the examples of
//! `mcp-client` and `mcp-server`; with `--gateway`, every server scenario directly and through the
//! example of `mcp-gateway`, before a server of either era; those that depend on no names also before
//! both at once.
//!
//! The rule is stricter than the suites' own: a warning fails, the client's exit status counts,
//! and a scenario in which nothing was checked with success fails. Scenarios that
//! measure time run alone, the others two at a time. Through the gateway, a scenario must also have
//! as many checks with success as without it.

mod fixture;
mod scenario;
mod suite;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::shell::{self, Outcome, cargo_as_tested};
use fixture::Servers;
use scenario::{Run, Side, Verdict, Via};
use suite::Suite;

/// The suites, oldest first. Lock files beside the list of expected failures pin all of npm.
const VERSIONS: [&str; 2] = ["0.1.16", "0.2.0-alpha.12"];
const EXPECTED_FAILURES: &str = "xtask/conformance/expected-failures.txt";
const CLIENT: &str = "target/debug/examples/conformance";

/// How many scenarios run at a time. Each takes most of one core, to start Node.
const WORKERS: usize = 2;

/// The verb: runs every scenario whose label contains one of the patterns.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (options, patterns): (Vec<_>, Vec<_>) =
        arguments.iter().partition(|it| it.starts_with("--"));
    let subjects: &[(Side, Via)] = match options.as_slice() {
        [] => &[(Side::Client, Via::Nothing), (Side::Server, Via::Nothing)],
        [option] if *option == "--gateway" => &[
            (Side::Server, Via::Nothing),
            (Side::Server, Via::Legacy),
            (Side::Server, Via::Modern),
            (Side::Server, Via::Both),
        ],
        _ => return Err(format!("unknown options: {options:?}; there is --gateway")),
    };
    let examples = ["conformance", "conformance_server", "conformance_gateway"];
    let examples: Vec<&str> = examples.iter().flat_map(|it| ["--example", it]).collect();
    shell::run(cargo_as_tested("build", &examples))?;
    let expected = expected_failures()?;
    let results = Path::new("target/conformance/results");
    let _ = fs::remove_dir_all(results);
    let suites = VERSIONS.into_iter().map(Suite::install);
    let suites = suites.collect::<Result<Vec<Suite>, String>>()?;
    let (mut timed, mut others) = (Vec::new(), Vec::new());
    for suite in &suites {
        for (side, via) in subjects {
            for run in scenario::plan(suite, *side, *via)? {
                let label = run.label();
                if patterns.is_empty() || patterns.iter().any(|p| label.contains(p.as_str())) {
                    let list = if run.is_timed() {
                        &mut timed
                    } else {
                        &mut others
                    };
                    list.push((suite, run));
                }
            }
        }
    }
    let mut verdicts = judge_all(&others, WORKERS, results)?;
    verdicts.extend(judge_all(&timed, 1, results)?);
    let runs = others.iter().chain(&timed).map(|(_, run)| run);
    require_as_many_as_directly(runs.clone(), &mut verdicts);
    let (mut passed, mut failed, mut surprises) = (0, 0, Vec::new());
    for (run, verdict) in runs.zip(&verdicts) {
        let label = run.label();
        let listed = expected.contains(&label);
        match verdict.complaints.is_empty() {
            true => passed += 1,
            false => failed += 1,
        }
        if verdict.complaints.is_empty() == listed {
            let fault = if listed {
                "passes but is listed as failing"
            } else {
                "fails"
            };
            surprises.push(format!("{label} {fault}"));
        }
    }
    println!("{passed} passed, {failed} failed");
    if passed + failed == 0 {
        return Err("no scenario matches".to_owned());
    }
    if surprises.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\nresults are under {}; the list of expected failures is {EXPECTED_FAILURES}",
        surprises.join("\n"),
        results.display()
    ))
}

/// Runs all of them, `workers` at a time, each worker with a server of its own. The verdicts are
/// in the order of the runs.
fn judge_all(
    runs: &[(&Suite, Run)],
    workers: usize,
    results: &Path,
) -> Result<Vec<Verdict>, String> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Verdict)>, String> {
        let mut servers = Servers::new();
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((suite, run)) = runs.get(at) else {
                return Ok(done);
            };
            let subject = match run.side() {
                Side::Client => CLIENT.to_owned(),
                Side::Server => servers.url(run.via())?,
            };
            let verdict = scenario::run(suite, run, &subject, results)?;
            report(run, &verdict);
            done.push((at, verdict));
        }
    };
    let mut done = thread::scope(|scope| -> Result<Vec<(usize, Verdict)>, String> {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut done = Vec::new();
        for worker in workers {
            done.extend(
                worker
                    .join()
                    .map_err(|_| "a worker panicked".to_owned())??,
            );
        }
        Ok(done)
    })?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, verdict)| verdict).collect())
}

/// A scenario that passes with fewer checks than directly has lost something on its way.
fn require_as_many_as_directly<'a>(
    runs: impl Iterator<Item = &'a Run> + Clone,
    verdicts: &mut [Verdict],
) {
    let direct = runs.clone().zip(verdicts.iter());
    let direct = direct.filter(|(run, _)| run.via() == Via::Nothing);
    let direct: BTreeMap<String, usize> = direct
        .map(|(run, verdict)| (run.label(), verdict.succeeded))
        .collect();
    for (run, verdict) in runs.zip(verdicts) {
        let Some(wanted) = direct.get(&run.direct_label()) else {
            continue;
        };
        if verdict.complaints.is_empty() && verdict.succeeded < *wanted {
            let complaint = format!("{} checks directly", wanted);
            verdict.complaints.push(complaint);
            report(run, verdict);
        }
    }
}

fn report(run: &Run, verdict: &Verdict) {
    let word = if verdict.complaints.is_empty() {
        "pass"
    } else {
        "FAIL"
    };
    let complaints = verdict.complaints.iter();
    let complaints: String = complaints.map(|it| format!("\n    {it}")).collect();
    println!(
        "{:<72} {word}  {}/{}{complaints}",
        run.label(),
        verdict.succeeded,
        verdict.judged
    );
}

/// One label a line, exactly as printed; `#` starts a comment.
fn expected_failures() -> Result<BTreeSet<String>, String> {
    let text = fs::read_to_string(EXPECTED_FAILURES)
        .map_err(|error| format!("{EXPECTED_FAILURES}: {error}"))?;
    Ok(text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect())
}
