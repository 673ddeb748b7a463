//! Classification of IP addresses, for the defence against server-side request forgery.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of an address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reach {
    /// Public: safe to contact when an untrusted server names it.
    Public,
    /// This machine.
    Loopback,
    /// A private network or service, or unassigned.
    Internal,
}

/// Classifies an address. IPv6 addresses that embed an IPv4 address are classified by it.
pub(crate) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(v4) => reach_v4(v4),
        IpAddr::V6(v6) => reach_v6(v6),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    if address.is_loopback() {
        return Reach::Loopback;
    }
    let internal = match address.octets() {
        [0 | 10, ..] => true,                       // this network, private
        [100, b, ..] => (64..128).contains(&b),     // carrier-grade NAT, cloud metadata
        [169, 254, ..] => true,                     // link-local, cloud metadata
        [168, 63, 129, 16] => true, // a cloud's internal service on a public address
        [172, b, ..] => (16..32).contains(&b), // private
        [192, 0, 0, _] => true,     // protocol assignments, cloud metadata
        [192, 0, 2, _] => true,     // documentation
        [192, 88, 99, _] => true,   // 6to4 relays
        [192, 168, ..] => true,     // private
        [198, b, ..] if b == 18 || b == 19 => true, // benchmarks
        [198, 51, 100, _] => true,  // documentation
        [203, 0, 113, _] => true,   // documentation
        [a, ..] => a >= 224,        // multicast, reserved, broadcast
    };
    if internal {
        Reach::Internal
    } else {
        Reach::Public
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    if address.is_loopback() {
        return Reach::Loopback;
    }
    let [a, b, c, d, e, f, high, low] = address.segments();
    let wrapped = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        reach_v4(Ipv4Addr::new(a, b, c, d))
    };
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] => wrapped(high, low), // mapped
        [0x64, 0xff9b, 0, 0, 0, 0] => wrapped(high, low),                        // NAT64
        [0x2002, ..] => wrapped(b, c),                                           // 6to4
        [0x2001, b, ..] if b < 0x200 || b == 0xdb8 => Reach::Internal, // Teredo, ORCHID, examples
        [0x3fff, b, ..] if b < 0x1000 => Reach::Internal,              // examples
        [a, ..] if a & 0xe000 == 0x2000 => Reach::Public,
        _ => Reach::Internal, // unspecified, unique local, link-local, multicast, unassigned
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(addresses: &[&str], want: Reach) {
        for address in addresses {
            assert_eq!(reach(address.parse().unwrap()), want, "{address}");
        }
    }

    #[test]
    fn internal_addresses_are_known_in_every_disguise() {
        check(
            &[
                "0.0.0.0",
                "10.1.2.3",
                "100.64.0.1",
                "100.100.100.200",
                "169.254.169.254",
                "168.63.129.16",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.192",
                "192.168.1.1",
                "198.18.0.1",
                "224.0.0.1",
                "255.255.255.255",
                "::",
                "fe80::1",
                "fc00::1",
                "fd00:ec2::254",
                "ff02::1",
                "::ffff:10.0.0.1",
                "::ffff:169.254.169.254",
                "64:ff9b::a9fe:a9fe",
                "64:ff9b:1::1",
                "2002:a9fe:a9fe::1",
                "2001:db8::1",
                "2001::1",
                "::10.0.0.1",
                "fec0::1",
                "100::1",
            ],
            Reach::Internal,
        );
        check(
            &[
                "127.0.0.1",
                "127.9.9.9",
                "::1",
                "::ffff:127.0.0.1",
                "64:ff9b::7f00:1",
            ],
            Reach::Loopback,
        );
    }

    #[test]
    fn public_addresses_pass() {
        check(
            &[
                "1.1.1.1",
                "100.63.0.1",
                "100.128.0.1",
                "172.15.0.1",
                "172.32.0.1",
                "192.0.1.1",
                "198.20.0.1",
                "2606:4700::1111",
                "2a00:1450::1",
                "2001:4860::8888",
                "::ffff:8.8.8.8",
            ],
            Reach::Public,
        );
    }

    proptest! {
        #[test]
        fn wrapping_an_address_does_not_change_its_reach(v4 in any::<[u8; 4]>()) {
            let v4 = Ipv4Addr::from(v4);
            prop_assert_eq!(reach(v4.to_ipv6_mapped().into()), reach(v4.into()));
        }

        #[test]
        fn what_std_calls_private_is_never_public(v4 in any::<[u8; 4]>()) {
            let v4 = Ipv4Addr::from(v4);
            let std = v4.is_private() || v4.is_link_local() || v4.is_loopback()
                || v4.is_unspecified() || v4.is_multicast() || v4.is_broadcast() || v4.is_documentation();
            prop_assert!(!std || reach(v4.into()) != Reach::Public);
        }
    }
}
