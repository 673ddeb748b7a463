//! `cargo xtask features`: every published crate by itself, with each of its features.

use std::time::Instant;

use crate::metadata;
use crate::shell::{self, Outcome, cargo};

/// The verb: lints each published crate by itself, with no features, its default ones, and each
/// one alone. In the workspace, features that another crate turns on hide that they are missing.
pub(crate) fn run() -> Outcome {
    let packages = metadata::packages()?;
    for package in metadata::publish_order(&packages) {
        let default = package.fields["features"]["default"].as_array();
        let default: Vec<&str> = default
            .into_iter()
            .flatten()
            .filter_map(|feature| feature.as_str())
            .collect();
        let mut variants: Vec<Vec<&str>> = vec![vec!["--no-default-features"]];
        if !default.is_empty() {
            variants.push(Vec::new());
        }
        for feature in &package.features {
            // What is the default already is not built twice; what is for tests, the tests build.
            let seen = matches!(feature.as_str(), "default" | "testing");
            if !seen && default != [feature.as_str()] {
                variants.push(vec!["--no-default-features", "--features", feature]);
            }
        }
        for variant in variants {
            let start = Instant::now();
            let mut args = vec!["clippy", "--quiet", "--package", &package.name];
            args.extend(&variant);
            args.extend(["--", "-D", "warnings"]);
            shell::run(cargo(&args))?;
            let seconds = start.elapsed().as_secs_f64();
            println!("{} {}: {seconds:.1} s", package.name, variant.join(" "));
        }
    }
    Ok(())
}
