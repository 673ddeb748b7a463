//! The limits of this crate.

use std::time::Duration;

/// The limits of an authorization in time, bytes and attempts.
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
    /// Sets the timeout of one request to an authorization server. Default: 30 s.
    #[must_use]
    pub fn with_request(mut self, limit: Duration) -> Self {
        self.request = limit;
        self
    }

    /// Sets the connect timeout. Default: 10 s.
    #[must_use]
    pub fn with_connect(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Sets the time a person has to log in. Default: 5 min.
    #[must_use]
    pub fn with_login(mut self, limit: Duration) -> Self {
        self.login = limit;
        self
    }

    /// Sets the time to wait for another process that refreshes the same token. Default: 1 min.
    #[must_use]
    pub fn with_lock(mut self, limit: Duration) -> Self {
        self.lock = limit;
        self
    }

    /// Sets how long before its expiry a token is refreshed; short-lived tokens are refreshed in the last quarter of
    /// their lifetime. Default: 1 min.
    #[must_use]
    pub fn with_refresh_margin(mut self, margin: Duration) -> Self {
        self.refresh_margin = margin;
        self
    }

    /// Sets the maximum size of a response. Default: 256 KiB.
    #[must_use]
    pub fn with_body_bytes(mut self, limit: usize) -> Self {
        self.body_bytes = limit;
        self
    }

    /// Sets the maximum number of redirects followed for a metadata document. Default: 3.
    #[must_use]
    pub fn with_redirects(mut self, limit: usize) -> Self {
        self.redirects = limit;
        self
    }

    /// Sets the maximum number of a resource's authorization servers that are tried. Default: 4.
    #[must_use]
    pub fn with_authorization_servers(mut self, limit: usize) -> Self {
        self.authorization_servers = limit;
        self
    }

    /// Sets the maximum number of refusals of one request that are answered with new credentials. Default: 3.
    #[must_use]
    pub fn with_attempts(mut self, limit: u32) -> Self {
        self.attempts = limit;
        self
    }
}
