//! System calls: the only module of this crate with unsafe code.
//!
//! Code between fork and exec may neither allocate nor lock: everything is prepared before, and the child only makes
//! system calls with prepared values. The other functions make single calls that have no safe form in std, on
//! descriptors and values this module owns.
#![expect(unsafe_code, reason = "these system calls have no safe form")]

mod child;
mod notify;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

pub(crate) use child::{Confinement, Report, confine_child};
pub(super) use notify::{Listener, Request};

/// The version of Landlock's interface that this kernel has; 0 if it has none.
pub(super) fn landlock_abi() -> i32 {
    const VERSION: u32 = 1;
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel takes no attributes, and answers with a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, VERSION) };
    i32::try_from(abi).unwrap_or(0).max(0)
}

/// The result of a system call, as an error where it is negative.
fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// A descriptor that a system call has just returned.
fn descriptor(result: libc::c_long) -> io::Result<OwnedFd> {
    let number = checked(result)?;
    let number = i32::try_from(number).map_err(io::Error::other)?;
    // SAFETY: the kernel has just opened it for this caller, and no other code knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
