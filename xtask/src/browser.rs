//! `cargo xtask browser`: the web page in a real browser, and its pure parts without one.

use std::path::Path;

use crate::install;
use crate::shell::{self, Outcome, cargo_as_tested, command, exists};

/// What the browser is called on various systems.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Runs the unit tests of the page, then the tests in `switchboard/browser` whose names begin with
/// one of `cases`; with none, all. Without a browser, it says so and goes on, unless `CI=true`.
pub(crate) fn run(cases: &[String]) -> Outcome {
    let mut unit = command("node", &["--test", "--test-reporter=dot"]);
    unit.arg("switchboard/browser/unit/");
    shell::run(unit)?;
    let Some(chromium) = chromium()? else {
        println!("SKIPPED: no Chromium. Install it, or name it: CHROMIUM=/path/to/chrome");
        return Ok(());
    };
    let root = std::env::current_dir().map_err(|e| format!("current folder: {e}"))?;
    let node = install::npm(
        Path::new("switchboard/browser"),
        Path::new("target/browser/node"),
    )?;
    // With an example, for then development dependencies have their say in features, as in tests.
    let targets = ["--bin", "switchboard", "--example", "load"];
    shell::run(cargo_as_tested("build", &targets))?;
    // One file after the other: each starts a browser and a program.
    let mut tests = command("node", &["--test", "--test-concurrency=1"]);
    tests.args(files(cases)?);
    tests.env("CHROMIUM", chromium);
    tests.env("PLAYWRIGHT", root.join(node).join("node_modules"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let program = format!("debug/switchboard{}", std::env::consts::EXE_SUFFIX);
    tests.env("SWITCHBOARD", target.join(program));
    let shots = root.join("target/browser/shots");
    // Only pictures of this run are there afterwards.
    let _ = std::fs::remove_dir_all(&shots);
    tests.env("SHOTS", shots);
    shell::run(tests)
}

/// The test files of these cases.
fn files(cases: &[String]) -> Result<Vec<String>, String> {
    let folder = "switchboard/browser";
    let listed = std::fs::read_dir(folder).map_err(|e| format!("{folder}: {e}"))?;
    let names = listed
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned());
    let wanted = |name: &String| {
        name.ends_with(".test.mjs")
            && (cases.is_empty() || cases.iter().any(|case| name.starts_with(case)))
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
fn chromium() -> Result<Option<String>, String> {
    if let Ok(named) = std::env::var("CHROMIUM") {
        return Ok(Some(named));
    }
    if let Some(found) = find() {
        return Ok(Some(found));
    }
    if std::env::var("CI").as_deref() != Ok("true") {
        return Ok(None);
    }
    if exists(command("apt-get", &["--version"])) {
        let mut update = command("apt-get", &["update", "--quiet", "--quiet"]);
        update.env("DEBIAN_FRONTEND", "noninteractive");
        shell::run(update)?;
        let mut install = command("apt-get", &["install", "--yes", "--quiet", "--quiet"]);
        install.args(["--no-install-recommends", "chromium"]);
        install.env("DEBIAN_FRONTEND", "noninteractive");
        shell::run(install)?;
    }
    let missing = || "no Chromium, and CI=true: install it, or set CHROMIUM".to_owned();
    find().map(Some).ok_or_else(missing)
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
