//! Conversations, tried on the program itself.

mod crash;
mod desk;
mod endpoint;
mod pipe;
mod remember;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(unix)]
mod terminal;
mod verbs;

pub(crate) use desk::{Desk, steady};
#[cfg(unix)]
pub(crate) use terminal::Terminal;
