//! Signals, groups and the parent-death signal.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use super::super::Stop;
#[cfg(target_os = "linux")]
use super::super::identity::linux;

/// A process group whose id is that of the child that leads it.
#[derive(Debug)]
pub(in crate::process) struct Group(u32);

impl Group {
    pub(in crate::process) fn of(child: &Child) -> io::Result<Self> {
        Ok(Self(child.id()))
    }

    /// A group known by its id alone.
    #[cfg(not(target_os = "linux"))]
    pub(in crate::process) fn with_id(id: u32) -> Self {
        Self(id)
    }

    /// Whether no process of it is left. To be called only once its leader has been reaped.
    pub(in crate::process) fn is_empty(&self) -> bool {
        if !kill(self.0, SignalTarget::Group, 0) {
            return true;
        }
        // The kernel counts unreaped zombies, we do not; and a process with the leader's id is a stranger's, because a
        // live group keeps its id.
        #[cfg(target_os = "linux")]
        if let Some(members) = linux::members(self.0) {
            return members.is_empty() || linux::stat(self.0).is_some();
        }
        false
    }

    pub(in crate::process) fn signal(&self, how: Stop) {
        kill(self.0, SignalTarget::Group, number(how));
    }
}

/// Puts the child into its own process group and, on Linux, has the kernel kill it when the thread that starts it ends
/// in any way.
///
/// The thread, not the process: the calling thread must live until the child has ended.
pub(in crate::process) fn prepare(command: &mut Command) {
    command.process_group(0);
    #[cfg(target_os = "linux")]
    {
        let host = std::process::id();
        // SAFETY: between fork and exec only what is safe in a signal handler is allowed. The
        // closure makes two system calls, and neither allocates nor locks.
        unsafe { command.pre_exec(move || die_with_parent(host)) };
    }
}

/// Puts the child into its own session, without a terminal that it could prompt on or be stopped by.
pub(in crate::process) fn prepare_without_terminal(command: &mut Command) {
    let detach = || {
        // SAFETY: takes nothing.
        match unsafe { libc::setsid() } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: one system call, which neither allocates nor locks.
    unsafe { command.pre_exec(detach) };
}

#[cfg(target_os = "linux")]
fn die_with_parent(host: u32) -> io::Result<()> {
    // SAFETY: takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // The host may have died before the signal was armed.
    // SAFETY: takes nothing.
    let parent = unsafe { libc::getppid() };
    if u32::try_from(parent) == Ok(host) {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ESRCH))
    }
}

/// Waits until a child has ended, and leaves it unreaped: until then its id is not reused.
pub(in crate::process) fn wait_unreaped(child: &Child) -> io::Result<()> {
    loop {
        // SAFETY: `info` is a valid place to write to for the length of the call, and all zeroes
        // is a valid `siginfo_t`.
        let done = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(
                libc::P_PID,
                child.id(),
                &raw mut info,
                libc::WEXITED | libc::WNOWAIT,
            )
        };
        if done == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Makes this process the subreaper of its descendants, or stops that.
#[cfg(target_os = "linux")]
pub(in crate::process) fn set_subreaper(on: bool) -> io::Result<()> {
    let on = libc::c_ulong::from(on);
    // SAFETY: takes numbers only.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, on, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Frees the id of a child that has ended.
#[cfg(target_os = "linux")]
pub(in crate::process) fn reap(pid: u32) {
    if let Ok(pid @ 2..) = libc::pid_t::try_from(pid) {
        // SAFETY: takes numbers, and a null pointer where the status is not wanted.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) };
    }
}

/// The number of bytes in a pipe that no longer has a reader; `None` while it has one. Only Linux reports it.
pub(crate) fn stranded_bytes(pipe: &impl AsFd) -> Option<usize> {
    let pipe = pipe.as_fd().as_raw_fd();
    let mut ask = libc::pollfd {
        fd: pipe,
        events: 0,
        revents: 0,
    };
    // SAFETY: one live `pollfd`, as the count says, and no waiting.
    let reported = unsafe { libc::poll(&raw mut ask, 1, 0) };
    let has_no_reader = reported == 1 && ask.revents & libc::POLLERR != 0;
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open, and this request writes one `int` to where it points.
    let known = cfg!(target_os = "linux")
        && has_no_reader
        && unsafe { libc::ioctl(pipe, libc::FIONREAD, &raw mut bytes) } == 0;
    usize::try_from(bytes).ok().filter(|_| known)
}

/// Has the C library call `hook` when the process exits normally.
pub(in crate::process) fn at_exit(hook: extern "C" fn()) {
    // SAFETY: `hook` is a plain function without state. A failure (no memory) is of no concern:
    // nothing depends on the hook but tidiness.
    unsafe {
        libc::atexit(hook);
    }
}

/// Signals one process if `is_it` holds once its id can no longer pass to another.
#[cfg(target_os = "linux")]
pub(in crate::process) fn signal_process_if(
    pid: u32,
    how: Stop,
    is_it: impl FnOnce() -> bool,
) -> bool {
    use std::os::fd::{FromRawFd, OwnedFd};

    // SAFETY: takes numbers only.
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Ok(handle @ 0..) = i32::try_from(handle) else {
        // Before Linux 5.3 the id may pass on in these microseconds; nothing better exists there.
        let unsupported = io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS);
        return unsupported && is_it() && kill(pid, SignalTarget::Process, number(how));
    };
    // SAFETY: the kernel has just made this descriptor for us.
    let handle = unsafe { OwnedFd::from_raw_fd(handle) };
    if !is_it() {
        return false;
    }
    let plain = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: the descriptor is open, and a null `siginfo_t` is allowed: it means a plain signal.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            handle.as_raw_fd(),
            number(how),
            plain,
            0,
        )
    };
    sent == 0
}

enum SignalTarget {
    Group,
    #[cfg(target_os = "linux")]
    Process,
}

fn number(how: Stop) -> libc::c_int {
    match how {
        Stop::Terminate => libc::SIGTERM,
        Stop::Kill => libc::SIGKILL,
    }
}

/// `false` if there is no process that may be signalled. Ids below 2, which would address all processes, are rejected.
fn kill(id: u32, whom: SignalTarget, signal: libc::c_int) -> bool {
    let Ok(id @ 2..) = libc::pid_t::try_from(id) else {
        return false;
    };
    let target = match whom {
        SignalTarget::Group => -id,
        #[cfg(target_os = "linux")]
        SignalTarget::Process => id,
    };
    // SAFETY: takes numbers only.
    unsafe { libc::kill(target, signal) == 0 }
}
