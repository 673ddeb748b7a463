//! The limits of a stdio connection.

use std::time::Duration;

/// The limits of a stdio connection, in bytes and in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StdioLimits {
    pub(super) line_bytes: usize,
    pub(super) outbound_bytes: usize,
    pub(super) control_bytes: usize,
    pub(super) stderr_bytes: usize,
    pub(super) stray_lines: usize,
    pub(super) shutdown_timeout: Duration,
    pub(super) busy_poll: Duration,
}

impl Default for StdioLimits {
    fn default() -> Self {
        Self {
            line_bytes: 32 << 20,
            outbound_bytes: 1 << 20,
            control_bytes: 1 << 20,
            stderr_bytes: 8 << 10,
            stray_lines: 1000,
            shutdown_timeout: Duration::from_secs(3),
            busy_poll: Duration::ZERO,
        }
    }
}

impl StdioLimits {
    /// Sets the maximum size of a message from the server. Default: 32 MiB.
    #[must_use]
    pub fn with_line_bytes(mut self, bytes: usize) -> Self {
        self.line_bytes = bytes;
        self
    }

    /// Sets the number of bytes that may be queued for writing before requests wait. Default: 1 MiB.
    #[must_use]
    pub fn with_outbound_bytes(mut self, bytes: usize) -> Self {
        self.outbound_bytes = bytes;
        self
    }

    /// Sets the number of bytes beyond that which are reserved for responses and notifications, which never wait.
    /// Default: 1 MiB.
    #[must_use]
    pub fn with_control_bytes(mut self, bytes: usize) -> Self {
        self.control_bytes = bytes;
        self
    }

    /// Sets the size of the stderr tail that is kept. Default: 8 KiB.
    #[must_use]
    pub fn with_stderr_bytes(mut self, bytes: usize) -> Self {
        self.stderr_bytes = bytes;
        self
    }

    /// Sets how many consecutive lines on stdout may not be messages. Default: 1000.
    #[must_use]
    pub fn with_stray_lines(mut self, lines: usize) -> Self {
        self.stray_lines = lines;
        self
    }

    /// Sets the time limit of a shutdown: half of it for the server to exit once its stdin is closed, a third after
    /// SIGTERM, the remainder after SIGKILL. Default: 3 s.
    #[must_use]
    pub fn with_shutdown_timeout(mut self, time: Duration) -> Self {
        self.shutdown_timeout = time;
        self
    }

    /// Busy-polls for the response to a lone request for up to this long, if the server's last
    /// response was that quick, before it falls back to normal wake-ups. Lowers the latency of
    /// servers that respond within microseconds; keeps a core busy meanwhile, and is ignored on
    /// machines with one core. 150 µs is a good value. Default: zero, which means off.
    #[must_use]
    pub fn with_busy_poll(mut self, limit: Duration) -> Self {
        self.busy_poll = limit;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shutdown_takes_three_seconds_in_total_by_default() {
        assert_eq!(
            StdioLimits::default().shutdown_timeout,
            Duration::from_secs(3)
        );
    }
}
