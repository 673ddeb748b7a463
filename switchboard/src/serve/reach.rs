//! Who can reach the server, and by which name: this machine only, the network by TLS, or the
//! network by way of a proxy.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use axum::http::HeaderMap;
use url::Url;

use crate::exit::{Exit, Failure};

/// Where the server listens and how it is reached.
#[derive(Clone, Debug)]
pub struct Reach {
    pub(super) listen: SocketAddr,
    pub(super) tls: Option<TlsFiles>,
    pub(super) public_url: Option<Url>,
    pub(super) proxies: Vec<Network>,
}

/// The files of a certificate and its key, in PEM.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlsFiles {
    /// The certificate, with those that it is signed by.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl Reach {
    /// A port of this machine, for this machine only; 0 is a free one.
    pub fn local(port: u16) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], port)),
            tls: None,
            public_url: None,
            proxies: Vec::new(),
        }
    }

    /// An address of this machine, which other machines may reach.
    ///
    /// # Errors
    /// If other machines could reach it without TLS, or by a name that is not known.
    pub fn network(
        listen: SocketAddr,
        tls: Option<TlsFiles>,
        public_url: Option<&str>,
        proxies: Vec<Network>,
    ) -> Result<Self, Failure> {
        let refused = |text: &str, hint: &str| {
            Err(Failure::new(Exit::Other, text.to_owned()).with_hint(hint.to_owned()))
        };
        let public_url = public_url.map(public).transpose()?;
        let is_https = public_url
            .as_ref()
            .is_some_and(|url| url.scheme() == "https");
        if !listen.ip().is_loopback() {
            if tls.is_none() && proxies.is_empty() {
                return refused(
                    "other machines could reach this address without TLS",
                    "Name a certificate with --tls-cert and --tls-key, or the proxy in front of it \
                     with --trust-proxy.",
                );
            }
            if !is_https {
                return refused(
                    "the name by which browsers reach this address is not known",
                    "Name it: --public-url https://NAME.",
                );
            }
        }
        if tls.is_some() && public_url.is_some() && !is_https {
            return refused(
                "--public-url must begin with https:// where a certificate is used",
                "Write it as browsers reach it.",
            );
        }
        Ok(Self {
            listen,
            tls,
            public_url,
            proxies,
        })
    }

    /// Whether others than this machine can reach it.
    pub(super) fn is_public(&self) -> bool {
        let named = self.public_url.as_ref().and_then(Url::host);
        let elsewhere = named.is_some_and(|host| match host {
            url::Host::Ipv4(address) => !address.is_loopback(),
            url::Host::Ipv6(address) => !address.is_loopback(),
            url::Host::Domain(name) => name != "localhost",
        });
        elsewhere || !self.listen.ip().is_loopback() || !self.proxies.is_empty()
    }

    /// Whether a connection from there is accepted: from the proxy alone, if there is one, and
    /// from this machine.
    pub(super) fn accepts(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.proxies.is_empty()
            || peer.is_loopback()
            || self.proxies.iter().any(|network| network.contains(peer))
    }

    /// Where a request comes from: the proxy says it, if it came by the proxy. What was written before
    /// it reached the first proxy of ours is the client's own word.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let is_ours = |address: IpAddr| {
            let address = address.to_canonical();
            self.proxies.iter().any(|network| network.contains(address))
        };
        let lines = headers.get_all("x-forwarded-for").iter();
        let said = lines.flat_map(|line| line.to_str().unwrap_or_default().split(','));
        let mut client = peer;
        for address in said.rev() {
            if !is_ours(client) {
                break;
            }
            match forwarded(address.trim()) {
                Some(address) => client = address,
                None => break,
            }
        }
        client
    }

    /// The address that users open, once the port is known.
    pub(super) fn url(&self, address: SocketAddr) -> String {
        match (&self.public_url, &self.tls) {
            (Some(url), _) => url.origin().ascii_serialization(),
            (None, Some(_)) => format!("https://{address}"),
            (None, None) => format!("http://{address}"),
        }
    }

    /// The names by which requests may ask for the server, each with the origin of its page.
    pub(super) fn names(&self, port: u16) -> Vec<(String, String)> {
        let scheme = match self.tls {
            Some(_) => "https",
            None => "http",
        };
        let own = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
        let mut names: Vec<(String, String)> = own
            .into_iter()
            .map(|name| (name.clone(), format!("{scheme}://{name}")))
            .collect();
        if let Some(url) = &self.public_url
            && let Some(host) = url.host_str()
        {
            let name = match url.port() {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            };
            names.push((
                name.to_ascii_lowercase(),
                url.origin().ascii_serialization(),
            ));
        }
        names
    }
}

/// An address that browsers open: an origin, without a path.
fn public(text: &str) -> Result<Url, Failure> {
    let refused = |why: &str| {
        let text = format!("--public-url {text:?} {why}");
        Failure::new(Exit::Other, text).with_hint("It looks like https://team.example.")
    };
    let url = Url::parse(text).map_err(|_| refused("is no address"))?;
    if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
        return Err(refused("is no web address"));
    }
    if url.path() != "/" || url.query().is_some() || !url.username().is_empty() {
        return Err(refused("must have no path"));
    }
    Ok(url)
}

/// An address as proxies write it, with or without a port.
fn forwarded(text: &str) -> Option<IpAddr> {
    let whole = text.trim_matches(['[', ']']).parse();
    whole
        .or_else(|_| text.parse::<SocketAddr>().map(|it| it.ip()))
        .ok()
}

/// A part of the network, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        let same = |one: &[u8], other: &[u8]| {
            let bits = usize::from(self.prefix);
            let whole = bits / 8;
            let mask = !(0xff_u8.checked_shr((bits % 8) as u32).unwrap_or(0));
            let last = |bytes: &[u8]| bytes.get(whole).map_or(0, |byte| byte & mask);
            one.get(..whole) == other.get(..whole) && last(one) == last(other)
        };
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => same(&own.octets(), &other.octets()),
            (IpAddr::V6(own), IpAddr::V6(other)) => same(&own.octets(), &other.octets()),
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no network such as 10.0.0.0/8, and no address");
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = match address {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        let prefix = match prefix {
            Some(prefix) => prefix.parse().map_err(|_| wrong())?,
            None => most,
        };
        match prefix <= most {
            true => Ok(Self { address, prefix }),
            false => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_holds_the_addresses_with_its_prefix() {
        let holds = |net: &str, address: &str| network(net).contains(address.parse().unwrap());
        assert!(holds("10.0.0.0/8", "10.255.1.2"));
        assert!(!holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("192.168.4.0/22", "192.168.7.255"));
        assert!(!holds("192.168.4.0/22", "192.168.8.0"));
        assert!(holds("192.168.1.7", "192.168.1.7"));
        assert!(!holds("192.168.1.7", "192.168.1.8"));
        assert!(holds("0.0.0.0/0", "203.0.113.9"));
        assert!(holds("fd00::/8", "fd12::1"));
        assert!(!holds("fd00::/8", "fe80::1"));
        assert!(!holds("0.0.0.0/0", "::1"));
        for wrong in ["10.0.0.0/33", "10.0.0/8", "::1/129", "team", "1.2.3.4/"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_that_others_can_reach_needs_tls_or_a_proxy_and_a_name() {
        let open: SocketAddr = "0.0.0.0:7080".parse().unwrap();
        let tls = || {
            Some(TlsFiles {
                certificate: "cert.pem".into(),
                key: "key.pem".into(),
            })
        };
        let name = Some("https://team.example");
        let proxy = || vec![network("10.0.0.0/8")];
        assert!(Reach::network(open, None, name, Vec::new()).is_err());
        assert!(Reach::network(open, tls(), None, Vec::new()).is_err());
        assert!(Reach::network(open, None, Some("http://team.example"), proxy()).is_err());
        assert!(Reach::network(open, tls(), Some("https://team.example/x"), Vec::new()).is_err());
        let reach = Reach::network(open, tls(), name, Vec::new()).unwrap();
        assert!(reach.accepts("203.0.113.9".parse().unwrap()));
        let reach = Reach::network(open, None, name, proxy()).unwrap();
        assert!(!reach.accepts("203.0.113.9".parse().unwrap()));
        assert!(reach.accepts("10.1.2.3".parse().unwrap()));
        assert!(reach.accepts("::ffff:10.1.2.3".parse().unwrap()));
        let local: SocketAddr = "127.0.0.1:7080".parse().unwrap();
        assert!(Reach::network(local, None, None, Vec::new()).is_ok());
    }

    #[test]
    fn a_proxy_of_ours_is_believed_and_no_one_else() {
        let client = |proxies: &[&str], peer: &str, said: &[&'static str]| {
            let mut reach = Reach::local(0);
            reach.proxies = proxies.iter().map(|text| network(text)).collect();
            let mut headers = HeaderMap::new();
            for line in said {
                headers.append("x-forwarded-for", line.parse().unwrap());
            }
            reach.client(peer.parse().unwrap(), &headers).to_string()
        };
        let proxies = ["10.0.0.0/8"];
        assert_eq!(client(&[], "203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        let forged = ["198.51.100.1", "203.0.113.9"];
        assert_eq!(client(&proxies, "127.0.0.1", &forged), "127.0.0.1");
        assert_eq!(client(&proxies, "10.0.0.1", &forged), "203.0.113.9");
        let through_two = ["198.51.100.1, 203.0.113.9, 10.2.2.2"];
        assert_eq!(client(&proxies, "10.0.0.1", &through_two), "203.0.113.9");
        assert_eq!(client(&proxies, "10.0.0.1", &["unknown"]), "10.0.0.1");
        assert_eq!(client(&proxies, "10.0.0.1", &[]), "10.0.0.1");
        for port in ["203.0.113.9:4711", "[2001:db8::1]:4711", "[2001:db8::1]"] {
            let seen = client(&proxies, "::ffff:10.0.0.1", &[port]);
            assert!(["203.0.113.9", "2001:db8::1"].contains(&&*seen), "{seen}");
        }
    }

    #[test]
    fn the_public_name_is_asked_for_without_a_default_port() {
        let open: SocketAddr = "0.0.0.0:7080".parse().unwrap();
        let proxy = vec![network("10.0.0.0/8")];
        let reach = Reach::network(open, None, Some("https://Team.example:443"), proxy).unwrap();
        let names = reach.names(7080);
        let public = ("team.example".to_owned(), "https://team.example".to_owned());
        assert!(names.contains(&public), "{names:?}");
    }
}
