//! What the loop promises.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod approval;
mod cancel;
mod kit;
mod law;
mod limit;
mod pairing;
mod seeds;
