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
mod cassette;
mod compaction;
mod direct;
mod in_memory;
mod kit;
mod law;
mod limit;
mod managed;
mod many_tools;
mod memory;
mod one_call;
#[path = "../interop/pairing.rs"]
mod pairing;
#[path = "../interop/provider.rs"]
mod provider;
mod queue;
mod sub_agent;
mod trace;
mod typed_tools;
mod whole_runs;
mod wires;
