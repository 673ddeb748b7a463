//! Name resolution that rejects forbidden addresses at connection time.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Whether a name may lead to an address.
type Admits = dyn Fn(&str, IpAddr) -> bool + Send + Sync;

/// Resolves names with the operating system and returns only admitted addresses. The connection uses those
/// addresses, so that a name cannot be rebound in between.
#[derive(Clone)]
pub(crate) struct Resolver {
    admits: Arc<Admits>,
}

impl Resolver {
    pub(crate) fn new(admits: impl Fn(&str, IpAddr) -> bool + Send + Sync + 'static) -> Self {
        let admits = Arc::new(admits);
        Self { admits }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let admits = self.admits.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let admitted = admitted(&*admits, name.as_str(), found)?;
            Ok(Box::new(admitted.into_iter()) as Addrs)
        })
    }
}

fn admitted(
    admits: &Admits,
    name: &str,
    found: impl Iterator<Item = SocketAddr>,
) -> Result<Vec<SocketAddr>, Forbidden> {
    let admitted: Vec<_> = found.filter(|address| admits(name, address.ip())).collect();
    if admitted.is_empty() {
        Err(Forbidden)
    } else {
        Ok(admitted)
    }
}

/// A name without an allowed address.
#[derive(Debug)]
pub(crate) struct Forbidden;

impl Forbidden {
    /// Whether this error made a request fail.
    pub(crate) fn caused(error: &(dyn Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name leads only into private networks")
    }
}

impl Error for Forbidden {}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::http::guard::Guard;

    #[test]
    fn only_admitted_addresses_are_passed_on() {
        let guard = Guard::of(&Url::parse("https://mcp.example.com/").unwrap());
        let found = ["10.0.0.1:0", "9.9.9.9:0", "[::1]:0"].map(|address| address.parse().unwrap());
        let admits = move |name: &str, address| guard.admits(name, address);
        let passed = admitted(&admits, "as.example.com", found.into_iter()).unwrap();
        assert_eq!(passed, ["9.9.9.9:0".parse().unwrap()]);
        let none = admitted(
            &admits,
            "as.example.com",
            ["169.254.169.254:0".parse().unwrap()].into_iter(),
        );
        assert!(Forbidden::caused(&none.unwrap_err()));
    }
}
