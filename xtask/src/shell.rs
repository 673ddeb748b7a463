//! Running other programs, with errors that say how to repeat them.

use std::path::Path;
use std::process::{Command, Stdio};

/// What every verb returns: nothing, or the text to show.
pub(crate) type Outcome = Result<(), String>;

/// Makes the workspace root the current directory, wherever the verb was called from.
pub(crate) fn enter_root() -> Outcome {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::set_current_dir(&root).map_err(|e| format!("cannot enter {}: {e}", root.display()))
}

/// Whether nothing may be skipped: a clean machine that builds everything once.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").as_deref() == Ok("true")
}

/// A cargo command. Uses the cargo that runs us.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    if in_ci() {
        // What only a second build or a debugger would use.
        command.env("CARGO_INCREMENTAL", "0");
        command.env("CARGO_PROFILE_DEV_DEBUG", "none");
    }
    command
}

/// Cargo on the whole workspace with all features, as the tests are built: what they have built
/// already is not built again with other features.
pub(crate) fn cargo_as_tested(verb: &str, targets: &[&str]) -> Command {
    let mut command = cargo(&[verb, "--quiet", "--workspace", "--all-features"]);
    command.args(targets);
    command
}

/// Any other command.
pub(crate) fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args);
    command
}

/// Runs it with our own output; fails on a non-zero status.
pub(crate) fn run(mut command: Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!(
            "failed ({status}); repeat with: {}",
            spell(&command)
        )),
        Err(error) => Err(format!("could not start {}: {error}", spell(&command))),
    }
}

/// Runs it and returns all that it printed; a failure has it in its message.
pub(crate) fn run_quietly(mut command: Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("could not start {}: {error}", spell(&command)))?;
    let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
    printed.push_str(&String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        return Ok(printed);
    }
    let (status, repeat) = (output.status, spell(&command));
    Err(format!(
        "{printed}\nfailed ({status}); repeat with: cargo {repeat}"
    ))
}

/// Runs it and returns what it printed.
pub(crate) fn output(mut command: Command) -> Result<String, String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("could not start {}: {error}", spell(&command)))?;
    if !output.status.success() {
        return Err(format!(
            "failed ({}); repeat with: {}",
            output.status,
            spell(&command)
        ));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{}: {error}", spell(&command)))
}

/// When, and on which commit, figures were taken: the first line of every report.
pub(crate) fn stamp() -> String {
    let said = |program: &str, args: &[&str]| {
        let said = output(command(program, args)).unwrap_or_default();
        said.trim().to_owned()
    };
    let commit = said("git", &["rev-parse", "--short=9", "HEAD"]);
    let changed = match said("git", &["status", "--porcelain", "-uno"]).is_empty() {
        true => "",
        false => ", with uncommitted changes",
    };
    format!("{}, commit {commit}{changed}", said("date", &["-u", "+%F"]))
}

/// Whether a program answers at all.
pub(crate) fn exists(mut command: Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Installs a package of Debian's.
pub(crate) fn apt_install(package: &str) -> Outcome {
    let mut update = command("apt-get", &["update", "--quiet", "--quiet"]);
    update.env("DEBIAN_FRONTEND", "noninteractive");
    run(update)?;
    let mut install = command("apt-get", &["install", "--yes", "--quiet", "--quiet"]);
    install.args(["--no-install-recommends", package]);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    run(install)
}

/// The command as a person would type it.
fn spell(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(key, value)| {
            Some(format!(
                "{}='{}'",
                key.to_string_lossy(),
                value?.to_string_lossy()
            ))
        })
        .collect();
    let program = Path::new(command.get_program());
    words.push(
        program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    );
    words.extend(
        command
            .get_args()
            .map(|arg| arg.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

/// Takes an option with its value out of the arguments.
pub(crate) fn option<'a>(words: &mut Vec<&'a str>, name: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == name)?;
    let value = words.get(at + 1).copied()?;
    words.drain(at..at + 2);
    Some(value)
}

/// The folder of what cargo builds in this profile.
pub(crate) fn folder(profile: &str) -> &str {
    match profile {
        "dev" => "debug",
        profile => profile,
    }
}
