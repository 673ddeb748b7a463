//! `cargo xtask tidy`: house rules that no compiler checks. Each message says how to fix it.

mod arrows;
mod links;
mod requirements;
mod samples;
mod words;

use std::fs;

use crate::metadata::{self, Package};
use crate::shell::{Outcome, command, output};

/// No source file is longer than this.
const MAX_LINES: usize = 500;

/// The verb.
pub(crate) fn run() -> Outcome {
    let packages = metadata::packages()?;
    let listed = output(command("git", &["ls-files", "-co", "--exclude-standard"]))?;
    let files: Vec<&str> = listed
        .lines()
        .filter(|file| fs::metadata(file).is_ok())
        .collect();
    let mut problems = arrows::check(&packages)?;
    for package in packages.values() {
        check_package(package, &mut problems);
    }
    for file in &files {
        check_file(file, &mut problems);
    }
    links::check(&files, &mut problems);
    requirements::check(&files, &mut problems);
    samples::check(&mut problems);
    words::check(&files, &mut problems);
    if problems.is_empty() {
        println!("{} files, {} crates: tidy", files.len(), packages.len());
        return Ok(());
    }
    problems.sort();
    Err(problems.join("\n"))
}

fn check_package(package: &Package, problems: &mut Vec<String>) {
    let name = &package.name;
    let manifest = package.folder.join("Cargo.toml");
    let mut missing = |what: &str| problems.push(format!("{}: add {what}", manifest.display()));
    for field in ["description", "license", "repository", "rust_version"] {
        if package.fields[field].is_null() {
            missing(field);
        }
    }
    if !fs::read_to_string(&manifest).is_ok_and(|text| text.contains("[lints]\nworkspace = true")) {
        missing("'[lints] workspace = true'");
    }
    if !package.published {
        return;
    }
    if package.fields["readme"].is_null() {
        missing("readme");
    }
    for list in ["keywords", "categories"] {
        if package.fields[list].as_array().is_none_or(Vec::is_empty) {
            missing(list);
        }
    }
    if package.fields["metadata"]["docs"]["rs"].is_null() {
        missing("[package.metadata.docs.rs]");
    }
    for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
        // Whole texts: a link does not survive every checkout and archive.
        let ships = fs::read(package.folder.join(license)).ok();
        if ships.is_none() || ships != fs::read(license).ok() {
            missing(&format!(
                "a copy of {license}: each package ships the text of its licence"
            ));
        }
    }
    let readme = package.folder.join("README.md");
    if !fs::read_to_string(&readme).is_ok_and(|text| text.contains("```")) {
        problems.push(format!(
            "{}: write it, with an example: what is {name}?",
            readme.display()
        ));
    }
}

fn check_file(file: &str, problems: &mut Vec<String>) {
    if file.ends_with(".snap.new") || file.ends_with(".pending-snap") {
        problems.push(format!("{file}: accept or delete this snapshot"));
    }
    let sources = [".rs", ".js", ".mjs", ".css"];
    // What others wrote is kept as it is.
    if !sources.iter().any(|end| file.ends_with(end)) || file.contains("/vendor/") {
        return;
    }
    let Ok(text) = fs::read_to_string(file) else {
        problems.push(format!("{file}: not UTF-8"));
        return;
    };
    let lines = text.lines().count();
    // A catalogue of texts is data, one file a language.
    if lines > MAX_LINES && !file.contains("/web/text/") {
        problems.push(format!(
            "{file}: {lines} lines; split it, {MAX_LINES} is the most"
        ));
    }
    // Spelt in two parts, so that this file does not accuse itself.
    let markers = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("X", "XX"),
        concat!("unimpl", "emented!"),
    ];
    for (number, line) in text.lines().enumerate() {
        for marker in markers {
            if line.contains(marker) {
                problems.push(format!(
                    "{file}:{}: {marker}: do it, or open an issue",
                    number + 1
                ));
            }
        }
    }
}
