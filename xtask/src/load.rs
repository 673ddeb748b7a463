//! `cargo xtask load [--profile P]`: many conversations at once with `switchboard serve`, many
//! readers of its events, a very long conversation, a long reply in small pieces, and a server that
//! floods its log.

use crate::shell::{self, Outcome, cargo, command};

/// Builds the program and the load in this profile, `dist` by default, and runs the load.
pub(crate) fn run(args: &[String]) -> Outcome {
    let profile = match args {
        [] => "dist",
        [flag, profile] if flag == "--profile" => profile,
        _ => return Err("usage: cargo xtask load [--profile P]".to_owned()),
    };
    let mut build = cargo(&["build", "--quiet", "--package", "switchboard"]);
    build.args(["--bin", "switchboard", "--example", "load"]);
    build.args(["--profile", profile]);
    shell::run(build)?;
    let folder = shell::folder(profile);
    shell::run(command(&format!("target/{folder}/examples/load"), &[]))
}
