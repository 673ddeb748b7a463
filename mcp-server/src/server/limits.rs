//! ServerLimits on everything a client can make the server hold.

use std::time::Duration;

/// Declares each limit once: its default, how it is read and how it is set.
macro_rules! limits {
    ($($(#[$meta:meta])* $name:ident / $with:ident: $Type:ty = $default:expr;)*) => {
        /// The limits of a server.
        ///
        /// ```
        /// let limits = mcp_server::ServerLimits::default().with_sessions(100);
        /// assert_eq!(limits.sessions(), 100);
        /// ```
        #[derive(Clone, Debug)]
        pub struct ServerLimits { $($name: $Type,)* }

        impl Default for ServerLimits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl ServerLimits {$(
            $(#[$meta])*
            pub fn $name(&self) -> $Type {
                self.$name
            }

            #[doc = concat!("Sets [`", stringify!($name), "`](Self::", stringify!($name), ").")]
            #[must_use]
            pub fn $with(mut self, value: $Type) -> Self {
                self.$name = value;
                self
            }
        )*}
    };
}

limits! {
    /// Largest message from a client, in bytes. Default: 4 MiB.
    message_bytes / with_message_bytes: usize = 4 << 20;
    /// Deepest nesting of a message. Default: 64, at most 128.
    depth / with_depth: usize = 64;
    /// Messages in one batch (2025-03-26 only). Default: 64.
    batch_len / with_batch_len: usize = 64;
    /// Requests in flight on one connection or legacy session. Default: 256.
    in_flight / with_in_flight: usize = 256;
    /// Modern requests in flight at one HTTP endpoint, over all clients and beside subscriptions.
    /// Default: 4,096; beyond it, new ones are refused with status 503.
    requests / with_requests: usize = 4_096;
    /// Time a handler may take; it is dropped afterwards. Default: 10 minutes.
    request_time / with_request_time: Duration = Duration::from_secs(600);
    /// Time that running requests get once a client has closed its end. Default: 5 seconds.
    drain_time / with_drain_time: Duration = Duration::from_secs(5);
    /// Time a client may take to answer a question. Default: 5 minutes.
    answer_time / with_answer_time: Duration = Duration::from_secs(300);
    /// Questions that one request may have open. Default: 16.
    questions / with_questions: usize = 16;
    /// Bytes of notifications and responses queued for a slow reader. Default: 1 MiB; a response
    /// is never dropped.
    queue_bytes / with_queue_bytes: usize = 1 << 20;
    /// Largest `requestState` issued or accepted, in bytes. Default: 64 KiB.
    state_bytes / with_state_bytes: usize = 64 << 10;
    /// Lifetime of a `requestState`. Default: 1 hour.
    state_time / with_state_time: Duration = Duration::from_secs(3600);
    /// Calls that hold something while they wait for an answer between two rounds. Default: 1,000.
    parked_calls / with_parked_calls: usize = 1_000;
    /// Open subscriptions (modern era), in total. Default: 10,000.
    subscriptions / with_subscriptions: usize = 10_000;
    /// Resources one session or subscription may watch. Default: 1,000.
    watched_resources / with_watched_resources: usize = 1_000;
    /// HTTP sessions. Default: 10,000; beyond it, new ones are refused with status 503.
    sessions / with_sessions: usize = 10_000;
    /// Time after which an unused HTTP session ends. Default: 30 minutes.
    session_idle / with_session_idle: Duration = Duration::from_secs(1800);
    /// Finished event streams of one HTTP session that are kept for resumption. Default: 64.
    streams / with_streams: usize = 64;
    /// Events kept per stream for resumption. Default: 256.
    replay_events / with_replay_events: usize = 256;
    /// Time a client may take to send an HTTP request. Default: 30 seconds.
    read_time / with_read_time: Duration = Duration::from_secs(30);
    /// Tasks, running or kept. Default: 1,000.
    tasks / with_tasks: usize = 1_000;
    /// Time a task is kept at most. Default: 1 hour.
    task_time / with_task_time: Duration = Duration::from_secs(3600);
    /// The part of the sessions, requests, tasks, parked calls and subscriptions that one authenticated caller may hold, in
    /// percent. Default: 25; 100 lets one hold them all.
    caller_percent / with_caller_percent: usize = 25;
    /// Items on one page of a list. Default: 1,000.
    page_len / with_page_len: usize = 1_000;
}

impl ServerLimits {
    pub(crate) fn decoding(&self) -> mcp_jsonrpc::DecodeLimits {
        mcp_jsonrpc::DecodeLimits::default()
            .with_message_bytes(self.message_bytes)
            .with_depth(self.depth)
            .with_batch_len(self.batch_len)
    }
}
