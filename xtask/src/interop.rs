//! `cargo xtask interop`: our client, manager and loop against real servers of other people's making.

use std::path::Path;

use crate::install;
use crate::shell::{self, Outcome, cargo};

/// Installs the servers by package name and runs the `interop` tests of `mcp-client`,
/// `mcp-manager` and `agent-loop` on them.
pub(crate) fn run() -> Outcome {
    let pins = Path::new("xtask/interop");
    let node = install::npm(pins, Path::new("target/interop/node"))?;
    let python = install::pip(pins, Path::new("target/interop/python"))?;
    let root = std::env::current_dir().map_err(|e| format!("current folder: {e}"))?;
    for package in ["switchboard-mcp-client", "mcp-manager", "agent-loop"] {
        let mut tests = cargo(&["test", "--quiet", "--package", package]);
        tests.args(["--test", "interop"]);
        tests.env("INTEROP_NODE", root.join(&node).join("node_modules"));
        tests.env("INTEROP_PYTHON", root.join(&python).join("bin"));
        shell::run(tests)?;
    }
    Ok(())
}
