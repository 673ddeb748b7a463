//! `cargo xtask conformance [PATTERN…]`: the official suites against the examples of `mcp-client` and
//! `mcp-server`.
//!
//! The rule is stricter than the suites' own: a warning fails, the client's exit status counts,
//! and a scenario in which nothing was checked with success fails. Scenarios run one at a time,
//! because some are timed.

mod fixture;
mod scenario;
mod suite;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::shell::{self, Outcome, cargo_as_tested};
use fixture::Fixture;
use scenario::{Run, Side};
use suite::Suite;

/// The suites, oldest first. Lock files beside the list of expected failures pin all of npm.
const VERSIONS: [&str; 2] = ["0.1.16", "0.2.0-alpha.12"];
const EXPECTED_FAILURES: &str = "xtask/conformance/expected-failures.txt";
const CLIENT: &str = "target/debug/examples/conformance";
const SERVER: &str = "target/debug/examples/conformance_server";

/// The verb: runs every scenario whose label contains one of the patterns.
pub(crate) fn run(patterns: &[String]) -> Outcome {
    let examples = [
        "--example",
        "conformance",
        "--example",
        "conformance_server",
    ];
    shell::run(cargo_as_tested("build", &examples))?;
    let expected = expected_failures()?;
    let results = Path::new("target/conformance/results");
    let _ = fs::remove_dir_all(results);
    let (mut passed, mut failed, mut surprises) = (0, 0, Vec::new());
    let mut server = Fixture::new(SERVER);
    for (version, side) in VERSIONS
        .into_iter()
        .flat_map(|version| [(version, Side::Client), (version, Side::Server)])
    {
        let suite = Suite::install(version)?;
        for run in scenario::plan(&suite, side)? {
            let label = run.label();
            if !patterns.is_empty() && !patterns.iter().any(|p| label.contains(p.as_str())) {
                continue;
            }
            let subject = match side {
                Side::Client => CLIENT.to_owned(),
                Side::Server => server.url()?,
            };
            let verdict = scenario::run(&suite, &run, &subject, results)?;
            report(&run, &verdict);
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

fn report(run: &Run, verdict: &scenario::Verdict) {
    let word = if verdict.complaints.is_empty() {
        "pass"
    } else {
        "FAIL"
    };
    println!(
        "{:<72} {word}  {}/{}",
        run.label(),
        verdict.succeeded,
        verdict.judged
    );
    for complaint in &verdict.complaints {
        println!("    {complaint}");
    }
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
