//! `cargo xtask interop`: our client, manager and loop against real servers of other people's making.

use std::path::{Path, PathBuf};

use crate::install;
use crate::shell::{self, Outcome, cargo_as_tested};

/// Installs the servers by package name and runs the `interop` tests of `mcp-client`,
/// `mcp-manager` and `agent-loop` on them.
pub(crate) fn run() -> Outcome {
    let Installed { node, python } = install()?;
    let mut tests = cargo_as_tested("test", &["--test", "interop"]);
    tests.env("INTEROP_NODE", &node);
    tests.env("INTEROP_PYTHON", &python);
    shell::run(tests)
}

/// Where the servers are, and the SDKs they are made with.
pub(crate) struct Installed {
    /// The folder of Node's modules.
    pub(crate) node: PathBuf,
    /// The folder of the virtual environment's programs.
    pub(crate) python: PathBuf,
}

/// Installs the servers, once.
pub(crate) fn install() -> Result<Installed, String> {
    let pins = Path::new("xtask/interop");
    let node = install::npm(pins, Path::new("target/interop/node"))?;
    let python = install::pip(pins, Path::new("target/interop/python"))?;
    let root = std::env::current_dir().map_err(|e| format!("current folder: {e}"))?;
    Ok(Installed {
        node: root.join(node).join("node_modules"),
        python: root.join(python).join("bin"),
    })
}
