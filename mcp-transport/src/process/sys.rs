//! System calls: the only module of this crate with unsafe code.
//!
//! Each block makes one call that has no safe form in std, on values that are plain numbers or handles this module
//! owns. Nothing here depends on transports.
#![expect(unsafe_code, reason = "process control has no safe form in std")]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
