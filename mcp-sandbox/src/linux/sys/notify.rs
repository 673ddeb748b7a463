//! The kernel's notifications about a child's `connect` calls, and the responses.
//!
//! The response is never "continue": the child could change the address meanwhile. The host reads the address once, and
//! connects the child's own socket to its copy.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};

use super::{checked, descriptor};

const RECV: u64 = 0xc050_2100;
const SEND: u64 = 0xc018_2101;
const ID_VALID: u64 = 0x4008_2102;

/// `struct seccomp_notif`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Notification {
    id: u64,
    pid: u32,
    flags: u32,
    number: i32,
    arch: u32,
    instruction_pointer: u64,
    args: [u64; 6],
}

/// `struct seccomp_notif_resp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// The host's end of the questions.
#[derive(Debug)]
pub(in crate::linux) struct Listener(pub(in crate::linux) OwnedFd);

/// A child wants to connect one of its sockets.
#[derive(Debug)]
pub(in crate::linux) struct Request {
    id: u64,
    /// The thread that asks.
    pub(in crate::linux) thread: u32,
    /// Its descriptor of the socket.
    socket: i32,
    /// Where the address is in its memory, and how long it is.
    pub(in crate::linux) address: u64,
    pub(in crate::linux) length: usize,
}

impl Listener {
    /// The next question; `None` once no process is left that could ask.
    pub(in crate::linux) fn next(&self) -> io::Result<Option<Request>> {
        let mut poll = libc::pollfd {
            fd: self.0.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one live `pollfd`, as the count says.
        checked(unsafe { libc::poll(&raw mut poll, 1, -1) }.into())?;
        if poll.revents & libc::POLLIN == 0 {
            return Ok(None);
        }
        // SAFETY: all zeroes is a valid notification, which the kernel wants it to be.
        let mut asked: Notification = unsafe { std::mem::zeroed() };
        // SAFETY: the request writes one notification to where it points.
        checked(unsafe { libc::ioctl(self.0.as_raw_fd(), RECV as _, &raw mut asked) }.into())?;
        let [socket, address, length, ..] = asked.args;
        Ok(Some(Request {
            id: asked.id,
            thread: asked.pid,
            socket: socket as i32,
            address,
            length: usize::try_from(length & 0xffff_ffff).unwrap_or(usize::MAX),
        }))
    }

    /// Whether the thread that asked still waits, so that its id is still its own.
    pub(in crate::linux) fn is_waiting(&self, request: &Request) -> bool {
        let id = request.id;
        // SAFETY: the request reads one number from where it points.
        unsafe { libc::ioctl(self.0.as_raw_fd(), ID_VALID as _, &raw const id) == 0 }
    }

    /// Answers: 0, or the number of an error.
    pub(in crate::linux) fn answer(&self, request: &Request, error: i32) {
        let answer = Answer {
            id: request.id,
            value: 0,
            error: -error,
            flags: 0,
        };
        // SAFETY: the request reads one answer from where it points. If the child is gone, it fails.
        unsafe { libc::ioctl(self.0.as_raw_fd(), SEND as _, &raw const answer) };
    }
}

impl Listener {
    /// Connects the socket of a child that asks to an address of this machine. `process` is its process.
    pub(in crate::linux) fn connect(
        &self,
        request: &Request,
        process: u32,
        to: SocketAddrV4,
    ) -> io::Result<()> {
        // SAFETY: both take numbers only and return new descriptors.
        let socket = unsafe {
            let process = descriptor(libc::syscall(libc::SYS_pidfd_open, process, 0_u32))?;
            let (process, number) = (process.as_raw_fd(), request.socket);
            descriptor(libc::syscall(libc::SYS_pidfd_getfd, process, number, 0_u32))?
        };
        // Only now is it certain that the process was the one that asked, and not another by its number.
        if !self.is_waiting(request) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        let mut domain: libc::c_int = 0;
        let mut length = size_of_val(&domain) as libc::socklen_t;
        // SAFETY: writes one `int` to where it points; the length is its size.
        checked(
            unsafe {
                libc::getsockopt(
                    socket.as_raw_fd(),
                    libc::SOL_SOCKET,
                    libc::SO_DOMAIN,
                    (&raw mut domain).cast(),
                    &raw mut length,
                )
            }
            .into(),
        )?;
        if domain == libc::AF_INET6 {
            return connect_v6(&socket, to);
        }
        let address = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: to.port().to_be(),
            sin_addr: libc::in_addr {
                s_addr: u32::from(*to.ip()).to_be(),
            },
            sin_zero: [0; 8],
        };
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address is live and as long as the length says.
        let connected =
            unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
        checked(connected.into()).map(|_| ())
    }
}

/// An IPv6 socket reaches an IPv4 address by its mapped form.
fn connect_v6(socket: &OwnedFd, to: SocketAddrV4) -> io::Result<()> {
    let mapped: Ipv4Addr = *to.ip();
    let address = libc::sockaddr_in6 {
        sin6_family: libc::AF_INET6 as libc::sa_family_t,
        sin6_port: to.port().to_be(),
        sin6_flowinfo: 0,
        sin6_addr: libc::in6_addr {
            s6_addr: mapped.to_ipv6_mapped().octets(),
        },
        sin6_scope_id: 0,
    };
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is live and as long as the length says.
    let connected =
        unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
    checked(connected.into()).map(|_| ())
}
