//! `cargo xtask deny [advisories]`: licences, banned crates and sources of everything we depend on;
//! or known vulnerabilities in it.

use crate::install;
use crate::shell::{self, Outcome, command};

const VERSION: &str = "0.20.2";

/// The verb. Advisories are asked for by name, and CI asks every week: they are fetched over the
/// network and change by themselves, so they must not decide whether a commit is green.
pub(crate) fn run(args: &[String]) -> Outcome {
    let checks: &[&str] = match args {
        [] => &[
            "--offline",
            "--config",
            CONFIG,
            "check",
            "bans",
            "licenses",
            "sources",
        ],
        [word] if word == "advisories" => &["--config", CONFIG, "check", "advisories"],
        _ => return Err("usage: cargo xtask deny [advisories]".to_owned()),
    };
    let program = install::cargo_tool("cargo-deny", VERSION)?;
    shell::run(command(&program.to_string_lossy(), checks))
}

const CONFIG: &str = ".cargo/deny.toml";
