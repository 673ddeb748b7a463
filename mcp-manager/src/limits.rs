//! The limits of a manager.

use std::time::Duration;

use crate::server::schedule::RetryPolicy;

/// Declares the getters and setters of a struct of settings.
macro_rules! settings {
    (of $Settings:ident; $($(#[$meta:meta])* $name:ident / $with:ident: $Type:ty;)*) => {
        impl $Settings {$(
            $(#[$meta])*
            pub fn $name(&self) -> $Type {
                self.$name
            }

            #[doc = concat!("Sets [`", stringify!($name), "`](Self::", stringify!($name), ").")]
            #[must_use]
            pub fn $with(mut self, $name: $Type) -> Self {
                self.$name = $name;
                self
            }
        )*}
    };
}

pub(crate) use settings;

/// The limits of a manager. Everything is always bounded.
///
/// ```
/// use std::time::Duration;
///
/// let limits = mcp_manager::ManagerLimits::default()
///     .with_stdio_starts(4)
///     .with_idle_time(Duration::from_secs(600));
/// assert_eq!(limits.stdio_starts(), 4);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ManagerLimits {
    stdio_starts: usize,
    remote_starts: usize,
    connect_time: Duration,
    call_idle_timeout: Duration,
    calls_per_server: u32,
    idle_time: Duration,
    list_time: Duration,
    list_ttl: Duration,
    shortest_list_ttl: Duration,
    list_pause: Duration,
    list_back_off: Duration,
    list_wait: Duration,
    catalog_pause: Duration,
    queued_events: usize,
    messages_per_second: u32,
    queued_questions: usize,
    questions_per_server: usize,
    retry: RetryPolicy,
    client: mcp_client::ClientLimits,
}

settings! {
    of ManagerLimits;
    /// The maximum number of programs started at once: from the start until the server is ready, has failed, or its
    /// time to connect has expired. Others wait for their turn. Default: 2.
    stdio_starts / with_stdio_starts: usize;
    /// The maximum number of remote servers connecting at once, in the same sense. Default: 5.
    remote_starts / with_remote_starts: usize;
    /// The time limit for connecting, and for a call that waits for its server to be connected, unless the server's
    /// configuration sets another. Default: 30 s.
    connect_time / with_connect_time: Duration;
    /// The idle timeout of a call: the time without a response or progress, unless the configuration of its server or
    /// tool sets another. Its total deadline is ten times that. Default: 120 s.
    call_idle_timeout / with_call_idle_timeout: Duration;
    /// The maximum number of concurrent calls to one server, where it accepts several. Default: 8.
    calls_per_server / with_calls_per_server: u32;
    /// The time an unused server stays connected. Default: 30 min.
    idle_time / with_idle_time: Duration;
    /// The time limit for one list. Default: 30 s.
    list_time / with_list_time: Duration;
    /// The lifetime of a list for which the server neither announces changes nor sends a TTL. Default: 5 min.
    list_ttl / with_list_ttl: Duration;
    /// The minimum TTL a server may send for its lists. Default: 5 s.
    shortest_list_ttl / with_shortest_list_ttl: Duration;
    /// The minimum pause between two requests for a list, however many changes are announced. Where they never end, it
    /// doubles, up to [`list_back_off`](Self::list_back_off). Default: 1 s.
    list_pause / with_list_pause: Duration;
    /// The pause before a failed list is requested again. Default: 30 s.
    list_back_off / with_list_back_off: Duration;
    /// The time [`Manager::fresh_catalog`](crate::Manager::fresh_catalog) waits for lists whose servers announced a
    /// change. Default: 5 s.
    list_wait / with_list_wait: Duration;
    /// The time changes are collected before a new catalogue is built and announced. A caller that reads the catalogue
    /// does not wait for that. Default: 50 ms.
    catalog_pause / with_catalog_pause: Duration;
    /// The number of events queued for a slow listener before it misses some. Default: 1024.
    queued_events / with_queued_events: usize;
    /// The number of unsolicited messages per second one server may send. Default: 64.
    messages_per_second / with_messages_per_second: u32;
    /// The maximum number of questions from all servers that wait for the user. Default: 32.
    queued_questions / with_queued_questions: usize;
    /// The maximum number of questions from one server that wait for the user. Default: 4.
    questions_per_server / with_questions_per_server: usize;
}

impl ManagerLimits {
    /// The policy for reconnecting lost servers.
    pub fn retry(&self) -> &RetryPolicy {
        &self.retry
    }

    /// Sets [`retry`](Self::retry).
    #[must_use]
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// The limits of each connection. Its connect and call timeouts follow from the ones here.
    pub fn client(&self) -> &mcp_client::ClientLimits {
        &self.client
    }

    /// Sets [`client`](Self::client).
    #[must_use]
    pub fn with_client(mut self, client: mcp_client::ClientLimits) -> Self {
        self.client = client;
        self
    }
}

impl Default for ManagerLimits {
    fn default() -> Self {
        Self {
            stdio_starts: 2,
            remote_starts: 5,
            connect_time: Duration::from_secs(30),
            call_idle_timeout: Duration::from_secs(120),
            calls_per_server: 8,
            idle_time: Duration::from_secs(30 * 60),
            list_time: Duration::from_secs(30),
            list_ttl: Duration::from_secs(5 * 60),
            shortest_list_ttl: Duration::from_secs(5),
            list_pause: Duration::from_secs(1),
            list_back_off: Duration::from_secs(30),
            list_wait: Duration::from_secs(5),
            catalog_pause: Duration::from_millis(50),
            queued_events: 1024,
            messages_per_second: 64,
            queued_questions: 32,
            questions_per_server: 4,
            retry: RetryPolicy::default(),
            client: mcp_client::ClientLimits::default(),
        }
    }
}
