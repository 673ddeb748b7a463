//! The connections of a server that may connect to its proxy alone.
//!
//! Landlock knows ports, not addresses: a server could connect to the proxy's port on any other machine. Therefore the
//! kernel asks this thread about each `connect`.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread;

use super::sys::{Listener, Request};
use crate::denial::{Denials, Wanted};

/// The longest address of the internet families.
const MAX_ADDRESS: usize = 28;

/// Starts a thread that lets the server connect to this port of this machine and refuses the rest,
/// until the server and all that it has started are gone.
pub(super) fn guard(listener: OwnedFd, proxy: u16, denials: Arc<Denials>) -> io::Result<()> {
    let listener = Listener(listener);
    let guard = move || {
        while let Ok(Some(request)) = next(&listener) {
            let error = answer(&listener, &request, proxy, &denials);
            listener.answer(&request, error);
        }
    };
    let thread = thread::Builder::new().name("mcp-connects".to_owned());
    thread.spawn(guard).map(|_| ())
}

/// The next question. One that was withdrawn, or a signal, ends nothing.
fn next(listener: &Listener) -> io::Result<Option<Request>> {
    loop {
        match listener.next() {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::ENOENT)) => {}
            other => return other,
        }
    }
}

/// The number of the error to answer with; 0 if the socket is connected.
fn answer(listener: &Listener, request: &Request, proxy: u16, denials: &Denials) -> i32 {
    let address = read_address(listener, request);
    let process = process_of(request.thread);
    let (Ok(address), Some(process)) = (address, process) else {
        return libc::EFAULT;
    };
    let allowed = SocketAddrV4::new(Ipv4Addr::LOCALHOST, proxy);
    match address {
        Some(SocketAddr::V4(wanted)) if wanted == allowed => {
            match listener.connect(request, process, allowed) {
                Ok(()) => 0,
                Err(error) => error.raw_os_error().unwrap_or(libc::ECONNREFUSED),
            }
        }
        Some(wanted) => {
            denials.add(Wanted::Connect(wanted.to_string()));
            libc::EACCES
        }
        None => libc::EACCES,
    }
}

/// Where the child wants to connect to; `None` if that is no internet address.
fn read_address(listener: &Listener, request: &Request) -> io::Result<Option<SocketAddr>> {
    let mut bytes = [0_u8; MAX_ADDRESS];
    let length = request.length.min(MAX_ADDRESS);
    let memory = File::open(format!("/proc/{}/mem", request.thread))?;
    let into = bytes.get_mut(..length).unwrap_or_default();
    memory.read_exact_at(into, request.address)?;
    // Only now is it certain that this was the memory of the thread that asked.
    if !listener.is_waiting(request) {
        return Err(io::Error::from(io::ErrorKind::NotFound));
    }
    Ok(parse(bytes.get(..length).unwrap_or_default()))
}

/// A `sockaddr_in` or `sockaddr_in6`; a mapped IPv4 address as what it is.
fn parse(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    match i32::from(family) {
        libc::AF_INET => {
            let ip: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some((Ipv4Addr::from(ip), port).into())
        }
        libc::AF_INET6 => {
            let ip: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            let ip = Ipv6Addr::from(ip);
            Some(match ip.to_ipv4_mapped() {
                Some(ip) => (ip, port).into(),
                None => (ip, port).into(),
            })
        }
        _ => None,
    }
}

/// The process that a thread belongs to.
fn process_of(thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}
