//! The head of a request to a proxy. Pure.

/// Where a request wants to go, and how.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Head {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) way: Way,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Way {
    /// `CONNECT`: bytes in both directions.
    Tunnel,
    /// A request to a URL: its head for the server. The connection carries no second request, because that could name
    /// another host.
    Forward(String),
}

impl Head {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target, version) = (first.next()?, first.next()?, first.next()?);
        if first.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        if method == "CONNECT" {
            let (host, port) = authority(target)?;
            return Some(Self {
                host,
                port: port?,
                way: Way::Tunnel,
            });
        }
        let rest = target.strip_prefix("http://")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (named, path) = rest.split_at_checked(end)?;
        let (host, port) = authority(named)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut forwarded = format!("{method} {slash}{path} {version}\r\nHost: {named}\r\n");
        for line in lines.take_while(|line| !line.is_empty()) {
            let name = line.split_once(':')?.0.to_ascii_lowercase();
            let is_ours = ["host", "connection", "keep-alive"].contains(&name.as_str())
                || name.starts_with("proxy-");
            if !is_ours {
                forwarded.push_str(line);
                forwarded.push_str("\r\n");
            }
        }
        forwarded.push_str("Connection: close\r\n\r\n");
        Some(Self {
            host,
            port: port.unwrap_or(80),
            way: Way::Forward(forwarded),
        })
    }

    /// The host and port, as people write them.
    pub(super) fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// A host and a port, without a user.
fn authority(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            let _: std::net::Ipv6Addr = host.parse().ok()?;
            (host, after.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':');
    if host.is_empty() || host.len() > 253 || !host.bytes().all(legal) {
        return None;
    }
    let port = match port {
        Some(port) => Some(port.parse().ok().filter(|port| *port != 0)?),
        None => None,
    };
    Some((host.to_ascii_lowercase(), port))
}
