//! `cargo xtask interop`: our client, manager and loop against real servers of other people's making, our
//! server and our gateway against the official clients, and our files of servers against the programs whose
//! files they are.

use std::path::{Path, PathBuf};

use crate::bench;
use crate::browser;
use crate::install;
use crate::shell::{self, Outcome, cargo_as_tested};

/// Installs the servers and the programs by package name and runs the `interop` tests of `mcp-client`,
/// `mcp-config`, `mcp-manager`, `mcp-sandbox`, `mcp-server`, `agent-loop` and `switchboard` on them. With `--rmcp`, the official Rust
/// SDK's client too, which is built in `bench/`: its crates never enter our lock file.
pub(crate) fn run(args: &[String]) -> Outcome {
    let with_rmcp = match args {
        [] => false,
        [flag] if flag == "--rmcp" => true,
        _ => return Err("usage: cargo xtask interop [--rmcp]".to_owned()),
    };
    let Installed { node, python } = install()?;
    let pins = Path::new("xtask/interop/hosts");
    let hosts = install::npm(pins, Path::new("target/interop/hosts"))?;
    let root = std::env::current_dir().map_err(|e| format!("current folder: {e}"))?;
    let examples = ["--example", "conformance_server", "--example", "add"];
    shell::run(cargo_as_tested("build", &examples))?;
    let mut tests = cargo_as_tested("test", &["--test", "interop"]);
    tests.env("INTEROP_EXAMPLES", root.join("target/debug/examples"));
    tests.env("INTEROP_NODE", &node);
    tests.env("INTEROP_PYTHON", &python);
    let pins = Path::new("xtask/interop/older");
    let older = install::pip(pins, Path::new("target/interop/older"))?;
    tests.env("INTEROP_OLDER", root.join(older).join("bin"));
    match browser::chromium()? {
        Some(chromium) => {
            tests.env("CHROMIUM", chromium);
        }
        None => {
            browser::skip(browser::MISSING)?;
            tests.args(["--", "--skip", "playwright"]);
        }
    }
    tests.env("INTEROP_HOSTS", root.join(hosts).join("node_modules"));
    if with_rmcp {
        tests.env("INTEROP_RMCP", bench::program("interop_rmcp")?);
    }
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
