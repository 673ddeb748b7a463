//! Ending what dead hosts have left.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::HostId;
use crate::process::Stop;
use crate::process::identity::{self, StartTime};

/// How long a leftover gets to heed SIGTERM.
const PATIENCE: Duration = Duration::from_millis(700);
/// How long SIGKILL may take to be seen.
const AFTER_KILL: Duration = Duration::from_millis(300);
const POLL: Duration = Duration::from_millis(10);
/// A record this large is not ours.
const MAX_RECORD: u64 = 1 << 20;

/// A group as a record tells it.
#[derive(Debug, Eq, PartialEq)]
struct Leftover {
    group: u32,
    started: StartTime,
    /// The host that started it.
    mark: String,
}

/// Reads the records of dead hosts, ends what is in them, removes them. Tells what was ended.
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
        // Whoever renames it first has it; should we die over it, the name says that it was ours.
        let claimed = dir.join(format!("{}.{us}", host.file_name()));
        if fs::rename(&path, &claimed).is_ok() {
            let mut record = String::new();
            let file = fs::File::open(&claimed)?;
            // What cannot be read as text is not a record.
            let _ = file.take(MAX_RECORD).read_to_string(&mut record);
            found.extend(parse(&record, &identity::boot(), &host.to_string()));
            records.push(claimed);
        }
    }
    let ended = end(&found);
    for record in records {
        let _ = fs::remove_file(record);
    }
    Ok(ended)
}

/// The host a record is of, and whose it is to deal with: that host's, or a claimant's.
fn owners(file_name: &str) -> Option<(HostId, HostId)> {
    let (host, claimant) = file_name.split_once(".ledger")?;
    let host = HostId::parse(host)?;
    match claimant.strip_prefix('.') {
        Some(claimant) => Some((host, HostId::parse(claimant)?)),
        None => claimant.is_empty().then(|| (host.clone(), host)),
    }
}

/// The groups in a record that was written in this run of the system.
fn parse(record: &str, boot: &str, mark: &str) -> Vec<Leftover> {
    let mut lines = record.lines();
    if lines.next().and_then(|line| line.strip_prefix("boot ")) != Some(boot) {
        return Vec::new();
    }
    let group = |line: &str| {
        let (group, started) = line.strip_prefix("group ")?.split_once(' ')?;
        let started = StartTime::parse(started)?;
        Some(Leftover {
            group: group.parse().ok()?,
            started,
            mark: mark.to_owned(),
        })
    };
    lines.filter_map(group).collect()
}

/// Stops the groups, gently first; tells which processes were signalled.
fn end(groups: &[Leftover]) -> Vec<u32> {
    let mut ended = Vec::new();
    for (how, patience) in [(Stop::Terminate, PATIENCE), (Stop::Kill, AFTER_KILL)] {
        let deadline = Instant::now() + patience;
        let mut told: Vec<u32> = Vec::new();
        loop {
            // Looked for again each time: a process may have started another in between.
            let left: Vec<(&Leftover, u32)> = groups
                .iter()
                .flat_map(|it| it.processes().into_iter().map(move |p| (it, p)))
                .collect();
            for (group, pid) in &left {
                if !told.contains(pid) && group.signal(*pid, how) {
                    told.push(*pid);
                }
            }
            if left.is_empty() || Instant::now() > deadline {
                break;
            }
            thread::sleep(POLL);
        }
        ended.extend(told);
    }
    ended.sort_unstable();
    ended.dedup();
    ended
}

#[cfg(target_os = "linux")]
impl Leftover {
    /// The running processes that provably belong to the group.
    fn processes(&self) -> Vec<u32> {
        let members = identity::linux::members(self.group).unwrap_or_default();
        members.into_iter().filter(|pid| self.owns(*pid)).collect()
    }

    /// A member of the group is ours if the leader is the one we know, or if it has our mark.
    fn owns(&self, pid: u32) -> bool {
        let is_member = identity::linux::stat(pid).is_some_and(|stat| stat.group == self.group);
        let leader_is_ours = || identity::start_time(self.group).as_ref() == Some(&self.started);
        let is_marked = || identity::linux::has_variable(pid, super::LEDGER_VARIABLE, &self.mark);
        is_member && (leader_is_ours() || is_marked())
    }

    fn signal(&self, pid: u32, how: Stop) -> bool {
        crate::process::sys::signal_process_if(pid, how, || self.owns(pid))
    }
}

/// Without `/proc` only a leader can be known again; its group goes with it.
#[cfg(all(unix, not(target_os = "linux")))]
impl Leftover {
    fn processes(&self) -> Vec<u32> {
        let is_ours = identity::start_time(self.group).as_ref() == Some(&self.started);
        is_ours.then_some(self.group).into_iter().collect()
    }

    fn signal(&self, _: u32, how: Stop) -> bool {
        crate::process::sys::Group::with_id(self.group).signal(how);
        true
    }
}

/// Windows ends a job with its host: nothing is ever left.
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
    fn a_file_name_tells_whose_record_it_is() {
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
        let found = parse(record, "b1", "host");
        assert_eq!(found.iter().map(|it| it.group).collect::<Vec<_>>(), [12]);
        assert_eq!(parse(record, "b2", "host"), []);
        assert_eq!(parse("", "", "host"), []);
    }
}
