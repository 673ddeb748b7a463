//! `cargo xtask soak [--minutes N]`: the manager and the loop under load, for as long as wanted.

use crate::shell::{self, Outcome, cargo, command};

/// Builds the soak and runs it, for ten minutes unless told otherwise.
pub(crate) fn run(args: &[String]) -> Outcome {
    let build = ["build", "--quiet", "--release", "--package", "agent-loop"];
    let mut build = cargo(&build);
    build.args(["--example", "soak"]);
    shell::run(build)?;
    let mut soak = command("target/release/examples/soak", &[]);
    match args {
        [] => soak.args(["--minutes", "10"]),
        args => soak.args(args),
    };
    shell::run(soak)
}
