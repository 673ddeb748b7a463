//! Where the servers are, and how each is started.

use std::path::PathBuf;

use mcp_manager::ServerCommand;

/// A server that was installed from npm.
pub(crate) fn node(package: &str) -> ServerCommand {
    let script = folder("INTEROP_NODE")
        .join("@modelcontextprotocol")
        .join(package);
    ServerCommand::new("node").with_args([text(script.join("dist/index.js"))])
}

/// The same, by `npx`, which finds it where it is installed and downloads nothing.
pub(crate) fn npx(program: &str) -> ServerCommand {
    let place = folder("INTEROP_NODE").join("..");
    ServerCommand::new("npx")
        .with_args(["--no", program])
        .with_cwd(text(place))
}

/// A server that was installed from PyPI.
pub(crate) fn python(program: &str) -> ServerCommand {
    ServerCommand::new(text(folder("INTEROP_PYTHON").join(program)))
}

fn text(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap()
}

pub(crate) fn folder(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(folder) => folder.into(),
        None => panic!("{variable} is not set: run `cargo xtask interop`, which installs servers"),
    }
}
