//! `cargo xtask public-api [--update]`: what each library offers, against its `public-api.txt`.

mod foreign;

use std::fs;

use self::foreign::Allowed;
use crate::install;
use crate::metadata::{self, Package};
use crate::shell::{self, Outcome, cargo, command, output};

const VERSION: &str = "0.52.0";

/// What to do about a difference.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Mode {
    Check,
    Update,
}

/// The verb.
pub(crate) fn run(words: &[String]) -> Outcome {
    let mode = match words {
        [] => Mode::Check,
        [word] if word == "--update" => Mode::Update,
        _ => return Err("public-api takes --update or nothing".to_owned()),
    };
    let packages = metadata::packages()?;
    let allowed = Allowed::read()?;
    let ours: Vec<&str> = packages.values().filter_map(library).collect();
    document()?;
    let (mut changed, mut foreign) = (Vec::new(), Vec::new());
    for package in metadata::publish_order(&packages) {
        let Some(library) = library(package) else {
            continue;
        };
        let path = package.folder.join("public-api.txt");
        let committed = fs::read_to_string(&path).unwrap_or_default();
        let built = list(library)?;
        foreign.extend(allowed.problems(&package.name, &built, &ours));
        if built == committed {
            println!("{:<24} {:>5} items", package.name, built.lines().count());
        } else if mode == Mode::Update {
            fs::write(&path, &built).map_err(|e| format!("{}: {e}", path.display()))?;
            println!(
                "{:<24} {:>5} items, written",
                package.name,
                built.lines().count()
            );
        } else {
            println!("{}: differs", package.name);
            print_difference(&committed, &built);
            changed.push(path.display().to_string());
        }
    }
    if !foreign.is_empty() {
        return Err(foreign.join("\n"));
    }
    if changed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} differ. A line that went (-) breaks users: say so in CHANGELOG.md, marked \
         **breaking**. If the change is meant: cargo xtask public-api --update",
        changed.join(", ")
    ))
}

/// The name of the crate's library, if it has one.
fn library(package: &Package) -> Option<&str> {
    let targets = package.fields["targets"].as_array()?;
    let library = targets.iter().find(|target| target["kind"][0] == "lib")?;
    library["name"].as_str()
}

/// Describes all libraries. Rustdoc's JSON is not stable yet: `RUSTC_BOOTSTRAP` makes the compiler emit
/// it all the same.
fn document() -> Outcome {
    let mut doc = cargo(&["doc", "--quiet", "--workspace", "--no-deps", "--lib"]);
    doc.arg("--all-features");
    let flags = "-Z unstable-options --output-format json --cap-lints allow";
    doc.env("RUSTDOCFLAGS", flags).env("RUSTC_BOOTSTRAP", "1");
    shell::run(doc)
}

/// Every public item, one a line, sorted.
fn list(library: &str) -> Result<String, String> {
    let program = install::cargo_tool("cargo-public-api", VERSION)?;
    let json = format!("target/doc/{library}.json");
    let mut api = command(&program.to_string_lossy(), &["public-api"]);
    // Without blanket, auto and derived implementations: they follow from the rest.
    api.args(["--rustdoc-json", &json, "-sss"]);
    output(api)
}

/// Lines that went and lines that came. Both lists are sorted.
fn print_difference(old: &str, new: &str) {
    for line in old.lines().filter(|line| !new.lines().any(|n| n == *line)) {
        println!("-{line}");
    }
    for line in new.lines().filter(|line| !old.lines().any(|o| o == *line)) {
        println!("+{line}");
    }
}
