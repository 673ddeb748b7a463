//! The files of `deploy`: what they start is understood by the program.

use std::path::Path;
use std::process::Command;

use crate::program::{path, run};

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Arguments that are read one after the other: help is for those that were all understood.
#[track_caller]
fn is_understood(arguments: &[String]) {
    assert!(arguments.len() > 5, "{arguments:?}");
    let mut all: Vec<&str> = arguments.iter().map(String::as_str).collect();
    all.push("--help");
    let output = run(&all);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
}

#[test]
fn the_unit_is_one_of_systemd_and_its_command_is_understood() {
    let unit = file("switchboard.service");
    let line = |name: &str| {
        let found = unit.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    let command: Vec<String> = line("ExecStart=").split(' ').map(str::to_owned).collect();
    is_understood(&command[1..]);
    // Servers are ended by the program, not by systemd, and have a folder for what they load.
    assert_eq!(line("KillMode="), "mixed");
    assert!(line("Environment=").contains("HOME=/var/lib/switchboard "));
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("switchboard.service");
    std::fs::write(&copy, unit.replace("/usr/local/bin/switchboard", path())).unwrap();
    let verify = Command::new("systemd-analyze")
        .arg("verify")
        .arg(&copy)
        .output();
    let Ok(verified) = verify else {
        return eprintln!("SKIPPED: there is no systemd-analyze");
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    let about_it: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("switchboard.service"))
        .collect();
    assert!(about_it.is_empty(), "{about_it:?}");
}

#[test]
fn the_commands_of_the_containers_are_understood() {
    let compose = file("compose.yaml");
    let (_, command) = compose.split_once("    command:\n").unwrap();
    let words = command
        .lines()
        .map_while(|line| line.trim().strip_prefix("- "));
    let words: Vec<String> = words.map(filled).collect();
    is_understood(&words);
    let proxies = words
        .iter()
        .find_map(|it| it.strip_prefix("--trust-proxy="));
    let subnet = format!("- subnet: {}\n", proxies.unwrap());
    assert!(compose.contains(&subnet), "the proxy is in that network");
    // Its health check asks for what load balancers ask for.
    assert!(compose.contains("GET /readyz "));
    let image = file("Dockerfile");
    assert!(image.contains("--features postgres,telemetry"));
}

/// With a value for every variable.
fn filled(word: &str) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("${") {
        let (_, after) = after.split_once('}').unwrap();
        filled.push_str(before);
        filled.push_str("some.example");
        rest = after;
    }
    filled + rest
}
