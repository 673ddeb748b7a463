//! What the benchmarks share. Each topic is a binary in `src/bin`.

pub mod allocations;
pub mod cache_race;
pub mod catalog_times;
pub mod contest;
pub mod cpu_time;
pub mod drive;
pub mod echo_server;
pub mod rounds;
pub mod server_pool;
pub mod latency;
#[cfg(any(feature = "codecs", feature = "counts"))]
pub mod model_stream;
pub mod table;
pub mod usage;
