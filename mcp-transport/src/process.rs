//! Server processes: how they are started, watched and ended.
//!
//! Starting is a plug point: a [`Spawner`] gets a ready-made [`SpawnRequest`] and answers with a
//! [`SpawnedProcess`]. [`LocalSpawner`] starts programs on this machine; a sandbox brings its own.

mod identity;
mod ledger;
mod local;
mod resolve;
mod spawner;
mod sys;
mod tracker;

pub use ledger::ProcessLedger;
pub use local::LocalSpawner;
pub use spawner::{ProcessStatus, SpawnRequest, SpawnedProcess, Spawner, Stop};
pub use tracker::{ProcessTracker, TrackedProcess};

pub(crate) use ledger::LEDGER_VARIABLE;
pub(crate) use sys::stranded_bytes;
pub(crate) use tracker::{Tracked, Tracking};
