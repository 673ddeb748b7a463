//! What the adapters promise.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod bedrock;
mod cache;
mod decode;
mod documented;
mod fixture;
mod golden;
#[cfg(feature = "http")]
mod http;
mod law;
mod neutral;
#[path = "../../examples/codec/neutral.rs"]
mod neutral_json;
#[path = "../../examples/codec/oracle.rs"]
mod oracle;
mod output;
#[path = "../../examples/own_wire.rs"]
mod own_wire;
mod prompt;
mod request;
#[cfg(feature = "server")]
mod server;
mod trap;

#[test]
fn a_wire_can_be_written_outside_of_the_crate() {
    own_wire::main().unwrap();
}
