//! Which hosts are this machine.

use std::net::{IpAddr, Ipv6Addr};

/// Whether the host of a URL or of a `Host` header, without a port, is this machine: a loopback address, `localhost` or a
/// name below it (RFC 6761). The brackets of an IPv6 address may be there.
pub fn is_loopback_host(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let address = match bare {
        Some(bare) => bare.parse::<Ipv6Addr>().map(IpAddr::V6),
        None => host.parse::<IpAddr>(),
    };
    if let Ok(address) = address {
        return address.to_canonical().is_loopback();
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let below = name.strip_suffix("localhost");
    below.is_some_and(|below| below.is_empty() || (below.len() > 1 && below.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_and_names_below_localhost_are_this_machine() {
        for host in [
            "localhost",
            "LOCALHOST",
            "localhost.",
            "app.localhost",
            "127.0.0.1",
            "127.0.0.2",
            "::1",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in [
            "",
            "localhost.evil.example",
            "evil-localhost",
            ".localhost",
            "127.0.0.1.evil.example",
            "[127.0.0.1]",
            "128.0.0.1",
            "0.0.0.0",
            "[::]",
            "[::ffff:128.0.0.1]",
        ] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
