//! `cargo xtask chaos [PATTERN]`: our client against servers that misbehave in every way we know.

use crate::shell::{self, Outcome, cargo, command};

/// Builds the servers and the client under test, and lets `mcp-testkit` judge.
pub(crate) fn run(patterns: &[String]) -> Outcome {
    shell::run(cargo(&[
        "build",
        "--quiet",
        "--package",
        "mcp-testkit",
        "--bins",
    ]))?;
    let client = [
        "--package",
        "switchboard-mcp-client",
        "--example",
        "chaos_driver",
    ];
    let mut build = cargo(&["build", "--quiet"]);
    build.args(client);
    shell::run(build)?;
    let mut judge = command("target/debug/mcp-testkit", &["chaos"]);
    judge.args(["--driver", "target/debug/examples/chaos_driver"]);
    for pattern in patterns {
        judge.args(["--only", pattern]);
    }
    shell::run(judge)
}
