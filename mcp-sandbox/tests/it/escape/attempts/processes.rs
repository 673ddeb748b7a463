//! Other processes, and more than a fair share.

use std::fs;
use std::io;

use super::{got, victim};

pub(super) fn read_variables() -> io::Result<String> {
    match std::env::var("ESCAPE_FOLDER") {
        Ok(value) => Ok(value),
        Err(_) => Err(io::Error::other("it is not passed on")),
    }
}

pub(super) fn read_command_line() -> io::Result<String> {
    fs::read_to_string(format!("/proc/{}/cmdline", victim()))
}

pub(super) fn read_environment() -> io::Result<String> {
    let all = fs::read(format!("/proc/{}/environ", victim()))?;
    Ok(format!("{} bytes", all.len()))
}

pub(super) fn list() -> io::Result<String> {
    fs::read_dir("/proc").map(|all| format!("{} entries", all.count()))
}

pub(super) fn signal() -> io::Result<String> {
    // SAFETY: takes numbers only.
    got(unsafe { libc::kill(victim(), libc::SIGTERM) }, "sent")
}

pub(super) fn limit() -> io::Result<String> {
    let none = libc::rlimit {
        rlim_cur: 1,
        rlim_max: 1,
    };
    let pid = victim();
    // SAFETY: a live limit, and null for the one that is not wanted.
    let done =
        unsafe { libc::prlimit(pid, libc::RLIMIT_CPU, &raw const none, std::ptr::null_mut()) };
    got(done, "limited")
}

pub(super) fn slow() -> io::Result<String> {
    // SAFETY: takes numbers only.
    got(
        unsafe { libc::setpriority(libc::PRIO_PROCESS, victim() as _, 19) },
        "slowed",
    )
}

pub(super) fn trace() -> io::Result<String> {
    // SAFETY: takes numbers only.
    got(
        unsafe { libc::ptrace(libc::PTRACE_ATTACH, victim(), 0, 0) },
        "attached",
    )
}

pub(super) fn read_memory() -> io::Result<String> {
    let mut byte = 0_u8;
    let ours = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let theirs = libc::iovec {
        iov_base: 0x40_0000 as *mut libc::c_void,
        iov_len: 1,
    };
    // SAFETY: writes one byte to a live place of ours, at most.
    let read =
        unsafe { libc::process_vm_readv(victim(), &raw const ours, 1, &raw const theirs, 1, 0) };
    match got(read as i64, "a byte") {
        // The right to read was there, and only the place was empty.
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok("no such place".to_owned()),
        other => other,
    }
}

pub(super) fn take_descriptor() -> io::Result<String> {
    // SAFETY: take numbers only.
    let taken = unsafe {
        let process = libc::syscall(libc::SYS_pidfd_open, victim(), 0);
        libc::syscall(libc::SYS_pidfd_getfd, process, 0, 0)
    };
    got(taken, "taken")
}

pub(super) fn fork_bomb() -> io::Result<String> {
    let mut children = Vec::new();
    let mut error = None;
    for _ in 0..1000 {
        // SAFETY: the child makes one system call that is safe in it, for ever.
        match unsafe { libc::fork() } {
            -1 => {
                error = Some(io::Error::last_os_error());
                break;
            }
            0 => loop {
                // SAFETY: takes nothing.
                unsafe { libc::pause() };
            },
            child => children.push(child),
        }
    }
    for child in &children {
        // SAFETY: take numbers, and null where the status is not wanted.
        unsafe {
            libc::kill(*child, libc::SIGKILL);
            libc::waitpid(*child, std::ptr::null_mut(), 0);
        }
    }
    error.map_or(Ok(format!("{} processes", children.len())), Err)
}

pub(super) fn take_memory() -> io::Result<String> {
    let (all, access) = (8 << 30, libc::PROT_READ | libc::PROT_WRITE);
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping that nothing else uses.
    let place = unsafe { libc::mmap(std::ptr::null_mut(), all, access, kind, -1, 0) };
    match place == libc::MAP_FAILED {
        true => Err(io::Error::last_os_error()),
        false => Ok("8 GiB".to_owned()),
    }
}
