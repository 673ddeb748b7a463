//! `cargo xtask coverage [CRATE…]`: how many lines of each crate the tests reach.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::install;
use crate::metadata::{self, Package};
use crate::postgres;
use crate::shell::{Outcome, cargo, command, exists, output};

const VERSION: &str = "0.9.1";
const TOOLS: &str = "coverage takes the compiler's own LLVM tools and cargo-nextest: rustup component add \
    llvm-tools; cargo install --locked cargo-nextest";

/// One source file: lines with code, and those that a test reached.
struct Measured {
    file: PathBuf,
    lines: u64,
    reached: u64,
}

/// The verb: a table of all crates by all tests; or of the crates named, file by file, by their own
/// tests.
pub(crate) fn run(names: &[String]) -> Outcome {
    if !exists(tool("llvm-cov")?) || !exists(cargo(&["nextest", "--version"])) {
        return Err(TOOLS.to_owned());
    }
    let packages = metadata::packages()?;
    let chosen: Vec<&Package> = match names {
        [] => metadata::publish_order(&packages),
        names => names
            .iter()
            .map(|name| packages.get(name).ok_or(format!("no crate '{name}'")))
            .collect::<Result<_, _>>()?,
    };
    let measured = measure(names)?;
    println!(
        "\n{:<44} {:>7} {:>7} {:>7}",
        "crate", "lines", "reached", "%"
    );
    for package in chosen {
        let source = package.folder.join("src");
        let files = measured
            .iter()
            .filter(|file| file.file.starts_with(&source));
        let lines = files.clone().map(|file| file.lines).sum();
        let reached = files.clone().map(|file| file.reached).sum();
        row(&package.name, lines, reached);
        if !names.is_empty() {
            for file in files {
                row(&file.file.display().to_string(), file.lines, file.reached);
            }
        }
    }
    Ok(())
}

fn row(name: &str, lines: u64, reached: u64) {
    let share = 100.0 * reached as f64 / lines.max(1) as f64;
    println!("{name:<44} {lines:>7} {reached:>7} {share:>7.1}");
}

/// One of LLVM's tools, as rustup installs them beside the compiler.
fn tool(name: &str) -> Result<std::process::Command, String> {
    let root = output(command("rustc", &["--print", "target-libdir"]))?;
    let bin = Path::new(root.trim()).parent().map(|lib| lib.join("bin"));
    let program = bin.unwrap_or_default().join(name);
    Ok(command(&program.to_string_lossy(), &["--version"]))
}

/// Runs these crates' tests under coverage, or all. Worst files first.
fn measure(names: &[String]) -> Result<Vec<Measured>, String> {
    let program = install::cargo_tool("cargo-llvm-cov", VERSION)?;
    let report = "target/coverage.json";
    // By nextest, which builds the examples that some tests start.
    let mut tests = command(&program.to_string_lossy(), &["llvm-cov", "nextest"]);
    tests.args(["--all-features", "--no-fail-fast", "--status-level", "fail"]);
    match names {
        [] => tests.args(["--workspace", "--exclude", "xtask"]),
        names => tests.args(names.iter().flat_map(|name| ["--package", name])),
    };
    tests.args(["--json", "--summary-only", "--output-path", report]);
    tests.env("INSTA_UPDATE", "no");
    postgres::with_server(tests, None)?;
    let text = fs::read_to_string(report).map_err(|e| format!("{report}: {e}"))?;
    let reported: Value = serde_json::from_str(&text).map_err(|e| format!("{report}: {e}"))?;
    let root = std::env::current_dir().map_err(|e| format!("current folder: {e}"))?;
    let files = reported["data"][0]["files"]
        .as_array()
        .into_iter()
        .flatten();
    let mut measured: Vec<Measured> = files
        .filter_map(|file| {
            let path = Path::new(file["filename"].as_str()?);
            let path = path.strip_prefix(&root).unwrap_or(path);
            Some(Measured {
                file: path.to_path_buf(),
                lines: file["summary"]["lines"]["count"].as_u64()?,
                reached: file["summary"]["lines"]["covered"].as_u64()?,
            })
        })
        .collect();
    measured.sort_by_key(|file| std::cmp::Reverse(file.lines - file.reached));
    Ok(measured)
}
