//! The `PATH` of the login shell, where version managers put `node` and `uv`. Applications started by a desktop do not
//! have it.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::super::Stop;
use super::super::sys;

/// The time limit for the shell's start-up files.
const LOGIN_SHELL_TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum output of the shell: start-up files may print anything.
const MAX_OUTPUT: u64 = 64 * 1024;
const MARK: &str = "__path__";

/// The directories in the login shell's `PATH`; empty if it is unavailable. Determined once.
pub(super) fn search_path() -> Vec<PathBuf> {
    static FOUND: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| ask().unwrap_or_default()).clone()
}

fn ask() -> Option<Vec<PathBuf>> {
    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty())?;
    let mut command = Command::new(shell);
    // `printenv` prints the variable as programs see it, whatever the shell's list syntax.
    let script = format!("printf {MARK}; printenv PATH; printf {MARK}");
    command.args(["-l", "-i", "-c", &script]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    sys::prepare_without_terminal(&mut command);
    let mut child = command.spawn().ok()?;
    let group = sys::Group::of(&child).ok()?;
    let stdout = child.stdout.take()?;
    let (done, output) = mpsc::sync_channel(1);
    let reader = thread::Builder::new()
        .name("mcp-login-path".to_owned())
        .spawn(move || {
            let mut output = Vec::new();
            let _ = stdout.take(MAX_OUTPUT).read_to_end(&mut output);
            let _ = done.send(output);
        });
    let output = reader
        .ok()
        .and_then(|_| output.recv_timeout(LOGIN_SHELL_TIMEOUT).ok());
    group.signal(Stop::Kill);
    let _ = child.wait();
    let output = String::from_utf8(output?).ok()?;
    let path = output.split(MARK).nth(1)?.trim();
    Some(
        std::env::split_paths(path)
            .filter(|dir| dir.is_absolute())
            .collect(),
    )
}
