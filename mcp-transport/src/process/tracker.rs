//! The registry of every server process this host has started.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock, Weak};
use std::time::SystemTime;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::{ProcessLedger, SpawnedProcess, Stop};

/// Tracks server processes. Clones share their state.
///
/// The whole program shares one, [`global`](Self::global), which connections use by default. It ends the remaining
/// processes when the program exits normally; for other exits see [`ProcessLedger`].
#[derive(Clone, Debug, Default)]
pub struct ProcessTracker {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    next: AtomicU64,
    entries: Mutex<BTreeMap<u64, Entry>>,
    ledger: OnceLock<ProcessLedger>,
}

#[derive(Clone, Debug)]
struct Entry {
    about: TrackedProcess,
    process: Arc<dyn SpawnedProcess>,
    connection: Weak<dyn Tracked>,
}

/// A process in a [`ProcessTracker`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TrackedProcess {
    /// Its id on this machine, if it runs here.
    pub id: Option<u32>,
    /// The command that was run, without secrets.
    pub program: String,
    /// When it was started.
    pub started: SystemTime,
}

/// The owner of a tracked process, which can shut it down.
#[async_trait]
pub(crate) trait Tracked: Send + Sync {
    async fn close_connection(self: Arc<Self>);
}

/// A process's entry in the registry, which is removed on drop.
#[derive(Debug)]
pub(crate) struct Tracking {
    tracker: ProcessTracker,
    key: u64,
}

impl ProcessTracker {
    /// A new tracker.
    pub fn new() -> Self {
        Self::default()
    }

    /// The program's tracker, which is [swept](Self::sweep) when the program exits.
    pub fn global() -> Self {
        static GLOBAL: LazyLock<ProcessTracker> = LazyLock::new(|| {
            #[cfg(unix)]
            super::sys::at_exit(sweep_global);
            ProcessTracker::new()
        });
        GLOBAL.clone()
    }

    /// Keeps a record of all processes from now on, so that everything they start can be found and ended: see
    /// [`sweep`](Self::sweep). A tracker keeps one ledger; a second one is returned.
    pub fn keep_ledger(&self, ledger: ProcessLedger) -> Result<(), ProcessLedger> {
        self.shared.ledger.set(ledger)
    }

    /// Makes this program the subreaper of its descendants, on Linux: a process whose parent exits becomes a child of
    /// this one, whatever session, group or environment it has set. When the program exits normally, all remaining
    /// children are ended, with SIGTERM first.
    ///
    /// For programs that own their process: it affects all children, including those of other libraries. To start a
    /// program that should outlive this one, use [`spawn_detached`](super::spawn_detached). Does nothing on other
    /// systems.
    pub fn adopt_orphans() -> io::Result<()> {
        let _ = Self::global();
        #[cfg(target_os = "linux")]
        super::subreaper::enable()?;
        Ok(())
    }

    /// The current processes, oldest first.
    pub fn processes(&self) -> Vec<TrackedProcess> {
        self.entries()
            .into_iter()
            .map(|entry| entry.about)
            .collect()
    }

    /// Closes the connection of the process with this id, and waits until the process has ended. `false` if there is no
    /// such process.
    pub async fn close(&self, id: u32) -> bool {
        self.close_where(|entry| entry.about.id == Some(id)).await > 0
    }

    /// Closes every connection, all at the same time, and waits at most 3 s until the processes have ended.
    pub async fn close_all(&self) {
        self.close_where(|_| true).await;
    }

    /// Kills every process with everything it has started, and returns immediately: for exit and panic hooks, which
    /// cannot await.
    pub fn kill_all_now(&self) {
        for entry in self.entries() {
            entry.process.stop(Stop::Kill);
        }
    }

    /// Kills every process like [`kill_all_now`](Self::kill_all_now). If a [`ProcessLedger`] is kept, then ends
    /// everything else that carries its mark, on Linux including what has left its group and session. Blocks for up to
    /// a second if such a process ignores SIGTERM. The global tracker does this when the program exits normally.
    pub fn sweep(&self) {
        self.kill_all_now();
        if let Some(ledger) = self.shared.ledger.get() {
            ledger.sweep();
        }
    }

    async fn close_where(&self, wanted: impl Fn(&Entry) -> bool) -> usize {
        let mut closing = JoinSet::new();
        for entry in self.entries().into_iter().filter(wanted) {
            if let Some(connection) = entry.connection.upgrade() {
                closing.spawn(connection.close_connection());
            }
        }
        let mut closed = 0;
        while closing.join_next().await.is_some() {
            closed += 1;
        }
        closed
    }

    fn entries(&self) -> Vec<Entry> {
        self.shared.entries.lock().values().cloned().collect()
    }

    /// The mark that a tracked process needs in its environment.
    pub(crate) fn mark(&self) -> Option<String> {
        self.shared.ledger.get().map(ProcessLedger::mark)
    }

    pub(crate) fn track(
        &self,
        program: String,
        process: Arc<dyn SpawnedProcess>,
        connection: Weak<dyn Tracked>,
    ) -> Tracking {
        let id = process.id();
        if let (Some(ledger), Some(id)) = (self.shared.ledger.get(), id) {
            ledger.add(id);
        }
        let about = TrackedProcess {
            id,
            program,
            started: SystemTime::now(),
        };
        let key = self.shared.next.fetch_add(1, Ordering::Relaxed);
        self.shared.entries.lock().insert(
            key,
            Entry {
                about,
                process,
                connection,
            },
        );
        Tracking {
            tracker: self.clone(),
            key,
        }
    }
}

impl Drop for Tracking {
    fn drop(&mut self) {
        let shared = &self.tracker.shared;
        let removed = shared.entries.lock().remove(&self.key);
        if let (Some(ledger), Some(id)) = (shared.ledger.get(), removed.and_then(|it| it.about.id))
        {
            ledger.remove(id);
        }
    }
}

#[cfg(unix)]
extern "C" fn sweep_global() {
    ProcessTracker::global().sweep();
    #[cfg(target_os = "linux")]
    super::subreaper::end_adopted();
}
