//! Conversations, tried on the program itself.

#[cfg(unix)]
mod bad_input;
mod changed;
#[cfg(unix)]
mod chinese;
mod crash;
mod desk;
mod endpoint;
mod inspector;
mod lists;
mod pipe;
#[cfg(target_os = "linux")]
mod processes;
mod remember;
mod reported;
#[cfg(unix)]
mod screen;
mod scripts;
#[cfg(unix)]
mod terminal;
mod verbs;

pub(crate) use desk::{Desk, steady};
#[cfg(unix)]
pub(crate) use terminal::Terminal;
