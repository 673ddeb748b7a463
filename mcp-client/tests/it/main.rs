#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
//! What the client promises, against servers that keep and break their own promises.

mod abandoned_task;
mod cancel;
mod era;
mod fake;
mod form;
mod handle;
mod handshake;
mod header;
mod kit;
mod list;
mod message;
mod method_table;
mod mrtr;
mod origin;
mod outcome;
mod received;
mod server_request;
mod simulation;
#[cfg(feature = "skills")]
mod skill;
mod smoke;
mod subscription;
mod task;
