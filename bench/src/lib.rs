//! What the benchmarks share. Each topic is a binary in `src/bin`.

pub mod allocations;
pub mod contest;
pub mod cpu_time;
pub mod drive;
pub mod echo_server;
#[cfg(feature = "codecs")]
pub mod model_stream;
pub mod usage;
