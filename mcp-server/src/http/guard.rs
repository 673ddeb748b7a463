//! The allowed hosts and origins: the defence against DNS rebinding.

use http::{HeaderMap, Uri, header};
use mcp_transport::is_loopback_host;

/// Hosts and origins that are let through.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Names beside the loopback ones, in lower case, without ports.
    hosts: Vec<String>,
    any_host: bool,
    /// Origins beside those of allowed hosts.
    origins: Vec<String>,
}

impl Guard {
    pub(crate) fn allow_host(&mut self, host: &str) {
        self.hosts.push(host.to_ascii_lowercase());
    }

    pub(crate) fn allow_any_host(&mut self) {
        self.any_host = true;
    }

    pub(crate) fn allow_origin(&mut self, origin: &str) {
        self.origins.push(origin.to_ascii_lowercase());
    }

    /// Why a request is not let through, if it is not.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), String> {
        let named = headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        let host = match (uri.host(), named) {
            (Some(host), _) => host,
            (None, Some(named)) => without_port(named),
            (None, None) => return Err("host not allowed: the request names none".to_owned()),
        };
        if !self.is_allowed(host) {
            return Err(format!("host not allowed: {host}"));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match origins.all(|origin| origin.to_str().is_ok_and(|it| self.allows_origin(it))) {
            true => Ok(()),
            false => Err("origin not allowed".to_owned()),
        }
    }

    fn is_allowed(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.any_host || is_loopback_host(&host) || self.hosts.contains(&host)
    }

    /// A page of a loopback or allowed host may call us; any other must be named.
    fn allows_origin(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return true;
        }
        let host = origin
            .strip_prefix("http://")
            .or(origin.strip_prefix("https://"));
        let host = host.map(without_port);
        host.is_some_and(|host| is_loopback_host(host) || self.hosts.iter().any(|it| it == host))
    }
}

/// The host of `host:port`; brackets of an IPv6 address stay.
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !host.ends_with(':') => {
            host
        }
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(guard: &Guard, host: &str, origin: Option<&str>, want: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let got = guard.check(&Uri::from_static("/mcp"), &headers);
        assert_eq!(got.is_ok(), want, "{host} {origin:?}: {got:?}");
    }

    #[test]
    fn by_default_only_loopback_is_let_through() {
        let guard = Guard::default();
        for host in ["localhost", "127.0.0.1:80", "[::1]:8080", "LOCALHOST:1"] {
            check(&guard, host, None, true);
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "",
            "[::2]:1",
        ] {
            check(&guard, host, None, false);
        }
        check(&guard, "localhost", Some("http://localhost:3000"), true);
        check(&guard, "localhost", Some("https://evil.example"), false);
        check(&guard, "localhost", Some("null"), false);
        check(&guard, "localhost", Some("http://localhost.evil"), false);
        check(
            &guard,
            "localhost",
            Some("http://localhost@evil.example"),
            false,
        );
    }

    #[test]
    fn named_hosts_and_origins_are_let_through() {
        let mut guard = Guard::default();
        guard.allow_host("MCP.example");
        guard.allow_origin("https://app.example");
        check(&guard, "mcp.example:443", Some("https://mcp.example"), true);
        check(&guard, "mcp.example", Some("https://app.example"), true);
        check(&guard, "mcp.example", Some("https://other.example"), false);
        guard.allow_any_host();
        check(&guard, "any.example", None, true);
        check(&guard, "any.example", Some("https://any.example"), false);
    }
}
