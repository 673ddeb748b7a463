//! The limits of a client.

use std::time::Duration;

/// The limits of a client. Everything is bounded.
///
/// ```
/// use std::time::Duration;
///
/// let limits = mcp_client::ClientLimits::default()
///     .with_call_idle_timeout(Duration::from_secs(30))
///     .with_list_pages(10);
/// assert_eq!(limits.list_pages(), 10);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientLimits {
    connect_timeout: Duration,
    probe_timeout: Duration,
    call_idle_timeout: Duration,
    call_deadline: Option<Duration>,
    input_timeout: Duration,
    calls_in_flight: usize,
    questions: usize,
    queued_events: usize,
    queued_responses: usize,
    rounds: u32,
    list_pages: usize,
    list_items: usize,
    list_bytes: usize,
    list_timeout: Duration,
    task_timeout: Duration,
    resubscribe_attempts: u32,
}

/// Declares the getter and the setter of each limit.
macro_rules! limits {
    ($($(#[$meta:meta])* $name:ident / $with:ident: $Type:ty;)*) => {
        impl ClientLimits {$(
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

limits! {
    /// The total time to connect: start or dial, negotiate, handshake. Default: 30 s.
    connect_timeout / with_connect_timeout: Duration;
    /// The time a server on a pipe may leave the first `server/discover` unanswered before it is restarted for
    /// `initialize`; at most half of [`connect_timeout`](Self::connect_timeout). Only used with
    /// [`EraMode::PreferModern`](crate::EraMode::PreferModern). Default: 5 s.
    probe_timeout / with_probe_timeout: Duration;
    /// The idle timeout of a call: the time without a response or progress. Default: 120 s.
    call_idle_timeout / with_call_idle_timeout: Duration;
    /// The time a person has to answer one server-to-client request; after that it counts as cancelled. The clock of
    /// calls is paused meanwhile. Default: 15 min.
    input_timeout / with_input_timeout: Duration;
    /// The maximum number of calls in flight; further ones wait. Default: 4096.
    calls_in_flight / with_calls_in_flight: usize;
    /// The maximum number of server-to-client requests open at the same time, or in one round of a call; further ones
    /// are rejected. Default: 16.
    questions / with_questions: usize;
    /// The maximum number of events queued for the event handler; beyond that they are merged, or dropped and counted.
    /// Default: 1024.
    queued_events / with_queued_events: usize;
    /// The maximum number of responses to the server queued for sending; beyond that they are dropped. Default: 1024.
    queued_responses / with_queued_responses: usize;
    /// The maximum number of requests for input in one call. Default: 10.
    rounds / with_rounds: u32;
    /// The maximum number of pages of one list. Default: 100.
    list_pages / with_list_pages: usize;
    /// The maximum number of items of one list. Default: 2048.
    list_items / with_list_items: usize;
    /// The maximum number of bytes of one list, all pages together. Default: 5 MiB.
    list_bytes / with_list_bytes: usize;
    /// The time limit for the further pages of one list. Default: 30 s.
    list_timeout / with_list_timeout: Duration;
    /// The time limit for one wait for a task. Default: 1 h.
    task_timeout / with_task_timeout: Duration;
    /// The maximum number of consecutive attempts to re-establish a lost subscription, before it ends with the last
    /// error. Default: 8, in about two minutes.
    resubscribe_attempts / with_resubscribe_attempts: u32;
}

impl ClientLimits {
    /// The deadline of a call: its total time limit, regardless of progress. Default: ten times
    /// [`call_idle_timeout`](Self::call_idle_timeout).
    pub fn call_deadline(&self) -> Duration {
        self.call_deadline
            .unwrap_or(self.call_idle_timeout.saturating_mul(10))
    }

    /// Sets [`call_deadline`](Self::call_deadline).
    #[must_use]
    pub fn with_call_deadline(mut self, deadline: Duration) -> Self {
        self.call_deadline = Some(deadline);
        self
    }
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            probe_timeout: Duration::from_secs(5),
            call_idle_timeout: Duration::from_secs(120),
            call_deadline: None,
            input_timeout: Duration::from_secs(15 * 60),
            calls_in_flight: 4096,
            questions: 16,
            queued_events: 1024,
            queued_responses: 1024,
            rounds: 10,
            list_pages: 100,
            list_items: 2048,
            list_bytes: 5 << 20,
            list_timeout: Duration::from_secs(30),
            task_timeout: Duration::from_secs(60 * 60),
            resubscribe_attempts: 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_what_is_documented() {
        let limits = ClientLimits::default();
        assert_eq!(limits.connect_timeout(), Duration::from_secs(30));
        assert_eq!(limits.call_idle_timeout(), Duration::from_secs(120));
        assert_eq!(limits.call_deadline(), Duration::from_secs(1200));
        assert_eq!(limits.list_pages(), 100);
        assert_eq!(limits.list_items(), 2048);
        assert_eq!(limits.list_bytes(), 5 * 1024 * 1024);
        assert_eq!(limits.list_timeout(), Duration::from_secs(30));
    }

    #[test]
    fn a_deadline_is_ten_times_the_idle_timeout_unless_it_is_set() {
        let second = Duration::from_secs(1);
        let limits = ClientLimits::default().with_call_idle_timeout(second);
        assert_eq!(limits.call_deadline(), 10 * second);
        let limits = limits.with_call_deadline(3 * second);
        assert_eq!(limits.call_deadline(), 3 * second);
    }
}
