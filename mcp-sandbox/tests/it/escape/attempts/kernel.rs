//! The kernel's own interfaces.

use std::io;

use super::got;

pub(super) fn io_uring() -> io::Result<String> {
    let mut parameters = [0_u8; 120];
    // SAFETY: the parameters are as long as the kernel wants them.
    let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr()) };
    got(ring, "a ring")
}

pub(super) fn unshare() -> io::Result<String> {
    // SAFETY: takes numbers only.
    got(
        unsafe { libc::syscall(libc::SYS_unshare, libc::CLONE_NEWUSER) },
        "a namespace",
    )
}

pub(super) fn clone() -> io::Result<String> {
    let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
    // SAFETY: without a stack of its own the child has a copy of everything, as after fork.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
        // SAFETY: ends the child at once.
        0 => unsafe { libc::_exit(0) },
        child => got(child, "a namespace"),
    }
}

pub(super) fn clone3() -> io::Result<String> {
    let mut arguments = [0_u64; 11];
    arguments[0] = libc::CLONE_NEWUSER as u64;
    arguments[4] = libc::SIGCHLD as u64;
    // SAFETY: as above; the arguments are as long as they say.
    match unsafe {
        libc::syscall(
            libc::SYS_clone3,
            arguments.as_ptr(),
            size_of_val(&arguments),
        )
    } {
        // SAFETY: ends the child at once.
        0 => unsafe { libc::_exit(0) },
        child => got(child, "a namespace"),
    }
}

pub(super) fn mount() -> io::Result<String> {
    let (kind, at) = (c"tmpfs".as_ptr(), c"/tmp".as_ptr());
    // SAFETY: C strings.
    got(
        unsafe { libc::mount(kind, at, kind, 0, std::ptr::null()) },
        "mounted",
    )
}

pub(super) fn keyring() -> io::Result<String> {
    const SESSION: i32 = -3;
    // SAFETY: takes numbers only: the id of the session's ring.
    got(
        unsafe { libc::syscall(libc::SYS_keyctl, 0, SESSION, 1) },
        "a ring",
    )
}

pub(super) fn bpf() -> io::Result<String> {
    let mut attributes = [0_u32; 32];
    attributes[..4].copy_from_slice(&[2, 4, 4, 1]);
    // SAFETY: the attributes are as long as they say.
    let map = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            0,
            attributes.as_mut_ptr(),
            size_of_val(&attributes),
        )
    };
    got(map, "a map")
}

pub(super) fn perf() -> io::Result<String> {
    let mut attributes = [0_u32; 32];
    attributes[..2].copy_from_slice(&[1, 128]);
    // SAFETY: the attributes say how long they are.
    let event = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attributes.as_mut_ptr(),
            0,
            -1,
            -1,
            0,
        )
    };
    got(event, "an event")
}

pub(super) fn userfaultfd() -> io::Result<String> {
    const USER_MODE_ONLY: i32 = 1;
    // SAFETY: takes numbers only.
    got(
        unsafe { libc::syscall(libc::SYS_userfaultfd, USER_MODE_ONLY) },
        "a descriptor",
    )
}

pub(super) fn shared_memory() -> io::Result<String> {
    // SAFETY: take numbers only; what is made is removed.
    let made = unsafe { libc::shmget(0x5157, 4096, libc::IPC_CREAT | 0o600) };
    if made != -1 {
        // SAFETY: as above.
        unsafe { libc::shmctl(made, libc::IPC_RMID, std::ptr::null_mut()) };
    }
    got(made, "memory")
}

pub(super) fn new_privileges() -> io::Result<String> {
    // SAFETY: takes numbers only.
    match unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) } {
        1 => Err(io::Error::other("programs give no rights")),
        _ => Ok("programs may give rights".to_owned()),
    }
}
