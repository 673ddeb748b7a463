//! The record of processes that a killed host leaves behind, for the next host to clean up.

mod reap;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::{fs, process};

use parking_lot::Mutex;

use super::identity::{self, StartTime};

/// Set in every child's environment while a ledger is kept: it proves whose child a process is, even after its parent
/// has exited.
pub(crate) const LEDGER_VARIABLE: &str = "SWITCHBOARD_LEDGER";

/// A record on disk of the processes this host has started.
///
/// A host that is killed by SIGKILL cannot clean up. Linux then kills its direct children and Windows kills whole jobs,
/// but what a launcher has started lives on. So each host keeps a file in a shared directory, and [`open`](Self::open)
/// ends what dead hosts have left behind.
///
/// Only processes that provably belong to such a host are killed. Process ids are reused, so each is recorded with the
/// start time of its process and the id of the boot. On Linux a descendant is recognized by an inherited environment
/// variable (`SWITCHBOARD_LEDGER`), even if it has left its group and session. Without `/proc`, a process that has left
/// its group, or whose group leader has exited, is left alone. On all systems, so is one that was started with another
/// environment.
#[derive(Debug)]
pub struct ProcessLedger {
    host: HostId,
    file: PathBuf,
    entries: Mutex<BTreeMap<u32, StartTime>>,
    /// Whether any process was started since the last sweep.
    used: AtomicBool,
    reaped: Vec<u32>,
}

/// One run of one host: `<process id>-<start time>-<number of the ledger in it>`.
#[derive(Clone, Debug, Eq, PartialEq)]
struct HostId {
    pid: u32,
    started: StartTime,
    number: u32,
}

impl ProcessLedger {
    /// Ends what dead hosts have left behind, and starts this host's record.
    ///
    /// `dir` is created if necessary, for this user only; a directory that others may write to is rejected, because a
    /// record decides which processes are killed. Blocks for up to a second if a leftover process ignores SIGTERM.
    pub fn open(dir: impl AsRef<Path>) -> io::Result<Self> {
        static LEDGERS: AtomicU32 = AtomicU32::new(0);
        let dir = dir.as_ref();
        make_private(dir)?;
        let pid = process::id();
        let started = identity::start_time(pid).unwrap_or_else(StartTime::unknown);
        let number = LEDGERS.fetch_add(1, Ordering::Relaxed);
        let host = HostId {
            pid,
            started,
            number,
        };
        let reaped = reap::leftovers(dir, &host)?;
        let file = dir.join(host.file_name());
        Ok(Self {
            host,
            file,
            entries: Mutex::default(),
            used: AtomicBool::new(false),
            reaped,
        })
    }

    /// The ids of the processes that [`open`](Self::open) ended.
    pub fn reaped(&self) -> &[u32] {
        &self.reaped
    }

    /// The value of [`LEDGER_VARIABLE`] for children.
    pub(super) fn mark(&self) -> String {
        self.host.to_string()
    }

    /// Records the group led by `pid`.
    pub(super) fn add(&self, pid: u32) {
        if let Some(started) = identity::start_time(pid) {
            let mut entries = self.entries.lock();
            self.used.store(true, Ordering::Relaxed);
            entries.insert(pid, started);
            self.write(&entries);
        }
    }

    /// Removes a group that has ended. The record remains: a process may have left the group.
    pub(super) fn remove(&self, pid: u32) {
        let mut entries = self.entries.lock();
        if entries.remove(&pid).is_some() {
            self.write(&entries);
        }
    }

    /// Ends all remaining processes that this host has started, and removes the record. Blocks for up to a second if a
    /// process ignores SIGTERM.
    pub(super) fn sweep(&self) {
        let mut entries = self.entries.lock();
        if !self.used.swap(false, Ordering::Relaxed) {
            return;
        }
        let groups = std::mem::take(&mut *entries).into_iter().collect();
        reap::end(&[reap::Leftover::new(&self.host, groups)]);
        let _ = fs::remove_file(&self.file);
    }

    /// Replaces the file as a whole. A record that cannot be written (because of a full disk) must not fail the
    /// operation.
    fn write(&self, entries: &BTreeMap<u32, StartTime>) {
        let mut text = format!("boot {}\n", identity::boot());
        for (pid, started) in entries {
            let _ = writeln!(text, "group {pid} {started}");
        }
        // If we die before the rename, the next host treats the draft as a record.
        let draft = self
            .file
            .with_file_name(format!("{}.{}", self.host.file_name(), self.host));
        let written = fs::File::create(&draft).and_then(|mut file| file.write_all(text.as_bytes()));
        let _ = written.and_then(|()| fs::rename(&draft, &self.file));
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.pid, self.started, self.number)
    }
}

impl HostId {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let pid = parts.next()?.parse().ok()?;
        let started = StartTime::parse(parts.next()?)?;
        let number = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some(Self {
            pid,
            started,
            number,
        })
    }

    fn file_name(&self) -> String {
        format!("{self}.ledger")
    }

    fn is_running(&self) -> bool {
        identity::start_time(self.pid).as_ref() == Some(&self.started)
    }
}

#[cfg(unix)]
fn make_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    if fs::metadata(dir)?.permissions().mode() & 0o022 != 0 {
        let text = format!("others may write to '{}'", dir.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_private(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}
