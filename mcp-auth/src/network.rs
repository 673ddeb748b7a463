//! Where the requests of people may go who do not own the machine that sends them.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use reqwest::ClientBuilder;
use url::{Host, Url};

use crate::Violation;
use crate::http::address::{Reach, reach};
use crate::http::guard::{printable, without_query};
use crate::http::resolver::Resolver;

/// The public internet, and what the owner of the machine allows beside it.
///
/// A program that sends requests to addresses of its users must not be their way into the networks it
/// is in: to the metadata service of a cloud, a database, or this machine itself.
///
/// ```
/// use mcp_auth::PublicNetwork;
///
/// let network = PublicNetwork::new();
/// assert!(network.check("https://mcp.example.com/mcp").is_ok());
/// assert!(network.check("http://169.254.169.254/latest/meta-data").is_err());
/// ```
#[derive(Clone)]
pub struct PublicNetwork {
    allowed: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
}

impl PublicNetwork {
    /// Public addresses only.
    pub fn new() -> Self {
        Self::allowing(|_| false)
    }

    /// Public addresses, and those that are `allowed`.
    pub fn allowing(allowed: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        Self {
            allowed: Arc::new(allowed),
        }
    }

    /// Whether a connection may go to this address.
    pub fn admits(&self, address: IpAddr) -> bool {
        reach(address) == Reach::Public || (self.allowed)(address.to_canonical())
    }

    /// Checks a URL whose host is an address. One whose host is a name is checked when a
    /// [guarded client](Self::guard) connects, so that the name cannot change its mind in between.
    ///
    /// # Errors
    /// If it leads into a private network, or is not a URL.
    pub fn check(&self, url: &str) -> Result<(), Violation> {
        let refused = |url, reason| Err(Violation::Url { url, reason });
        let Ok(parsed) = Url::parse(url) else {
            return refused(printable(url), "it is not a URL");
        };
        let admitted = match parsed.host() {
            Some(Host::Ipv4(address)) => self.admits(address.into()),
            Some(Host::Ipv6(address)) => self.admits(address.into()),
            _ => true,
        };
        match admitted {
            true => Ok(()),
            false => refused(without_query(&parsed), "it leads into a private network"),
        }
    }

    /// Makes a client connect to no other address by a name. The addresses in URLs are for
    /// [`check`](Self::check); what a proxy connects to is for the proxy to refuse.
    pub fn guard(&self, client: ClientBuilder) -> ClientBuilder {
        let network = self.clone();
        client.dns_resolver(Resolver::new(move |_, address| network.admits(address)))
    }
}

impl Default for PublicNetwork {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for PublicNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicNetwork").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::resolver::Forbidden;

    #[test]
    fn an_address_in_a_private_network_needs_to_be_allowed() {
        let inside: IpAddr = "10.0.0.7".parse().unwrap();
        let open = PublicNetwork::allowing(move |address| address == inside);
        for url in [
            "http://10.0.0.7:8080/mcp",
            "http://[::ffff:10.0.0.7]/",
            "https://8.8.8.8/",
            "https://wiki.example/mcp",
        ] {
            assert!(open.check(url).is_ok(), "{url}");
        }
        for url in [
            "http://10.0.0.8/",
            "http://127.0.0.1:5432/",
            "http://2130706433/",
            "http://[::1]/",
            "http://169.254.169.254/latest",
            "http://0/",
            "no url",
        ] {
            assert!(open.check(url).is_err(), "{url}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_refused_when_it_is_connected_to() {
        let builder = crate::http::plain_client().unwrap();
        let client = PublicNetwork::new().guard(builder).build().unwrap();
        let error = client.get("http://localhost:9/").send().await.unwrap_err();
        assert!(Forbidden::caused(&error), "{error:?}");
    }
}
