//! Every bound of a manager in one place.

use std::time::Duration;

use crate::server::schedule::RetryPolicy;

/// Getters and setters of a struct of settings, each declared once.
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

/// How much of everything a manager allows. All of it is bounded, always.
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
    /// How many programs are started at once: from the start until the server is ready, has failed,
    /// or its time to connect is up. The others wait for their turn. Default: 2.
    stdio_starts / with_stdio_starts: usize;
    /// How many remote servers are connected to at once, in the same sense. Default: 5.
    remote_starts / with_remote_starts: usize;
    /// How long connecting may take, and how long a call waits for its server to be connected,
    /// unless the server's configuration says otherwise. Default: 30 s.
    connect_time / with_connect_time: Duration;
    /// The idle timeout of a call: how long it may go without a response and without progress,
    /// unless the configuration of its server or tool says otherwise. Its deadline, in total, is
    /// ten times that. Default: 120 s.
    call_idle_timeout / with_call_idle_timeout: Duration;
    /// How many calls one server works on at once, where it may do several. Default: 8.
    calls_per_server / with_calls_per_server: u32;
    /// How long an unused server stays connected. Default: 30 min.
    idle_time / with_idle_time: Duration;
    /// How long one list may take. Default: 30 s.
    list_time / with_list_time: Duration;
    /// How long a list counts that its server neither announces changes of nor gives a time for.
    /// Default: 5 min.
    list_ttl / with_list_ttl: Duration;
    /// The shortest time a server may give for its lists. Default: 5 s.
    shortest_list_ttl / with_shortest_list_ttl: Duration;
    /// How long after a list was asked for it is asked for again at the earliest, however many
    /// changes are announced. Where they never end, it doubles, up to
    /// [`list_back_off`](Self::list_back_off). Default: 1 s.
    list_pause / with_list_pause: Duration;
    /// How long after a list failed it is asked for again. Default: 30 s.
    list_back_off / with_list_back_off: Duration;
    /// How long [`Manager::fresh_catalog`](crate::Manager::fresh_catalog) waits for lists whose
    /// servers announced a change. Default: 5 s.
    list_wait / with_list_wait: Duration;
    /// How long changes are gathered before a new catalogue is built and announced. A caller that
    /// asks for the catalogue does not wait for that. Default: 50 ms.
    catalog_pause / with_catalog_pause: Duration;
    /// How many events wait for a slow listener before it misses some. Default: 1024.
    queued_events / with_queued_events: usize;
    /// The number of messages per second that one server may send unasked. Default: 64.
    messages_per_second / with_messages_per_second: u32;
    /// How many questions of all servers wait for the user. Default: 32.
    queued_questions / with_queued_questions: usize;
    /// How many questions of one server wait for the user. Default: 4.
    questions_per_server / with_questions_per_server: usize;
}

impl ManagerLimits {
    /// How lost servers are tried again.
    pub fn retry(&self) -> &RetryPolicy {
        &self.retry
    }

    /// Sets [`retry`](Self::retry).
    #[must_use]
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// The limits of each connection. Its connect and call time follow from those here.
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
