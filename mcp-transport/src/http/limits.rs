//! The limits of an HTTP connection.

use std::time::Duration;

/// The limits of an HTTP connection. The defaults suit ordinary use.
///
/// The timeouts are a safety net below the caller's own deadlines and therefore long; TCP keep-alive detects a dead
/// peer within a minute.
///
/// ```
/// use std::time::Duration;
/// use mcp_transport::HttpLimits;
///
/// let limits = HttpLimits::default()
///     .with_requests_in_flight(8)
///     .with_connect_timeout(Duration::from_secs(3));
/// # let _ = limits;
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpLimits {
    pub(crate) requests_in_flight: usize,
    pub(crate) message_bytes: usize,
    pub(crate) error_body_bytes: usize,
    pub(crate) buffered_bytes: usize,
    pub(crate) queued_messages: usize,
    pub(crate) queued_bytes: usize,
    pub(crate) redirects: u32,
    pub(crate) challenges: u32,
    pub(crate) resumptions: u32,
    pub(crate) reconnects: u32,
    pub(crate) connect_timeout: Duration,
    pub(crate) first_byte_timeout: Duration,
    pub(crate) acknowledge_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) total_timeout: Duration,
    pub(crate) listen_timeout: Duration,
    pub(crate) endpoint_timeout: Duration,
    pub(crate) close_timeout: Duration,
    pub(crate) min_retry_delay: Duration,
    pub(crate) max_retry_delay: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            requests_in_flight: 64,
            message_bytes: 32 << 20,
            error_body_bytes: 64 << 10,
            buffered_bytes: 4 << 20,
            queued_messages: 1024,
            queued_bytes: 4 << 20,
            redirects: 5,
            challenges: 3,
            resumptions: 4,
            reconnects: 8,
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(20 * 60),
            acknowledge_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(20 * 60),
            total_timeout: Duration::from_secs(60 * 60),
            listen_timeout: Duration::from_secs(1),
            endpoint_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(2),
            min_retry_delay: Duration::from_millis(100),
            max_retry_delay: Duration::from_secs(5 * 60),
        }
    }
}

macro_rules! with {
    ($($(#[$doc:meta])* $with:ident => $field:ident: $type:ty;)*) => {
        impl HttpLimits {
            $($(#[$doc])*
            #[must_use]
            pub fn $with(mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            })*
        }
    };
}

with! {
    /// The maximum number of requests with an incomplete reply; further ones wait. Notifications, responses and streams
    /// that stay open are not counted. Default: 64.
    with_requests_in_flight => requests_in_flight: usize;
    /// The maximum size of a message: a JSON body or an event. Default: 32 MiB.
    with_message_bytes => message_bytes: usize;
    /// The maximum number of bytes read from the body of an error response. Default: 64 KiB.
    with_error_body_bytes => error_body_bytes: usize;
    /// The maximum number of bytes of large replies (64 KiB or more) that are read at the same time; further ones wait,
    /// and a larger one is read alone. Default: 4 MiB.
    with_buffered_bytes => buffered_bytes: usize;
    /// The maximum number of messages waiting for `recv`. Default: 1024.
    with_queued_messages => queued_messages: usize;
    /// The maximum number of bytes waiting for `recv`; one larger message waits alone. Default: 4 MiB.
    with_queued_bytes => queued_bytes: usize;
    /// The maximum number of redirects followed for one request. Default: 5.
    with_redirects => redirects: u32;
    /// The maximum number of refusals of one request that the [`AuthProvider`](crate::AuthProvider) may follow with
    /// another attempt. Default: 3.
    with_challenges => challenges: u32;
    /// The maximum number of consecutive attempts to resume a broken reply before its request fails. Default: 4.
    with_resumptions => resumptions: u32;
    /// The maximum number of consecutive attempts to reopen the stream for unsolicited messages, before it pauses until
    /// the server is reachable again. Default: 8.
    with_reconnects => reconnects: u32;
    /// The time limit for name resolution, TCP and TLS together. Default: 10 s.
    with_connect_timeout => connect_timeout: Duration;
    /// The time limit from the request to the head of the HTTP response. Default: 20 min.
    with_first_byte_timeout => first_byte_timeout: Duration;
    /// The time limit from a notification or a response to its acknowledgement. Default: 30 s.
    with_acknowledge_timeout => acknowledge_timeout: Duration;
    /// The time limit for a pause within a reply. Default: 20 min.
    with_idle_timeout => idle_timeout: Duration;
    /// The time limit for a whole reply, resumptions included. Default: 1 h.
    with_total_timeout => total_timeout: Duration;
    /// How long sending `notifications/initialized` waits for the server's own stream to open before it continues in
    /// the background. Default: 1 s.
    with_listen_timeout => listen_timeout: Duration;
    /// HTTP+SSE: the time limit until the event stream begins, and from there to its `endpoint` event. Default: 30 s.
    with_endpoint_timeout => endpoint_timeout: Duration;
    /// The time limit for ending the session. Default: 2 s.
    with_close_timeout => close_timeout: Duration;
    /// The minimum delay before a reconnection, whatever the server requests; it grows while there is no progress.
    /// Default: 100 ms.
    with_min_retry_delay => min_retry_delay: Duration;
    /// The maximum delay a server may request before a reconnection; if it requests more, the stream is abandoned.
    /// Default: 5 min.
    with_max_retry_delay => max_retry_delay: Duration;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_event_is_waited_for_30_seconds_by_default() {
        assert_eq!(
            HttpLimits::default().endpoint_timeout,
            Duration::from_secs(30)
        );
    }
}
