//! Processes as shown by `/proc`, and orphaned processes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// Makes orphans among our descendants our children from now on.
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(nix::sys::prctl::set_child_subreaper(true)?)
}

/// The peak memory of the process so far, in KB.
pub(super) fn peak_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// The peak memory of any child that has ended and been waited for, in KB.
pub(super) fn children_peak_kb() -> u64 {
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .ok()
        .and_then(|usage| u64::try_from(usage.max_rss()).ok())
        .unwrap_or(0)
}

/// Ends a process immediately.
pub(super) fn end(pid: u32) {
    if let Ok(pid) = i32::try_from(pid) {
        // It may have ended by itself meanwhile.
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// The command lines of descendants that still exist after a while; they are ended.
pub(super) fn leftovers(except: &[u32], patience: Duration) -> Vec<String> {
    let deadline = Instant::now() + patience;
    let mut left = descendants(except);
    while !left.is_empty() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
        left = descendants(except);
    }
    let names = left.values().cloned().collect();
    while !left.is_empty() {
        left.keys().for_each(|pid| end(*pid));
        thread::sleep(Duration::from_millis(10));
        left = descendants(except);
    }
    names
}

/// All our other descendants, with their command lines. Dead ones are reaped.
fn descendants(except: &[u32]) -> BTreeMap<u32, String> {
    let me = std::process::id();
    let all = processes();
    let mut found = BTreeMap::new();
    let mut parents = vec![me];
    while let Some(parent) = parents.pop() {
        for (pid, process) in all.iter().filter(|(_, process)| process.parent == parent) {
            if except.contains(pid) {
                continue;
            }
            parents.push(*pid);
            if !process.dead {
                found.insert(*pid, command_line(*pid));
            } else if let (true, Ok(pid)) = (parent == me, i32::try_from(*pid)) {
                // If it fails, it is not ours to wait for.
                let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
            }
        }
    }
    found
}

struct Process {
    parent: u32,
    dead: bool,
}

fn processes() -> BTreeMap<u32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may contain anything, parentheses too.
        let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
        let dead = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        Some((pid, Process { parent, dead }))
    })
    .collect()
}

fn command_line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes)
        .replace('\0', " ")
        .trim()
        .to_owned()
}
