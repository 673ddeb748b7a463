//! Programs that outlive this one, such as a browser.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// The exit code of a shell for a command that is not installed.
const NOT_FOUND: i32 = 127;

/// Starts the first of these commands that works, as a program that outlives this one.
///
/// The program is never a child of this process, so [`ProcessTracker`](super::ProcessTracker) does not end it, even if
/// it [adopts orphans](super::ProcessTracker::adopt_orphans). Only the program and the arguments of each command are
/// used. Fails if none of them is installed; whether the program works is unknown.
pub fn spawn_detached(commands: &[Command]) -> io::Result<()> {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &script(commands)])
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(target_os = "linux")]
    let status = super::subreaper::run_outside(&mut shell)?;
    #[cfg(not(target_os = "linux"))]
    let status = shell.status()?;
    if status.code() != Some(NOT_FOUND) {
        return Ok(());
    }
    let names = commands.iter().map(|it| it.get_program().to_string_lossy());
    let text = format!(
        "none of these programs is installed: {}",
        names.collect::<Vec<_>>().join(", ")
    );
    Err(io::Error::new(io::ErrorKind::NotFound, text))
}

/// A script that exits as soon as the program runs, so that the program is not our descendant.
fn script(commands: &[Command]) -> String {
    let is_installed =
        |it: &Command| format!("command -v {}", quoted(&it.get_program().to_string_lossy()));
    let installed: Vec<String> = commands.iter().map(is_installed).collect();
    let lines: Vec<String> = commands.iter().map(shell_line).collect();
    format!(
        "{} || exit {NOT_FOUND}\n{{ {}; }} &",
        installed.join(" || "),
        lines.join(" || ")
    )
}

fn shell_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_reads_no_word_as_its_own() {
        let mut command = Command::new("open it");
        command.args(["https://x/?a=1&b='$(id)'", ""]);
        assert_eq!(
            script(&[command, Command::new("b")]),
            "command -v 'open it' || command -v 'b' || exit 127\n\
             { 'open it' 'https://x/?a=1&b='\\''$(id)'\\''' '' || 'b'; } &"
        );
    }

    #[test]
    fn an_error_names_the_programs_that_are_not_installed() {
        let error = spawn_detached(&[Command::new("/no/such/program")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "none of these programs is installed: /no/such/program"
        );
    }
}
