//! The steps of a child between fork and exec.

use std::ffi::CStr;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use seccompiler::{BpfProgram, sock_filter};

use super::checked;

/// Everything that a child needs to contain itself.
#[derive(Debug)]
pub(crate) struct Confinement {
    pub(crate) ruleset: Option<OwnedFd>,
    /// Whether the kernel's audit log gets denials.
    pub(crate) logs_denials: bool,
    pub(crate) filters: [BpfProgram; 2],
    /// Whether the host decides on each connection.
    pub(crate) guards_connects: bool,
    /// Resources and their limits.
    pub(crate) limits: Vec<(u32, u64)>,
    /// Where the child says which step failed, and sends its listener.
    pub(crate) report: OwnedFd,
}

/// The steps, as the child reports the one that failed.
const STEPS: [&str; 6] = [
    "setting its limits",
    "dropping its capabilities",
    "renouncing new privileges",
    "restricting its files",
    "closing what it would inherit",
    "filtering its system calls",
];

/// What a program reads of itself; of other processes it may read nothing.
const OWN_PROC: [&CStr; 11] = [
    c"/proc/self/auxv",
    c"/proc/self/cgroup",
    c"/proc/self/cmdline",
    c"/proc/self/comm",
    c"/proc/self/fd",
    c"/proc/self/limits",
    c"/proc/self/maps",
    c"/proc/self/mountinfo",
    c"/proc/self/stat",
    c"/proc/self/statm",
    c"/proc/self/status",
];

const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const PATH_BENEATH: u32 = 1;
const LOG_NEW_EXEC_ON: u32 = 1 << 1;
const NEW_LISTENER: libc::c_ulong = 1 << 3;
const USER_NOTIFICATION: u32 = 0x7fc0_0000;
const ALLOW: u32 = 0x7fff_0000;

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// Has the child of this command contain itself before it becomes the program.
pub(crate) fn confine_child(command: &mut Command, confinement: Confinement) {
    let confine = move || {
        for step in 0..STEPS.len() {
            if let Err(error) = confinement.take(step) {
                confinement.say(step);
                return Err(error);
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only what is safe in a signal handler is allowed. The closure
    // makes system calls on what was prepared, and neither allocates, frees nor locks.
    unsafe { command.pre_exec(confine) };
}

impl Confinement {
    fn take(&self, step: usize) -> io::Result<()> {
        match step {
            0 => self.set_limits(),
            1 => drop_capabilities(),
            2 => forgo_privileges(),
            3 => self.restrict_files(),
            // Marked to be closed by exec, and not closed: std reports a failed exec by one of them.
            4 => close_on_exec(),
            _ => self.filter_calls(),
        }
    }

    fn say(&self, step: usize) {
        let number = u8::try_from(step).unwrap_or(u8::MAX);
        // SAFETY: one byte of a live value.
        unsafe { libc::write(self.report.as_raw_fd(), (&raw const number).cast(), 1) };
    }

    fn set_limits(&self) -> io::Result<()> {
        for (resource, limit) in &self.limits {
            // SAFETY: both places are live, and the pid 0 is this process.
            unsafe {
                let mut now: libc::rlimit = std::mem::zeroed();
                checked(libc::getrlimit(*resource as _, &raw mut now).into())?;
                let limit = libc::rlim_t::min(*limit as _, now.rlim_max);
                let new = libc::rlimit {
                    rlim_cur: limit,
                    rlim_max: limit,
                };
                checked(libc::setrlimit(*resource as _, &raw const new).into())?;
            }
        }
        Ok(())
    }

    fn restrict_files(&self) -> io::Result<()> {
        let Some(ruleset) = self.ruleset.as_ref().map(AsRawFd::as_raw_fd) else {
            return Ok(());
        };
        for path in OWN_PROC {
            // SAFETY: the path is a C string; the descriptor is closed once the rule is made.
            unsafe {
                let file = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
                if file < 0 {
                    continue;
                }
                let is_folder = path.to_bytes().ends_with(b"/fd");
                let rule = PathBeneath {
                    allowed_access: READ_FILE | if is_folder { READ_DIR } else { 0 },
                    parent_fd: file,
                };
                let add = libc::SYS_landlock_add_rule;
                let added = libc::syscall(add, ruleset, PATH_BENEATH, &raw const rule, 0_u32);
                libc::close(file);
                checked(added)?;
            }
        }
        let flags = if self.logs_denials {
            LOG_NEW_EXEC_ON
        } else {
            0
        };
        // SAFETY: takes numbers only; the ruleset is open.
        checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, flags) })?;
        Ok(())
    }

    fn filter_calls(&self) -> io::Result<()> {
        for filter in &self.filters {
            install(filter, 0)?;
        }
        if self.guards_connects {
            let filter = ask_for_connects();
            let listener = install(&filter, NEW_LISTENER)?;
            send(self.report.as_raw_fd(), listener as RawFd)?;
        }
        Ok(())
    }
}

/// `connect` asks the listener; the architecture was checked by the filters before.
fn ask_for_connects() -> [sock_filter; 4] {
    let line = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    [
        line(0x20, 0, 0, 0),
        line(0x15, 0, 1, libc::SYS_connect as u32),
        line(0x06, 0, 0, USER_NOTIFICATION),
        line(0x06, 0, 0, ALLOW),
    ]
}

fn install(filter: &[sock_filter], flags: libc::c_ulong) -> io::Result<libc::c_long> {
    if filter.is_empty() {
        return Ok(0);
    }
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).unwrap_or(u16::MAX),
        // Both types are the kernel's `struct sock_filter`; it does not write there.
        filter: filter.as_ptr().cast_mut().cast(),
    };
    let set = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: the program points to as many live instructions as it says.
    checked(unsafe { libc::syscall(libc::SYS_seccomp, set, flags, &raw const program) })
}

/// Sends a descriptor with one byte.
fn send(socket: RawFd, descriptor: RawFd) -> io::Result<()> {
    const SPACE: usize = 32;
    #[repr(C, align(8))]
    struct Control([u8; SPACE]);
    let mut byte = u8::MAX;
    let mut control = Control([0; SPACE]);
    // SAFETY: every pointer is to a live local; the control buffer is aligned and large enough for
    // one header with one descriptor, which the `CMSG_*` functions only compute places in.
    unsafe {
        let mut part = libc::iovec {
            iov_base: (&raw mut byte).cast(),
            iov_len: 1,
        };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        std::ptr::write_unaligned(libc::CMSG_DATA(header).cast(), descriptor);
        checked(libc::sendmsg(socket, &raw const message, 0) as _)?;
    }
    Ok(())
}

/// Drops all capabilities: of a process that has none, nothing changes.
fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    let header = Header {
        version: 0x2008_0522,
        pid: 0,
    };
    let none = [[0_u32; 3]; 2];
    // SAFETY: both are live and laid out as this version of the call wants them.
    let dropped = unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) };
    checked(dropped).map(|_| ())
}

/// No program that it runs gets more rights than it has: `sudo` and the like do nothing.
fn forgo_privileges() -> io::Result<()> {
    // SAFETY: takes numbers only.
    checked(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into()).map(|_| ())
}

fn close_on_exec() -> io::Result<()> {
    // SAFETY: takes numbers only, and closes nothing yet.
    let flags = libc::CLOSE_RANGE_CLOEXEC;
    checked(unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, flags) }).map(|_| ())
}

/// The host's end of a child's report.
#[derive(Debug)]
pub(crate) struct Report(UnixStream);

impl Report {
    /// Both ends: ours, and the child's.
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Self(ours), theirs.into()))
    }

    /// The step that failed, if one did. To be asked once the child's end is closed.
    pub(crate) fn failed_step(mut self) -> Option<&'static str> {
        let mut byte = [0];
        self.0.set_nonblocking(true).ok()?;
        self.0.read_exact(&mut byte).ok()?;
        STEPS.get(usize::from(byte[0])).copied()
    }

    /// The listener that the child has sent.
    pub(crate) fn listener(self) -> io::Result<OwnedFd> {
        const SPACE: usize = 32;
        #[repr(C, align(8))]
        struct Control([u8; SPACE]);
        let mut byte = 0_u8;
        let mut control = Control([0; SPACE]);
        // SAFETY: as in `send`; what arrives is checked before it is taken for a descriptor, which
        // the kernel has then opened for this process.
        unsafe {
            let mut part = libc::iovec {
                iov_base: (&raw mut byte).cast(),
                iov_len: 1,
            };
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            message.msg_control = control.0.as_mut_ptr().cast();
            message.msg_controllen = SPACE as _;
            let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
            checked(libc::recvmsg(self.0.as_raw_fd(), &raw mut message, flags) as _)?;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
                return Err(io::Error::other("the child sent no listener"));
            }
            let number: RawFd = std::ptr::read_unaligned(libc::CMSG_DATA(header).cast());
            Ok(OwnedFd::from_raw_fd(number))
        }
    }
}
