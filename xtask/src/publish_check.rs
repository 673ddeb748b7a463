//! `cargo xtask publish-check`: what a release would ship, and whether it builds.

mod unpacked;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::metadata::{self, Package};
use crate::shell::{Outcome, cargo, output};

/// One line per crate and feature set: how many crates its build may pull in, itself included.
const BUDGETS: &str = "xtask/dependency-budget.txt";

/// How far the packages are looked into.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Depth {
    Made,
    Built,
}

/// The verb.
pub(crate) fn run() -> Outcome {
    check(Depth::Built)
}

/// As a step of ci: the packages are made and counted.
pub(crate) fn without_builds() -> Outcome {
    println!("the packages are not built here; cargo xtask publish-check builds them");
    check(Depth::Made)
}

fn check(depth: Depth) -> Outcome {
    let packages = metadata::packages()?;
    let order = metadata::publish_order(&packages);
    if order.is_empty() {
        return Ok(());
    }
    let mut problems = Vec::new();
    println!(
        "{:<24} {:>6} {:>9}  dependencies (budget)",
        "crate", "files", "KiB"
    );
    for package in &order {
        let (files, bytes) = shipped(package)?;
        let budgets = budgets(&package.name)?;
        if budgets.is_empty() {
            problems.push(format!(
                "{BUDGETS} has no line for {}; add one",
                package.name
            ));
        }
        let mut counts = Vec::new();
        for (features, budget) in budgets {
            let count = dependency_count(&package.name, &features)?;
            if count > budget {
                problems.push(format!(
                    "{} with {features} pulls in {count} crates, {budget} are allowed: drop a \
                     dependency, or raise the budget in {BUDGETS} and say why in the commit",
                    package.name
                ));
            }
            counts.push(format!("{features} {count} ({budget})"));
        }
        println!(
            "{:<24} {files:>6} {:>9}  {}",
            package.name,
            bytes / 1024,
            counts.join(", ")
        );
    }
    unpacked::make(&order)?;
    if depth == Depth::Built {
        unpacked::check(&order)?;
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

/// How many files a crate ships, and how many bytes before compression.
fn shipped(package: &Package) -> Result<(usize, u64), String> {
    let list = output(cargo(&[
        "package",
        "--allow-dirty",
        "--quiet",
        "--list",
        "--package",
        &package.name,
    ]))?;
    let sizes = list
        .lines()
        .filter_map(|file| fs::metadata(package.folder.join(file)).ok());
    Ok((list.lines().count(), sizes.map(|size| size.len()).sum()))
}

/// The lines of the budget file for one crate: features (`default`, `none`, or names) and limit.
fn budgets(name: &str) -> Result<BTreeMap<String, usize>, String> {
    let text = fs::read_to_string(BUDGETS).map_err(|e| format!("{BUDGETS}: {e}"))?;
    let mut budgets = BTreeMap::new();
    for line in text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [owner, features, limit] = words.as_slice() else {
            return Err(format!(
                "{BUDGETS}: expected 'crate features limit', found '{line}'"
            ));
        };
        if *owner == name {
            let limit = limit
                .parse()
                .map_err(|e| format!("{BUDGETS}: '{line}': {e}"))?;
            budgets.insert((*features).to_owned(), limit);
        }
    }
    Ok(budgets)
}

fn dependency_count(name: &str, features: &str) -> Result<usize, String> {
    let mut args = vec!["tree", "--quiet", "--edges", "normal", "--prefix", "none"];
    args.extend(["--format", "{p}", "--package", name]);
    match features {
        "default" => {}
        "none" => args.push("--no-default-features"),
        names => args.extend(["--no-default-features", "--features", names]),
    }
    let tree = output(cargo(&args))?;
    let crates: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| Some(line.trim_end_matches(" (*)")).filter(|line| !line.is_empty()))
        .collect();
    Ok(crates.len())
}
