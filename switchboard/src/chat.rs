//! Talking in the terminal.

mod clean;

pub(crate) use clean::clean;
