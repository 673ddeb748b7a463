//! What the loop promises.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod accepted;
mod approval;
mod cancel;
mod direct;
mod in_memory;
mod kit;
mod law;
mod limit;
mod managed;
mod memory;
#[path = "../interop/pairing.rs"]
mod pairing;
#[path = "../interop/provider.rs"]
mod provider;
mod queue;
mod tape;
mod trace;
mod whole_runs;
mod wires;
