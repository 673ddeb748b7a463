//! `cargo xtask deny`: licences, banned crates and sources of everything we depend on.

use crate::install;
use crate::shell::{self, Outcome, command};

const VERSION: &str = "0.20.2";

/// The verb. Advisories are left out: they are fetched from elsewhere, and change by themselves.
pub(crate) fn run() -> Outcome {
    let program = install::cargo_tool("cargo-deny", VERSION)?;
    let mut deny = command(&program.to_string_lossy(), &["--offline"]);
    deny.args(["--config", ".cargo/deny.toml", "check"]);
    deny.args(["bans", "licenses", "sources"]);
    shell::run(deny)
}
