//! Calls: each is decided, recorded and relayed on a leg, with the questions and tasks it brings.

mod admitted;
mod calls;
pub(crate) mod completions;
pub(crate) mod gate;
mod leg;
mod live_call;
pub(crate) mod open_calls;
pub(crate) mod questions;
pub(crate) mod relay;
pub(crate) mod tasks;
