//! Ends what dead hosts have left behind.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::HostId;
use crate::process::Stop;
use crate::process::identity::{self, StartTime};

/// The time a leftover process gets to exit after SIGTERM.
const TERMINATION_TIMEOUT: Duration = Duration::from_millis(700);
/// The time SIGKILL may take.
const KILL_TIMEOUT: Duration = Duration::from_millis(300);
const POLL: Duration = Duration::from_millis(10);
/// The maximum size of a record.
const MAX_RECORD: u64 = 1 << 20;

/// The processes a host has started, according to its record.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Leftover {
    /// The mark in its descendants' environment.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "needs /proc"))]
    mark: String,
    /// Groups, each with the start time of its leader.
    groups: Vec<(u32, StartTime)>,
}

impl Leftover {
    pub(super) fn new(host: &HostId, groups: Vec<(u32, StartTime)>) -> Self {
        Self {
            mark: host.to_string(),
            groups,
        }
    }
}

/// Reads the records of dead hosts, ends the processes in them, and removes them. Returns the ids of the
/// processes that were ended.
pub(super) fn leftovers(dir: &Path, us: &HostId) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    let mut records = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let Some((host, owner)) = path.file_name().and_then(OsStr::to_str).and_then(owners) else {
            continue;
        };
        if owner.is_running() {
            continue;
        }
        // The first process to rename it owns it; if we die meanwhile, the name shows that it was ours.
        let claimed = dir.join(format!("{}.{us}", host.file_name()));
        if fs::rename(&path, &claimed).is_ok() {
            let mut record = String::new();
            let file = fs::File::open(&claimed)?;
            // A file that is not text is not a record.
            let _ = file.take(MAX_RECORD).read_to_string(&mut record);
            found.extend(parse(&record, &identity::boot(), &host));
            records.push(claimed);
        }
    }
    let ended = end(&found);
    for record in records {
        let _ = fs::remove_file(record);
    }
    Ok(ended)
}

/// The host of a record, and its handler: that host, or a claimant.
fn owners(file_name: &str) -> Option<(HostId, HostId)> {
    let (host, claimant) = file_name.split_once(".ledger")?;
    let host = HostId::parse(host)?;
    match claimant.strip_prefix('.') {
        Some(claimant) => Some((host, HostId::parse(claimant)?)),
        None => claimant.is_empty().then(|| (host.clone(), host)),
    }
}

/// Parses a record of the current boot.
fn parse(record: &str, boot: &str, host: &HostId) -> Option<Leftover> {
    let mut lines = record.lines();
    if lines.next()?.strip_prefix("boot ")? != boot {
        return None;
    }
    let group = |line: &str| {
        let (group, started) = line.strip_prefix("group ")?.split_once(' ')?;
        Some((group.parse().ok()?, StartTime::parse(started)?))
    };
    Some(Leftover::new(host, lines.filter_map(group).collect()))
}

/// Stops the remaining processes, with SIGTERM first; returns the processes that were signalled.
pub(super) fn end(groups: &[Leftover]) -> Vec<u32> {
    let mut ended = Vec::new();
    for (how, timeout) in [
        (Stop::Terminate, TERMINATION_TIMEOUT),
        (Stop::Kill, KILL_TIMEOUT),
    ] {
        let deadline = Instant::now() + timeout;
        let mut reported: Vec<u32> = Vec::new();
        loop {
            // Searched again each time: a process may have started another in between.
            let left: Vec<(&Leftover, u32)> = groups
                .iter()
                .flat_map(|it| it.processes().into_iter().map(move |p| (it, p)))
                .collect();
            for (group, pid) in &left {
                if !reported.contains(pid) && group.signal(*pid, how) {
                    reported.push(*pid);
                }
            }
            if left.is_empty() || Instant::now() > deadline {
                break;
            }
            thread::sleep(POLL);
        }
        ended.extend(reported);
    }
    ended.sort_unstable();
    ended.dedup();
    ended
}

#[cfg(target_os = "linux")]
impl Leftover {
    /// The running processes that provably belong to it.
    fn processes(&self) -> Vec<u32> {
        let all = identity::linux::processes().unwrap_or_default();
        all.into_iter().filter(|pid| self.owns(*pid)).collect()
    }

    /// A process is ours if it has our mark, or if the leader of its group is one we know. We are not our own leftover.
    fn owns(&self, pid: u32) -> bool {
        let Some(stat) = identity::linux::stat(pid).filter(|stat| stat.is_running) else {
            return false;
        };
        let mut groups = self.groups.iter().filter(|(group, _)| *group == stat.group);
        let leader_is_ours =
            groups.any(|(group, started)| identity::start_time(*group).as_ref() == Some(started));
        let is_marked = || identity::linux::has_variable(pid, super::LEDGER_VARIABLE, &self.mark);
        pid != std::process::id() && (leader_is_ours || is_marked())
    }

    fn signal(&self, pid: u32, how: Stop) -> bool {
        crate::process::sys::signal_process_if(pid, how, || self.owns(pid))
    }
}

/// Without `/proc` only a leader can be recognized; its group is ended with it.
#[cfg(all(unix, not(target_os = "linux")))]
impl Leftover {
    fn processes(&self) -> Vec<u32> {
        let is_ours = |(group, started): &&(u32, StartTime)| {
            identity::start_time(*group).as_ref() == Some(started)
        };
        let ours = self.groups.iter().filter(is_ours);
        ours.map(|(group, _)| *group).collect()
    }

    fn signal(&self, group: u32, how: Stop) -> bool {
        crate::process::sys::Group::with_id(group).signal(how);
        true
    }
}

/// Windows ends a job with its host: nothing is left behind.
#[cfg(not(unix))]
impl Leftover {
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    fn signal(&self, _: u32, _: Stop) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_identifies_the_owner_of_a_record() {
        let id = |text| HostId::parse(text).unwrap();
        assert_eq!(
            owners("12-345-0.ledger"),
            Some((id("12-345-0"), id("12-345-0")))
        );
        assert_eq!(
            owners("12-345-0.ledger.6-7-1"),
            Some((id("12-345-0"), id("6-7-1")))
        );
        for other in [
            "x.ledger",
            "12-345-0.ledgers",
            "12-345-0",
            "12-345-0.ledger.",
            "1-2-3-4.ledger",
        ] {
            assert_eq!(owners(other), None, "{other}");
        }
    }

    #[test]
    fn a_record_counts_only_in_the_run_of_the_system_it_was_written_in() {
        let record = "boot b1\ngroup 12 345\ngarbage\ngroup x 1\ngroup 13 3-4\ngroup 14\n";
        let host = HostId::parse("1-2-3").unwrap();
        let found = parse(record, "b1", &host).unwrap();
        let started = StartTime::parse("345").unwrap();
        assert_eq!(found, Leftover::new(&host, vec![(12, started)]));
        assert_eq!(parse(record, "b2", &host), None);
        assert_eq!(parse("", "", &host), None);
        // All groups have ended; what has left them is unknown.
        let empty = parse("boot b1\n", "b1", &host);
        assert_eq!(empty, Some(Leftover::new(&host, Vec::new())));
    }
}
