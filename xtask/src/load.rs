//! `cargo xtask load`: many conversations at once with `switchboard serve`, and a very long one.

use crate::shell::{self, Outcome, cargo, command};

/// Builds the program and the load, and lets the load judge.
pub(crate) fn run() -> Outcome {
    let mut build = cargo(&[
        "build",
        "--quiet",
        "--profile",
        "dist",
        "--package",
        "switchboard",
    ]);
    build.args(["--bin", "switchboard", "--example", "load"]);
    shell::run(build)?;
    shell::run(command("target/dist/examples/load", &[]))
}
