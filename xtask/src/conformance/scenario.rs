//! One scenario at one revision: what to run, and the verdict by the strict rule.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::suite::Suite;
use crate::shell::command;

/// The newest revision, at which extension scenarios are run as well as at their own default.
const NEWEST: &str = "2026-07-28";
/// Where Node keeps the suite compiled, since every scenario starts it anew.
const COMPILE_CACHE: &str = "target/conformance/compile-cache";
/// The client limits itself to less; this is for the harness around it.
const LIMIT: Duration = Duration::from_secs(60);

/// Scenarios in which the suite itself skips every check: no one can pass them.
const VOID: [(&str, &str); 1] = [("0.2.0-alpha.12", "tasks-status-notifications")];
/// How the names of scenarios begin that name no tool and no prompt, or take the names from lists.
const NAMELESS: [&str; 14] = [
    "caching",
    "dns-rebinding-protection",
    "http-custom-header-server-validation",
    "http-header-validation",
    "logging-set-level",
    "ping",
    "prompts-list",
    "resources-",
    "sep-2164",
    "sep-2640",
    "server-initialize",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "tools-list",
];
/// Scenarios that pass with less than they are about, and how many checks with success it takes.
const DEMANDING: [(&str, usize); 1] = [
    // Without a stream that ends early, the suite leaves resumption out.
    ("server-sse-polling", 3),
];
/// The check that the suite adds to server scenarios: it can fail one, but not pass it.
const ADDED_CHECK: &str = "wire-schema-valid";

/// Which side of the protocol is judged.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Side {
    Client,
    Server,
}

impl Side {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// What is between the suite and the server.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Via {
    Nothing,
    /// The gateway, before a server that speaks the legacy era only.
    Legacy,
    /// The gateway, before a server that speaks the modern era only.
    Modern,
    /// The gateway, before two servers, one of each era, whose names have prefixes.
    Both,
}

impl Via {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Nothing => "direct",
            Self::Legacy => "legacy",
            Self::Modern => "modern",
            Self::Both => "both",
        }
    }
}

/// One run of one scenario.
pub(super) struct Run {
    side: Side,
    via: Via,
    suite: &'static str,
    scenario: String,
    revision: Option<String>,
    forced: bool,
}

/// What came of it.
pub(super) struct Verdict {
    pub(super) succeeded: usize,
    pub(super) judged: usize,
    /// Empty when the run passed.
    pub(super) complaints: Vec<String>,
}

impl Run {
    pub(super) fn side(&self) -> Side {
        self.side
    }

    pub(super) fn via(&self) -> Via {
        self.via
    }

    /// Whether the suite measures how long something takes.
    pub(super) fn is_timed(&self) -> bool {
        self.scenario.contains("sse") || self.scenario.contains("retry")
    }

    /// The fewest checks with success that it takes to pass.
    fn least(&self) -> usize {
        let demanding = DEMANDING.iter().find(|(name, _)| *name == self.scenario);
        demanding.map_or(1, |(_, least)| *least)
    }

    /// Names the run in tables and in the list of expected failures.
    pub(super) fn label(&self) -> String {
        let revision = self
            .revision
            .as_deref()
            .map(|r| format!(" @{r}"))
            .unwrap_or_default();
        let side = match self.side {
            Side::Client => "",
            Side::Server => "server ",
        };
        let via = match self.via {
            Via::Nothing => String::new(),
            via => format!(" via {}", via.word()),
        };
        format!("{} {side}{}{revision}{via}", self.suite, self.scenario)
    }

    /// The label of the same run without a gateway.
    pub(super) fn direct_label(&self) -> String {
        let label = self.label();
        let end = label.find(" via ").unwrap_or(label.len());
        label.get(..end).unwrap_or_default().to_owned()
    }
}

/// Every scenario at every revision it applies to; a client's extensions at the newest one too.
/// Suites 0.1 know no choice of revision.
pub(super) fn plan(suite: &Suite, side: Side, via: Via) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    let chooses = !suite.version.starts_with("0.1.");
    for (scenario, tags) in suite.scenarios(side)? {
        if VOID.contains(&(suite.version, scenario.as_str())) {
            continue;
        }
        let is_named = !NAMELESS.iter().any(|start| scenario.starts_with(start));
        if via == Via::Both && is_named {
            continue;
        }
        let run = |revision: Option<&str>, forced| Run {
            side,
            via,
            suite: suite.version,
            scenario: scenario.clone(),
            revision: revision.map(str::to_owned),
            forced,
        };
        let extension = tags.iter().any(|tag| tag == "extension");
        if !chooses || extension {
            runs.push(run(None, false));
        }
        if chooses {
            let revisions = tags.iter().filter(|tag| *tag != "extension");
            runs.extend(revisions.map(|revision| run(Some(revision), false)));
        }
        if chooses && extension && side == Side::Client {
            runs.push(run(Some(NEWEST), true));
        }
    }
    Ok(runs)
}

/// Runs it and judges it.
pub(super) fn run(
    suite: &Suite,
    run: &Run,
    subject: &str,
    results: &Path,
) -> Result<Verdict, String> {
    let folder = results.join(run.label().replace(['/', ' '], "_"));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut harness = command(&suite.node.to_string_lossy(), &[]);
    harness
        .arg(suite.entry())
        .args([run.side.word(), "--scenario", &run.scenario]);
    // Suites 0.1 limit clients only.
    if run.side == Side::Client || !suite.version.starts_with("0.1.") {
        harness.args(["--timeout", "30000"]);
    }
    let option = match run.side {
        Side::Client => "--command",
        Side::Server => "--url",
    };
    harness
        .args([option, subject])
        .arg("--output-dir")
        .arg(folder.join("checks"));
    if let Some(revision) = &run.revision {
        harness.args(["--spec-version", revision]);
    }
    if run.forced {
        harness.arg("--force");
    }
    let status = wait(harness, &folder)?;
    let checks = checks(&folder.join("checks"));
    Ok(judge(&checks, status, run.side, run.least()))
}

/// Runs the harness to its end or to the limit. `None`: it had to be killed.
fn wait(mut harness: Command, folder: &Path) -> Result<Option<bool>, String> {
    let log = |name: &str| File::create(folder.join(name)).map_err(|e| format!("{name}: {e}"));
    harness
        .stdout(log("harness.out")?)
        .stderr(log("harness.err")?)
        .env("NO_COLOR", "1")
        .env("NODE_COMPILE_CACHE", COMPILE_CACHE);
    let mut child = harness
        .spawn()
        .map_err(|e| format!("could not start node: {e}"))?;
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status.success())),
            Ok(None) if start.elapsed() < LIMIT => sleep(Duration::from_millis(20)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
            Err(error) => return Err(format!("waiting for node: {error}")),
        }
    }
}

/// The checks the suite wrote, wherever below the folder it put them.
fn checks(folder: &Path) -> Vec<Value> {
    let mut folders: Vec<PathBuf> = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("checks.json") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                return serde_json::from_str(&text).unwrap_or_default();
            }
        }
    }
    Vec::new()
}

/// The strict rule.
fn judge(checks: &[Value], status: Option<bool>, side: Side, least: usize) -> Verdict {
    let with = |wanted: &'static str| checks.iter().filter(move |c| c["status"] == wanted);
    let succeeded = with("SUCCESS").count();
    let own = with("SUCCESS").filter(|check| side == Side::Client || check["id"] != ADDED_CHECK);
    let own = own.count();
    let mut complaints: Vec<String> = with("FAILURE")
        .chain(with("WARNING"))
        .map(|check| {
            let text = check["errorMessage"]
                .as_str()
                .or(check["description"].as_str());
            let line = text.unwrap_or_default().lines().next().unwrap_or_default();
            format!(
                "{} {}: {line}",
                text_of(&check["status"]),
                text_of(&check["id"])
            )
        })
        .collect();
    let judged = succeeded + complaints.len();
    match status {
        None => complaints.push("the harness did not end and was killed".to_owned()),
        Some(false) if complaints.is_empty() => {
            complaints.push("the exit status is not zero".to_owned());
        }
        Some(true) if own < least && complaints.is_empty() => {
            complaints.push(format!("{own} checks with success, {least} are needed"));
        }
        Some(_) => {}
    }
    Verdict {
        succeeded,
        judged,
        complaints,
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn complaints(statuses: &[&str], status: Option<bool>) -> usize {
        let checks: Vec<Value> = statuses
            .iter()
            .map(|s| json!({"id": "x", "status": s}))
            .collect();
        judge(&checks, status, Side::Client, 1).complaints.len()
    }

    #[test]
    fn a_scenario_that_passes_with_less_than_it_is_about_needs_all_its_checks() {
        let checks = vec![json!({"id": "x", "status": "SUCCESS"}); 3];
        let judged = |count: usize| judge(&checks[..count], Some(true), Side::Server, 3);
        assert_eq!(judged(2).complaints.len(), 1);
        assert!(judged(3).complaints.is_empty());
    }

    #[test]
    fn warnings_idle_clients_and_bad_exits_fail() {
        assert_eq!(complaints(&["SUCCESS", "INFO", "SKIPPED"], Some(true)), 0);
        assert_eq!(complaints(&["SUCCESS", "WARNING"], Some(true)), 1);
        assert_eq!(complaints(&["SKIPPED"], Some(true)), 1);
        assert_eq!(complaints(&["SUCCESS"], Some(false)), 1);
        assert_eq!(complaints(&["SUCCESS"], None), 1);
    }

    #[test]
    fn a_server_passes_nothing_by_the_check_that_every_scenario_has() {
        let added = [json!({"id": ADDED_CHECK, "status": "SUCCESS"})];
        assert_eq!(
            judge(&added, Some(true), Side::Server, 1).complaints.len(),
            1
        );
        let own = [json!({"id": "x", "status": "SUCCESS"})];
        assert!(
            judge(&own, Some(true), Side::Server, 1)
                .complaints
                .is_empty()
        );
    }
}
