//! The verbs about servers, on the program itself: what they print with `--json`, how they end,
//! and that no process is left.

mod assistants;
pub(crate) mod bench;
mod broken;
mod import;
#[cfg(unix)]
mod install;
pub(crate) mod login;
#[cfg(unix)]
pub(crate) mod mirror;
pub(crate) mod realm;
#[cfg(target_os = "linux")]
pub(crate) mod sandbox;
mod scan;
#[cfg(unix)]
mod terminal;
mod transports;
mod verbs;
#[cfg(unix)]
pub(crate) mod zip;
