//! The URLs that may be contacted when a server names them: the defence against server-side request forgery.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

use crate::http::address::{Reach, reach};
use crate::{PublicNetwork, Violation};

/// The rules for every URL named by a server rather than by the user.
///
/// Only `https`, except to this machine; no credentials in the URL; no private address. Names are checked by the
/// addresses they resolve to, at connection time (see [`Resolver`](crate::http::resolver)), so that a name cannot be
/// rebound in between.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    loopback: bool,
    trusted: BTreeSet<String>,
    /// Where requests may go if the user's word is not enough.
    network: Option<PublicNetwork>,
}

impl Guard {
    /// The rules for a server at this URL. Its own host is always trusted; if that is this machine, other URLs may be
    /// on this machine, too.
    pub(crate) fn of(server: &Url) -> Self {
        let mut guard = Self {
            loopback: is_loopback(server),
            ..Self::default()
        };
        guard.trust(server);
        guard
    }

    /// The rules for servers of a user who is trusted no more than they are.
    pub(crate) fn within(network: PublicNetwork) -> Self {
        Self {
            loopback: network.admits(Ipv4Addr::LOCALHOST.into()),
            network: Some(network),
            ..Self::default()
        }
    }

    /// Allows URLs on this machine.
    pub(crate) fn allow_loopback(&mut self) {
        self.loopback = true;
    }

    /// Trusts the host of a URL that the user, not a server, has named.
    pub(crate) fn trust(&mut self, url: &Url) {
        if let Some(host) = url.host_str() {
            self.trust_host(host);
        }
    }

    /// Trusts a host by name, even on a private network.
    pub(crate) fn trust_host(&mut self, host: &str) {
        self.trusted.insert(bare_host(host));
    }

    /// Parses a URL and applies every rule that requires no name resolution.
    pub(crate) fn check(&self, raw: &str) -> Result<Url, Violation> {
        let url = Url::parse(raw).map_err(|_| Violation::Url {
            url: printable(raw),
            reason: "it is not a URL",
        })?;
        let refuse = |reason| {
            Err(Violation::Url {
                url: without_query(&url),
                reason,
            })
        };
        match url.scheme() {
            "https" => {}
            "http" if is_loopback(&url) => {}
            "http" => return refuse("only https is safe outside this machine"),
            _ => return refuse("it is neither http nor https"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("it carries credentials");
        }
        let admitted = match url.host() {
            Some(Host::Ipv4(v4)) => self.admits(&v4.to_string(), v4.into()),
            Some(Host::Ipv6(v6)) => self.admits(&v6.to_string(), v6.into()),
            Some(Host::Domain(_)) => self.loopback || !is_loopback(&url),
            None => return refuse("it has no host"),
        };
        if !admitted {
            return refuse("it leads into a private network");
        }
        Ok(url)
    }

    /// Whether a connection to `host` may go to `address`.
    pub(crate) fn admits(&self, host: &str, address: IpAddr) -> bool {
        match reach(address) {
            Reach::Public => true,
            _ if self.network.is_some() => {
                let mut network = self.network.iter();
                network.any(|network| network.admits(address))
            }
            Reach::Loopback => self.loopback || self.trusted.contains(&bare_host(host)),
            Reach::Internal => self.trusted.contains(&bare_host(host)),
        }
    }
}

/// Whether a URL refers to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(mcp_transport::is_loopback_host)
}

/// A URL for display: without query, fragment and credentials.
pub(crate) fn without_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

/// A URL for display that may be invalid.
pub(crate) fn shown(url: &str) -> String {
    Url::parse(url).map_or_else(|_| printable(url), |url| without_query(&url))
}

/// Untrusted text for display: one line, no control characters, at most 200 characters.
pub(crate) fn printable(text: &str) -> String {
    let mut line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(200)
        .collect();
    if text.chars().nth(200).is_some() {
        line.push('…');
    }
    line
}

fn bare_host(host: &str) -> String {
    host.trim_matches(['[', ']'])
        .trim_end_matches('.')
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn guard(server: &str) -> Guard {
        Guard::of(&Url::parse(server).unwrap())
    }

    #[track_caller]
    fn refused(guard: &Guard, url: &str) {
        assert!(guard.check(url).is_err(), "{url} passed");
    }

    #[test]
    fn a_public_server_cannot_point_inside() {
        let guard = guard("https://mcp.example.com/mcp");
        for url in [
            "http://as.example.com/",
            "http://localhost/",
            "https://localhost/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://10.0.0.1/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::ffff:169.254.169.254]/",
            "https://2852039166/",
            "https://0x7f.1/",
            "https://user:pass@as.example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "ftp://as.example.com/",
            "data:text/plain,x",
            "",
            "//as.example.com",
        ] {
            refused(&guard, url);
        }
        assert!(guard.check("https://as.example.com/x?y=z").is_ok());
        assert!(guard.check("https://1.1.1.1/").is_ok());
    }

    #[test]
    fn a_server_on_this_machine_may_point_at_this_machine_only() {
        let guard = guard("http://localhost:3000/mcp");
        for url in [
            "http://localhost:4000/",
            "http://127.0.0.1/",
            "https://[::1]:1/",
            "http://as.localhost/",
        ] {
            assert!(guard.check(url).is_ok(), "{url}");
        }
        for url in [
            "http://as.example.com/",
            "https://192.168.0.1/",
            "https://169.254.169.254/",
        ] {
            refused(&guard, url);
        }
    }

    #[test]
    fn a_name_is_judged_by_its_addresses() {
        let guard = guard("https://mcp.corp.example/mcp");
        let inside: IpAddr = "10.0.0.7".parse().unwrap();
        assert!(
            guard.admits("MCP.corp.example.", inside),
            "the configured host is trusted"
        );
        assert!(!guard.admits("as.corp.example", inside));
        assert!(guard.admits("as.corp.example", "9.9.9.9".parse().unwrap()));
        let mut open = guard.clone();
        open.trust_host("as.corp.example");
        assert!(open.admits("as.corp.example", inside));
    }

    proptest! {
        #[test]
        fn checking_never_panics(raw in any::<String>()) {
            let _ = guard("https://mcp.example.com/mcp").check(&raw);
        }

        #[test]
        fn what_passes_is_https_and_public(raw in "(https?|ftp)://([a-z0-9.:\\[\\]@-]{1,20})(/[a-z]{0,5})?") {
            if let Ok(url) = guard("https://mcp.example.com/mcp").check(&raw) {
                prop_assert_eq!(url.scheme(), "https");
                prop_assert!(url.username().is_empty() && !is_loopback(&url));
                let literal = match url.host() {
                    Some(Host::Ipv4(v4)) => Some(IpAddr::from(v4)),
                    Some(Host::Ipv6(v6)) => Some(IpAddr::from(v6)),
                    _ => None,
                };
                prop_assert!(literal.is_none_or(|ip| reach(ip) == Reach::Public));
            }
        }
    }
}
