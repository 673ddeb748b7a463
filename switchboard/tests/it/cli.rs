//! Conversations, tried on the program itself.

mod crash;
mod desk;
mod endpoint;
mod lists;
mod pipe;
#[cfg(target_os = "linux")]
mod processes;
mod remember;
#[cfg(unix)]
mod terminal;
mod told;
mod verbs;

pub(crate) use desk::{Desk, steady};
#[cfg(unix)]
pub(crate) use terminal::Terminal;
