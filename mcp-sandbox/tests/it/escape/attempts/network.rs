//! Sockets of every kind.

use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};

use super::super::c;
use super::{got, variable, world};

pub(super) fn tcp() -> io::Result<String> {
    let port: u16 = variable("TCP").parse().unwrap();
    TcpStream::connect(("127.0.0.1", port)).map(|_| "connected".to_owned())
}

pub(super) fn udp() -> io::Result<String> {
    let port: u16 = variable("UDP").parse().unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket
        .send_to(b"secret", ("127.0.0.1", port))
        .map(|_| "sent".to_owned())
}

fn socket(domain: i32, kind: i32, protocol: i32) -> io::Result<String> {
    // SAFETY: takes numbers only.
    got(unsafe { libc::socket(domain, kind, protocol) }, "a socket")
}

pub(super) fn raw() -> io::Result<String> {
    socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)
}

pub(super) fn netlink() -> io::Result<String> {
    socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)
}

pub(super) fn vsock() -> io::Result<String> {
    socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)
}

pub(super) fn unix() -> io::Result<String> {
    UnixStream::connect(world().join("world/socket")).map(|_| "connected".to_owned())
}

pub(super) fn abstract_unix() -> io::Result<String> {
    let address = SocketAddr::from_abstract_name(variable("ABSTRACT"))?;
    UnixStream::connect_addr(&address).map(|_| "connected".to_owned())
}

pub(super) fn datagram_pair() -> io::Result<String> {
    send_by_pair(libc::SOCK_DGRAM)
}

/// The kernel makes a pair of datagram sockets of this.
pub(super) fn raw_pair() -> io::Result<String> {
    send_by_pair(libc::SOCK_RAW)
}

/// A connected pair of datagram sockets still sends to any address.
fn send_by_pair(kind: i32) -> io::Result<String> {
    let path = c(&world().join("world/datagrams"));
    let mut pair = [0; 2];
    // SAFETY: all zeroes is a valid address; the path fits; lengths are those of what they are for.
    unsafe {
        let made = libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr());
        got(made, "a pair")?;
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        for (to, from) in address.sun_path.iter_mut().zip(path.to_bytes()) {
            *to = *from as libc::c_char;
        }
        let length = size_of_val(&address) as libc::socklen_t;
        let to = (&raw const address).cast();
        let sent = libc::sendto(pair[0], c"secret".as_ptr().cast(), 6, 0, to, length);
        got(sent as i64, "sent")
    }
}
