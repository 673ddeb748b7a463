//! Whether the packages build: unpacked side by side, in a workspace of their own.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::metadata::Package;
use crate::shell::{self, Outcome, cargo, command};

const FOLDER: &str = "target/unpacked";

/// Makes a package of each crate.
pub(crate) fn make(order: &[&Package]) -> Outcome {
    let mut package = cargo(&["package", "--allow-dirty", "--quiet", "--no-verify"]);
    for one in order {
        package.args(["--package", &one.name]);
    }
    shell::run(package)
}

/// Unpacks them and checks them together: a file that a package leaves out is missed. One check
/// for all, with our own build folder, so that nothing of others is built again.
pub(crate) fn check(order: &[&Package]) -> Outcome {
    let folder = Path::new(FOLDER);
    let fault = |e: std::io::Error| format!("{FOLDER}: {e}");
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(fault)?;
    for one in order {
        let archive = format!("target/package/{}.crate", stem(one));
        // Unpacked files count as new: packages have one date, whatever is in them.
        shell::run(command("tar", &["-xzmf", &archive, "-C", FOLDER]))?;
    }
    fs::write(folder.join("Cargo.toml"), manifest(order)).map_err(fault)?;
    fs::copy("Cargo.lock", folder.join("Cargo.lock")).map_err(fault)?;
    let mut check = cargo(&["check", "--workspace", "--all-features", "--quiet"]);
    check.args(["--manifest-path", &format!("{FOLDER}/Cargo.toml")]);
    check.args(["--target-dir", "target"]);
    shell::run(check)
}

/// A workspace in which each package finds the others here, not in the registry.
fn manifest(order: &[&Package]) -> String {
    let mut members = String::new();
    let mut patches = String::new();
    for one in order {
        let stem = stem(one);
        let _ = write!(members, "{stem:?}, ");
        let _ = writeln!(patches, "{} = {{ path = {stem:?} }}", one.name);
    }
    // The profile of the workspace: what it has built is of use here.
    format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{members}]\n\n\
         [profile.dev]\ndebug = \"line-tables-only\"\n\n[patch.crates-io]\n{patches}"
    )
}

/// `name-version`.
fn stem(package: &Package) -> String {
    let version = package.fields["version"].as_str().unwrap_or_default();
    format!("{}-{version}", package.name)
}
