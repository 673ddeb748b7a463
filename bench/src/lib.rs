//! What the benchmarks share. Each topic is a binary in `src/bin`.

pub mod allocations;
pub mod contest;
pub mod cpu_time;
