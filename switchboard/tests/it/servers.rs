//! The verbs about servers, on the program itself: what they print with `--json`, how they end,
//! and that no process is left.

mod bench;
mod broken;
mod import;
mod login;
mod realm;
#[cfg(unix)]
mod terminal;
mod transports;
mod verbs;
