//! Server processes: starting, watching and ending them.
//!
//! A [`Spawner`] starts them: it gets a [`SpawnRequest`] and returns a [`SpawnedProcess`]. [`LocalSpawner`] starts
//! programs on this machine; a sandbox has its own spawner.

#[cfg(unix)]
mod detached;
mod identity;
mod ledger;
mod local;
mod resolve;
mod spawner;
#[cfg(target_os = "linux")]
mod subreaper;
mod sys;
mod tracker;

#[cfg(unix)]
pub use detached::spawn_detached;
pub use ledger::ProcessLedger;
pub use local::LocalSpawner;
pub use spawner::{ProcessStatus, SpawnRequest, SpawnedProcess, Spawner, Stop};
pub use tracker::{ProcessTracker, TrackedProcess};

pub(crate) use ledger::LEDGER_VARIABLE;
pub(crate) use sys::stranded_bytes;
pub(crate) use tracker::{Tracked, Tracking};
