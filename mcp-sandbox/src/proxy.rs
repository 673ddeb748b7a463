//! The proxy through which a contained server reaches the hosts of its profile, and no others.

mod head;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::denial::{Denials, Wanted};
use crate::profile::HostRule;
use head::{Head, Way};

const MAX_CONNECTIONS: usize = 128;
const MAX_HEAD: usize = 32 * 1024;
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A proxy on this machine for one server. Dropping it ends it and its connections.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn start(rules: Vec<HostRule>, denials: Arc<Denials>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let task = tokio::spawn(serve(listener, rules.into(), denials));
        Ok(Self { port, task })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, rules: Arc<[HostRule]>, denials: Arc<Denials>) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return;
        };
        let Ok((client, _)) = listener.accept().await else {
            // Out of descriptors, most likely: others may become free.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (rules, denials) = (Arc::clone(&rules), Arc::clone(&denials));
        connections.spawn(async move {
            let _slot = slot;
            let _ = relay(client, &rules, &denials).await;
        });
    }
}

async fn relay(mut client: TcpStream, rules: &[HostRule], denials: &Denials) -> io::Result<()> {
    let read = timeout(HEAD_TIMEOUT, read_head(&mut client)).await;
    let Ok(Ok((head, rest))) = read else {
        return refuse(&mut client, "400 Bad Request", "not a proxy request").await;
    };
    let name = head.authority();
    let Some(rule) = rules.iter().find(|rule| rule.covers(&head.host, head.port)) else {
        denials.add(Wanted::Connect(name.clone()));
        let text = format!("the sandbox's profile does not list {name}");
        return refuse(&mut client, "403 Forbidden", &text).await;
    };
    let connected = timeout(CONNECT_TIMEOUT, connect(&head, rule)).await;
    let mut server = match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
        Ok(server) => server,
        Err(error) => {
            if error.kind() == io::ErrorKind::PermissionDenied {
                denials.add(Wanted::Connect(name.clone()));
            }
            let text = format!("connecting to {name}: {error}");
            return refuse(&mut client, "502 Bad Gateway", &text).await;
        }
    };
    match &head.way {
        Way::Tunnel => client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?,
        Way::Forward(request) => server.write_all(request.as_bytes()).await?,
    }
    server.write_all(&rest).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

async fn refuse(client: &mut TcpStream, status: &str, text: &str) -> io::Result<()> {
    let length = text.len() + 1;
    let head = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n";
    let reply = format!("HTTP/1.1 {status}\r\n{head}Content-Length: {length}\r\n\r\n{text}\n");
    client.write_all(reply.as_bytes()).await?;
    client.shutdown().await
}

/// Reads a request's head, and what came behind it.
async fn read_head(client: &mut TcpStream) -> io::Result<(Head, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        let read = client.read_buf(&mut bytes).await?;
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            let head = std::str::from_utf8(&bytes).ok().and_then(Head::parse);
            let head = head.ok_or(io::ErrorKind::InvalidData)?;
            return Ok((head, rest));
        }
        if read == 0 || bytes.len() > MAX_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

/// Connects to one of the host's addresses that its rule allows.
async fn connect(head: &Head, rule: &HostRule) -> io::Result<TcpStream> {
    let found = lookup_host((head.host.as_str(), head.port)).await?;
    let allowed: Vec<SocketAddr> = found
        .filter(|address| rule.names_address() || is_public(address.ip()))
        .collect();
    if allowed.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "its address is of this machine or of a private network; list the address itself to \
             allow it",
        ));
    }
    TcpStream::connect(allowed.as_slice()).await
}

/// Whether an address is neither of this machine nor of a private or special network.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            let is_benchmark = a == 198 && (b == 18 || b == 19);
            let is_protocol = a == 192 && b == 0 && c == 0;
            !(ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || ip.is_broadcast()
                || ip.is_multicast()
                || a == 0
                || a >= 240
                || is_shared
                || is_benchmark
                || is_protocol)
        }
        IpAddr::V6(ip) => match (ip.to_ipv4_mapped(), embedded(ip)) {
            (Some(ip), _) => is_public(ip.into()),
            (None, Some(inside)) => is_public(inside.into()),
            (None, None) => {
                let [first, second, third, ..] = ip.segments();
                // NAT64 of a local network, and tunnels that hide where they end.
                let is_local_nat = (first, second, third) == (0x64, 0xff9b, 1);
                let is_teredo = (first, second) == (0x2001, 0);
                let is_site_local = (first & 0xffc0) == 0xfec0;
                let is_compatible = matches!(ip.segments(), [0, 0, 0, 0, 0, 0, ..]);
                !(ip.is_loopback()
                    || ip.is_unspecified()
                    || ip.is_multicast()
                    || ip.is_unique_local()
                    || ip.is_unicast_link_local()
                    || is_local_nat
                    || is_teredo
                    || is_site_local
                    || is_compatible)
            }
        },
    }
}

/// The IPv4 address that a router makes of an address: NAT64 and 6to4.
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let four = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match ip.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(four(high, low)),
        [0x2002, high, low, ..] => Some(four(high, low)),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_leads_to_a_private_network_by_a_detour_is_not_public() {
        for private in [
            "10.0.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "198.18.0.1",
            "198.19.255.255",
            "192.0.0.8",
            "100.64.0.1",
            "::1",
            "::127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::808:808",
            "2002:a00:1::1",
            "2002:a9fe:a9fe::1",
            "2001:0:1::1",
            "fec0::1",
            "fd00::1",
            "fe80::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "93.184.216.34",
            "198.20.0.1",
            "192.0.1.1",
            "2606:4700::1111",
            "64:ff9b::808:808",
            "2002:808:808::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
