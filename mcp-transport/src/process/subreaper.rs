//! The subreaper of our descendants, on Linux: a process whose parent exits becomes the subreaper's
//! child instead of init's, so that nothing a server starts can leave our process tree, whatever
//! session, group or environment it sets.

use std::collections::BTreeSet;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{io, thread};

use parking_lot::Mutex;

use super::identity::linux;
use super::{Stop, sys};

/// Whether this process is a subreaper. Locked while that is switched off temporarily.
static IS_SUBREAPER: Mutex<bool> = Mutex::new(false);

/// The interval of reaping adopted zombies. Each process that we have started has a thread that waits for it, so a
/// zombie seen twice is an adopted one.
const REAP_INTERVAL: Duration = Duration::from_secs(10);
/// The time adopted processes get after SIGTERM …
const TERMINATION_TIMEOUT: Duration = Duration::from_millis(700);
/// … and the time SIGKILL may take. Their own orphans also reach us within this time.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub(super) fn enable() -> io::Result<()> {
    let mut is_subreaper = IS_SUBREAPER.lock();
    if *is_subreaper {
        return Ok(());
    }
    thread::Builder::new()
        .name("mcp-reaper".to_owned())
        .stack_size(128 * 1024)
        .spawn(reap_adopted)?;
    sys::set_subreaper(true)?;
    *is_subreaper = true;
    Ok(())
}

/// Reaps adopted processes that have exited.
fn reap_adopted() {
    let mut before = BTreeSet::new();
    loop {
        thread::sleep(REAP_INTERVAL);
        let zombies: BTreeSet<u32> = children(|is_running| !is_running).collect();
        for pid in before.intersection(&zombies) {
            sys::reap(*pid);
        }
        before = zombies;
    }
}

/// Ends all remaining children, and the processes we adopt when they exit. Only for the exit of the program.
pub(super) fn end_adopted() {
    if !*IS_SUBREAPER.lock() {
        return;
    }
    for (how, timeout) in [
        (Stop::Terminate, TERMINATION_TIMEOUT),
        (Stop::Kill, KILL_TIMEOUT),
    ] {
        let deadline = Instant::now() + timeout;
        let mut signalled = BTreeSet::new();
        loop {
            let left: Vec<u32> = children(|is_running| is_running).collect();
            if left.is_empty() {
                return;
            }
            for pid in left {
                // Only we could reap it, and we do not now: its id cannot be reused.
                if signalled.insert(pid) {
                    sys::signal_process_if(pid, how, || true);
                }
            }
            if Instant::now() > deadline {
                break;
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

fn children(wanted: impl Fn(bool) -> bool) -> impl Iterator<Item = u32> {
    let us = std::process::id();
    let is_child = move |pid: &u32| {
        linux::stat(*pid).is_some_and(|stat| stat.parent == us && wanted(stat.is_running))
    };
    let all = linux::processes().unwrap_or_default();
    all.into_iter().filter(is_child)
}

/// Runs a command while we are not a subreaper, so that its orphans become init's children.
pub(super) fn run_outside(command: &mut Command) -> io::Result<ExitStatus> {
    let is_subreaper = IS_SUBREAPER.lock();
    if *is_subreaper {
        sys::set_subreaper(false)?;
    }
    let status = command.status();
    if *is_subreaper {
        sys::set_subreaper(true)?;
    }
    status
}
