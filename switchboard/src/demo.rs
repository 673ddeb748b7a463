//! The first run, without a key and without a network: a server, a model and a tour of both.

mod server;
mod utc;

pub use server::demo_server;
