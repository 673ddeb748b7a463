//! Every bound of this crate.

use std::time::Duration;

/// How much time, and how many bytes and tries, authorization may take.
#[derive(Clone, Debug)]
pub struct AuthLimits {
    pub(crate) request: Duration,
    pub(crate) connect: Duration,
    pub(crate) login: Duration,
    pub(crate) lock: Duration,
    pub(crate) refresh_margin: Duration,
    pub(crate) body_bytes: usize,
    pub(crate) redirects: usize,
    pub(crate) authorization_servers: usize,
    pub(crate) attempts: u32,
}

impl Default for AuthLimits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            login: Duration::from_secs(300),
            lock: Duration::from_secs(60),
            refresh_margin: Duration::from_secs(60),
            body_bytes: 256 * 1024,
            redirects: 3,
            authorization_servers: 4,
            attempts: 3,
        }
    }
}

impl AuthLimits {
    /// How long one exchange with an authorization server may take. 30 seconds.
    #[must_use]
    pub fn with_request(mut self, limit: Duration) -> Self {
        self.request = limit;
        self
    }

    /// How long a connection may take to open. 10 seconds.
    #[must_use]
    pub fn with_connect(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// How long a person has to log in. 5 minutes.
    #[must_use]
    pub fn with_login(mut self, limit: Duration) -> Self {
        self.login = limit;
        self
    }

    /// How long to wait for another process that renews the same token. One minute.
    #[must_use]
    pub fn with_lock(mut self, limit: Duration) -> Self {
        self.lock = limit;
        self
    }

    /// How long before its end a token is renewed; short-lived tokens are renewed in their last
    /// quarter. One minute.
    #[must_use]
    pub fn with_refresh_margin(mut self, margin: Duration) -> Self {
        self.refresh_margin = margin;
        self
    }

    /// The size of any answer. 256 KiB.
    #[must_use]
    pub fn with_body_bytes(mut self, limit: usize) -> Self {
        self.body_bytes = limit;
        self
    }

    /// How many redirects a metadata document may be behind. 3.
    #[must_use]
    pub fn with_redirects(mut self, limit: usize) -> Self {
        self.redirects = limit;
        self
    }

    /// How many of a resource's authorization servers are tried. 4.
    #[must_use]
    pub fn with_authorization_servers(mut self, limit: usize) -> Self {
        self.authorization_servers = limit;
        self
    }

    /// How many refusals of one request are answered with new credentials. 3.
    #[must_use]
    pub fn with_attempts(mut self, limit: u32) -> Self {
        self.attempts = limit;
        self
    }
}
