//! `cargo xtask soak [--minutes N]`: the manager and the loop under load, for as long as wanted.

use crate::shell::{self, Outcome, cargo, command};

/// Builds the soak and runs it, for ten minutes by default.
pub(crate) fn run(args: &[String]) -> Outcome {
    let build = ["build", "--quiet", "--profile", "dist"];
    let mut build = cargo(&build);
    build.args(["--package", "agent-loop", "--example", "soak"]);
    shell::run(build)?;
    let mut soak = command("target/dist/examples/soak", &[]);
    match args {
        [] => soak.args(["--minutes", "10"]),
        args => soak.args(args),
    };
    shell::run(soak)
}
