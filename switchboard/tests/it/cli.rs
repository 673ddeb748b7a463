//! Conversations, tried on the program itself.

mod crash;
mod desk;
mod endpoint;
mod lists;
mod pipe;
#[cfg(target_os = "linux")]
mod processes;
mod remember;
mod reported;
#[cfg(unix)]
mod terminal;
mod verbs;

pub(crate) use desk::{Desk, steady};
#[cfg(unix)]
pub(crate) use terminal::Terminal;
