//! Where the servers are, and how each is started.

use std::path::PathBuf;

use mcp_transport::ServerCommand;

/// Set for every server, so that one which shows its environment can prove it got it.
pub(crate) const MARK: (&str, &str) = ("INTEROP_MARK", "naïve ✓");

/// The script of a server that was installed from npm.
pub(crate) fn script(package: &str) -> String {
    let script = modules().join(package).join("dist/index.js");
    script.into_os_string().into_string().unwrap()
}

/// The folder of packages that were installed from npm.
pub(crate) fn modules() -> PathBuf {
    folder("INTEROP_NODE").join("@modelcontextprotocol")
}

/// The command of a server that was installed from npm.
pub(crate) fn node(package: &str) -> ServerCommand {
    ServerCommand::new("node")
        .with_arg(script(package))
        .with_env(MARK.0, MARK.1)
}

/// The command of a server that was installed from PyPI.
pub(crate) fn python(program: &str) -> ServerCommand {
    let program = folder("INTEROP_PYTHON").join(program);
    ServerCommand::new(program.into_os_string().into_string().unwrap())
}

fn folder(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(folder) => folder.into(),
        None => panic!("{variable} is not set: run `cargo xtask interop`, which installs servers"),
    }
}
