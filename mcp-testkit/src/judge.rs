//! `mcp-testkit chaos`: runs a client against every case and judges it.
//!
//! Each case runs under its own process, which adopts everything the client leaves behind (Linux:
//! `PR_SET_CHILD_SUBREAPER`), so that cases can run concurrently.

mod client;
mod one;
mod proc;
mod row;

use std::collections::BTreeMap;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use mcp_testkit::chaos::{Case, cases};

use row::Row;

/// The cases to run, and how.
#[derive(Debug)]
pub(crate) struct Chaos {
    /// The client: a program and its arguments.
    pub(crate) driver: String,
    /// Patterns of names, joined by commas, in which `*` stands for any text.
    pub(crate) only: Option<String>,
    /// The number of cases that run at once.
    pub(crate) jobs: usize,
}

/// Prints the cases that would run.
pub(crate) fn list(only: Option<&str>) {
    let selected = select(only);
    for case in &selected {
        println!("{:<40} {}", case.name, case.reason);
    }
    println!("{} cases", selected.len());
}

/// Runs every selected case and prints a row for each, in the table's order.
pub(crate) fn run(chaos: &Chaos) -> Result<ExitCode, String> {
    let started = Instant::now();
    let selected = select(chaos.only.as_deref());
    if selected.is_empty() {
        return Err("no case has such a name: see mcp-testkit chaos --list".to_owned());
    }
    println!("{}", Row::head());
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    each_row(&selected, chaos, |row| {
        println!("{row}");
        match row.verdict {
            row::Verdict::Passed => passed += 1,
            row::Verdict::Failed => failed += 1,
            row::Verdict::Skipped => skipped += 1,
        }
    });
    if skipped > 0 {
        println!("{skipped} left out: the driver does not support them");
    }
    println!(
        "{passed} passed, {failed} failed ({:.0} s)",
        started.elapsed().as_secs_f64()
    );
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Judges one case in this process, and prints its row as JSON.
pub(crate) fn run_one(name: &str, driver: &str) -> Result<ExitCode, String> {
    let case = cases().into_iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("no case is called {name}"))?;
    let row = one::run(&case, driver).map_err(|error| error.to_string())?;
    println!("{}", row.to_json());
    Ok(ExitCode::SUCCESS)
}

/// Runs the cases, several at once, and passes on each row in the table's order.
fn each_row(selected: &[Case], chaos: &Chaos, mut hand_over: impl FnMut(&Row)) {
    let next = AtomicUsize::new(0);
    let (finished, rows) = mpsc::sync_channel(chaos.jobs.max(1));
    thread::scope(|scope| {
        for _ in 0..chaos.jobs.max(1) {
            let (next, finished) = (&next, finished.clone());
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = selected.get(at) else { return };
                    if finished.send((at, apart(case, &chaos.driver))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(finished);
        let (mut early, mut due) = (BTreeMap::new(), 0);
        for (at, row) in rows {
            early.insert(at, row);
            while let Some(row) = early.remove(&due) {
                hand_over(&row);
                due += 1;
            }
        }
    });
}

/// Runs one case in its own process.
fn apart(case: &Case, driver: &str) -> Row {
    let run = || -> std::io::Result<Row> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["chaos-case", &case.name, "--driver", driver])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let (printed, wait) = mpsc::channel();
        let stdout = child.stdout.take();
        thread::spawn(move || {
            let text = stdout.map(std::io::read_to_string);
            // The receiver may be closed.
            let _ = printed.send(text);
        });
        let text = wait.recv_timeout(case.exit_within + Duration::from_secs(30));
        child.kill()?;
        child.wait()?;
        match text {
            Ok(Some(Ok(text))) => Ok(Row::from_json(case, &text)),
            Ok(_) => Ok(Row::broken(case, "it printed nothing")),
            Err(_) => Ok(Row::broken(case, "the judge itself hung")),
        }
    };
    run().unwrap_or_else(|error| Row::broken(case, &error.to_string()))
}

fn select(only: Option<&str>) -> Vec<Case> {
    let mut selected = cases();
    if let Some(patterns) = only {
        selected.retain(|case| patterns.split(',').any(|pattern| fits(pattern, &case.name)));
    }
    selected
}

/// Whether a name matches a pattern. A pattern without `*` and `/` matches anywhere in the name.
fn fits(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '/']) {
        return name.contains(pattern);
    }
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = rest.get(at + part.len()..).unwrap_or_default();
        last = Some(part);
    }
    last.map_or(rest.is_empty(), |last| {
        last.is_empty() || name.ends_with(last)
    })
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_fit_names() {
        for (pattern, name, wanted) in [
            ("exit", "stdio/exit-mid-call", true),
            ("stdio/*", "stdio/baseline", true),
            ("stdio/*", "stdio-modern/baseline", false),
            ("*/baseline", "stdio-modern/baseline", true),
            ("stdio/*call", "stdio/exit-mid-call", true),
            ("stdio/*call", "stdio/exit-mid-calls", false),
            ("stdio/baseline", "stdio/baseline", true),
            ("stdio/base", "stdio/baseline", false),
        ] {
            assert_eq!(fits(pattern, name), wanted, "{pattern} {name}");
        }
    }
}
