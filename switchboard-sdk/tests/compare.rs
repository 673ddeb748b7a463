//! The programs of `docs/compare.md`: that they compile is the test. Their lines are as long as those of
//! the programs they are compared with.
#![allow(clippy::print_stdout, dead_code, reason = "programs that no test runs")]

#[cfg(feature = "agent")]
#[path = "compare/agent.rs"]
#[rustfmt::skip]
mod agent;
#[cfg(feature = "http")]
#[path = "compare/form.rs"]
#[rustfmt::skip]
mod form;
#[cfg(feature = "stdio")]
#[path = "compare/stdio.rs"]
#[rustfmt::skip]
mod stdio;
