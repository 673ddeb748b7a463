//! A conversation that survives: a run of the loop, stored before anything is shown or started.

mod announce;
mod error;
mod fork;
mod lease;
mod ledger;
mod live;
mod media;
mod outputs;
mod reload;
mod remembered;
pub(crate) mod shape;
mod talk;
mod turn;

pub(crate) use error::LEASED_HINT;
pub use error::SessionError;
pub use fork::{fork, transcript};
pub use ledger::Ledger;
pub(crate) use live::LiveQuestion;
pub use outputs::StoredOutputs;
pub use remembered::Decided;
pub use talk::{Model, Talk};
pub use turn::Turn;
