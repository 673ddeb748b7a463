//! `cargo xtask browser`: the web page in a real browser, and its pure parts without one.

use std::path::{Path, PathBuf};

use crate::install;
use crate::shell::{self, Outcome, cargo_as_tested, command, exists, in_ci};

/// What the browser is called on various systems.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// What is said where there is no browser.
pub(crate) const MISSING: &str = "no Chromium. Install it, or name it: CHROMIUM=/path/to/chrome";

/// Runs the unit tests of the page, then the tests in `switchboard/browser` whose names begin with
/// one of `cases`; with none, all. Measurements (`*.measure.mjs`) run only where they are named. Without
/// a browser, it prints that and goes on, unless `CI=true`.
pub(crate) fn run(cases: &[String]) -> Outcome {
    let mut unit = command("node", &["--test", "--test-reporter=dot"]);
    unit.arg("switchboard/browser/unit/");
    shell::run(unit)?;
    let Some(chromium) = chromium()? else {
        return skip(MISSING);
    };
    let node = playwright()?;
    // With an example, for then development dependencies have their say in features, as in tests.
    let targets = ["--bin", "switchboard", "--example", "load"];
    shell::run(cargo_as_tested("build", &targets))?;
    // One file after the other: each starts a browser and a program.
    let mut tests = command("node", &["--test", "--test-concurrency=1"]);
    tests.args(files(cases)?);
    tests.env("CHROMIUM", chromium);
    tests.env("PLAYWRIGHT", root()?.join(node).join("node_modules"));
    tests.env("SWITCHBOARD", program("debug")?);
    tests.env("SHOTS", shots("target/browser/shots")?);
    shell::run(tests)
}

/// Installs what drives the browser, once; returns the folder that holds `node_modules`.
pub(crate) fn playwright() -> Result<PathBuf, String> {
    install::npm(
        Path::new("switchboard/browser"),
        Path::new("target/browser/node"),
    )
}

/// The program as this profile builds it.
pub(crate) fn program(profile: &str) -> Result<PathBuf, String> {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => target.into(),
        None => root()?.join("target"),
    };
    let name = format!("switchboard{}", std::env::consts::EXE_SUFFIX);
    Ok(target.join(profile).join(name))
}

/// An empty folder for pictures: only those of this run are there afterwards.
pub(crate) fn shots(folder: &str) -> Result<PathBuf, String> {
    let shots = root()?.join(folder);
    let _ = std::fs::remove_dir_all(&shots);
    Ok(shots)
}

/// The workspace's folder.
pub(crate) fn root() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|e| format!("current folder: {e}"))
}

/// The test files of these cases.
fn files(cases: &[String]) -> Result<Vec<String>, String> {
    let folder = "switchboard/browser";
    let listed = std::fs::read_dir(folder).map_err(|e| format!("{folder}: {e}"))?;
    let names = listed
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned());
    let named = |name: &String| cases.iter().any(|case| name.starts_with(case));
    let wanted = |name: &String| {
        let is_test = name.ends_with(".test.mjs");
        (is_test && cases.is_empty())
            || ((is_test || name.ends_with(".measure.mjs")) && named(name))
    };
    let mut files: Vec<String> = names
        .filter(wanted)
        .map(|name| format!("{folder}/{name}"))
        .collect();
    files.sort();
    match files.is_empty() {
        true => Err(format!("no browser test begins with {}", cases.join(", "))),
        false => Ok(files),
    }
}

/// The browser: the one named, the one that is there, or on a Debian machine of CI a fresh one.
pub(crate) fn chromium() -> Result<Option<String>, String> {
    if let Ok(named) = std::env::var("CHROMIUM") {
        return Ok(Some(named));
    }
    if let Some(found) = find() {
        return Ok(Some(found));
    }
    if !in_ci() {
        return Ok(None);
    }
    if exists(command("apt-get", &["--version"])) {
        shell::apt_install("chromium")?;
    }
    Ok(find())
}

/// Leaves out what this machine cannot do, loudly; a failure where `CI=true`.
pub(crate) fn skip(why: &str) -> Outcome {
    if in_ci() {
        return Err(format!("{why}\nWith CI=true nothing is skipped."));
    }
    println!("SKIPPED: {why}");
    Ok(())
}

fn find() -> Option<String> {
    let there = |name: &&&str| exists(command(name, &["--version"]));
    NAMES.iter().find(there).map(|name| which(name))
}

/// The program's whole path, as the driver wants it.
fn which(name: &str) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    found.map_or_else(
        || name.to_owned(),
        |file| file.to_string_lossy().into_owned(),
    )
}
