//! The built program.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// The program with these arguments, and nothing of ours in its environment.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(path());
    command.args(arguments).stdin(Stdio::null());
    command.env_remove("NO_COLOR");
    command
}

pub(crate) fn path() -> &'static str {
    env!("CARGO_BIN_EXE_switchboard")
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

/// The program with a mark in its environment, which all its children get from it.
pub(crate) fn marked(arguments: &[&str]) -> (Command, String) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mark = format!("SWITCHBOARD_TEST_MARK={}-{number}", std::process::id());
    let mut command = program(arguments);
    let (name, value) = mark.split_once('=').unwrap();
    command.env(name, value);
    (command, mark)
}

/// The command lines of all processes that have this mark. Only Linux shows them.
pub(crate) fn left_running(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == mark.as_bytes())
        {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&line).replace('\0', " "));
        }
    }
    found
}

#[test]
fn wrong_usage_is_exit_1_and_one_json_line() {
    let output = run(&["demo-server", "--http", "--sse", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error"]["exit"], 1);
    assert!(
        error["error"]["message"]
            .as_str()
            .unwrap()
            .contains("--sse"),
        "{error}"
    );
    assert!(output.stdout.is_empty());
    assert_eq!(run(&["no-such-verb"]).status.code(), Some(1));
}

#[test]
fn help_and_version_are_no_failures() {
    for flag in ["--help", "--version"] {
        let output = run(&[flag]);
        assert_eq!(output.status.code(), Some(0));
        assert!(
            String::from_utf8(output.stdout)
                .unwrap()
                .contains("switchboard")
        );
    }
}
