//! `cargo xtask chaos [PATTERN]`: our client against servers that misbehave in every way we know.

use crate::shell::{self, Outcome, cargo_as_tested, command};

/// Builds the servers and the client under test, and lets `mcp-testkit` judge.
pub(crate) fn run(patterns: &[String]) -> Outcome {
    let targets = ["--bin", "mcp-testkit", "--example", "chaos_driver"];
    shell::run(cargo_as_tested("build", &targets))?;
    let mut judge = command("target/debug/mcp-testkit", &["chaos"]);
    judge.args(["--driver", "target/debug/examples/chaos_driver"]);
    for pattern in patterns {
        judge.args(["--only", pattern]);
    }
    shell::run(judge)
}
