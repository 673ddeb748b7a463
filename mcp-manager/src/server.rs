//! The states of one server, as a pure state machine: inputs with their time go in, actions come out.

pub(crate) mod connect;
pub(crate) mod handle;
pub(crate) mod list_refresh;
mod lists;
pub(crate) mod schedule;
pub(crate) mod signal;
pub(crate) mod supervisor;

use std::fmt;
use std::time::Duration;

use crate::server::schedule::{RetryPolicy, Schedule, Try};

/// The number of consecutive lists that may go unanswered, with nothing else in flight, before the connection counts as
/// lost.
const SILENCES: u32 = 3;

/// The state of a server.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ServerState {
    /// It must not run: it is disabled in its configuration, or was closed.
    Disabled,
    /// It will be connected when it is its turn.
    Pending,
    /// It is being started or reached, and its lists are being requested.
    Connecting,
    /// It is connected.
    Connected,
    /// It is connected, but its lists cannot be fetched: its last listing remains valid.
    Degraded,
    /// It requires authorization that has not been given yet.
    NeedsAuth,
    /// It was lost, or could not be reached, and will be tried again.
    Reconnecting,
    /// It is not running because it is unused; the next call starts it.
    Idle,
    /// All attempts failed; only a manual retry restarts it.
    Failed,
}

/// The state at the granularity of many user interfaces.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Status {
    /// Not connected, as intended.
    Disconnected,
    /// Connecting.
    Connecting,
    /// Connected.
    Connected,
    /// Not connected, and action is required.
    Error,
}

impl ServerState {
    /// Every state.
    pub const ALL: &'static [Self] = &[
        Self::Disabled,
        Self::Pending,
        Self::Connecting,
        Self::Connected,
        Self::Degraded,
        Self::NeedsAuth,
        Self::Reconnecting,
        Self::Idle,
        Self::Failed,
    ];

    /// The state in one word: `needs_auth`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Pending => "pending",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Degraded => "degraded",
            Self::NeedsAuth => "needs_auth",
            Self::Reconnecting => "reconnecting",
            Self::Idle => "idle",
            Self::Failed => "failed",
        }
    }

    /// The coarse status.
    pub fn status(self) -> Status {
        match self {
            Self::Disabled | Self::Idle => Status::Disconnected,
            Self::Pending | Self::Connecting | Self::Reconnecting => Status::Connecting,
            Self::Connected | Self::Degraded => Status::Connected,
            Self::NeedsAuth | Self::Failed => Status::Error,
        }
    }

    /// Whether there is a connection for calls.
    pub fn is_connected(self) -> bool {
        self.status() == Status::Connected
    }
}

impl Status {
    /// The status in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An input of the state machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Input {
    /// It may run again on demand.
    Enable,
    /// A caller needs it. Does not start a disabled server.
    Wanted,
    /// It must run, with a fresh count of attempts.
    Retry,
    /// It must stop.
    Stop,
    /// It is its turn to connect.
    Turn,
    /// It is connected.
    Connected,
    /// It could not be connected.
    Refused(Refusal),
    /// The connection ended by itself.
    Lost,
    /// Its lists arrived.
    Listed,
    /// Its lists could not be fetched.
    ListFailed(ListFailure),
    /// The delay before the next attempt has expired.
    Due,
    /// It has been unused for the idle time.
    Unused,
}

/// The reason why a server could not be connected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Refusal {
    /// Another attempt may help, after this time if given.
    Passing(Option<Duration>),
    /// Another attempt will not help, unless it worked before.
    Lasting,
    /// It requires authorization.
    Auth,
}

/// The reason why a server's lists could not be fetched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ListFailure {
    /// It answered without a list, or it may be busy.
    Answered,
    /// It did not answer, although nothing else was in flight.
    Silent,
    /// It requires authorization.
    Auth,
}

/// An action of the state machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Action {
    /// Start to connect. Attempt 0 is the first connection, not a retry.
    Connect { attempt: u32 },
    /// Close the connection.
    Close,
    /// An attempt worked.
    Reconnected { attempt: u32 },
    /// An attempt failed.
    TryFailed { attempt: u32 },
    /// It has failed permanently.
    Removed,
}

/// One server.
#[derive(Debug)]
pub(crate) struct Machine {
    state: ServerState,
    schedule: Schedule,
    /// The number of the current attempt.
    attempt: u32,
    due: Option<Duration>,
    /// Whether it has ever worked since it last failed permanently.
    proven: bool,
    silences: u32,
}

impl Machine {
    /// Creates a server that is [`Disabled`](ServerState::Disabled) or [`Idle`](ServerState::Idle).
    pub(crate) fn new(state: ServerState, policy: RetryPolicy, seed: u64) -> Self {
        Self {
            state,
            schedule: Schedule::new(policy, seed),
            attempt: 0,
            due: None,
            proven: false,
            silences: 0,
        }
    }

    pub(crate) fn state(&self) -> ServerState {
        self.state
    }

    /// The time of [`Input::Due`].
    pub(crate) fn due(&self) -> Option<Duration> {
        self.due
    }

    pub(crate) fn max_attempts(&self) -> u32 {
        self.schedule.policy().tries()
    }

    /// Processes an input. An input that does not fit the state changes nothing: it is late.
    pub(crate) fn step(&mut self, input: Input, now: Duration) -> Vec<Action> {
        use ServerState::{
            Connected, Connecting, Degraded, Disabled, Failed, Idle, NeedsAuth, Pending,
            Reconnecting,
        };
        match (self.state, input) {
            (Disabled | Idle | Failed | NeedsAuth, Input::Retry) | (Idle, Input::Wanted) => {
                self.schedule.reset();
                self.attempt = 0;
                self.enter(Pending)
            }
            (Disabled, Input::Enable) => self.enter(Idle),
            (Reconnecting, Input::Retry) => {
                self.schedule.reset();
                self.enter(Pending)
            }
            (Connected | Degraded, Input::Retry) => {
                self.schedule.lost(now);
                self.schedule.reset();
                self.attempt = 0;
                self.enter(Pending);
                vec![Action::Close]
            }
            (Reconnecting, Input::Due) => self.enter(Pending),
            (Pending, Input::Turn) => {
                self.enter(Connecting);
                vec![Action::Connect {
                    attempt: self.attempt,
                }]
            }
            (Connecting, Input::Connected) => {
                self.enter(Connected);
                self.schedule.connected(now);
                self.proven = true;
                match std::mem::take(&mut self.attempt) {
                    0 => Vec::new(),
                    attempt => vec![Action::Reconnected { attempt }],
                }
            }
            (Connecting, Input::Refused(refusal)) => self.refused(refusal, now),
            (Connected | Degraded, Input::Lost) => self.lost(now),
            (Connected | Degraded, Input::ListFailed(failure)) => self.list_failed(failure, now),
            (Connected | Degraded, Input::Listed) => self.enter(Connected),
            (Connected | Degraded, Input::Unused) => {
                self.schedule.lost(now);
                self.enter(Idle);
                vec![Action::Close]
            }
            (Disabled, Input::Stop) => Vec::new(),
            (_, Input::Stop) => {
                self.schedule.lost(now);
                self.proven = false;
                self.enter(Disabled);
                vec![Action::Close]
            }
            _ => Vec::new(),
        }
    }

    fn enter(&mut self, state: ServerState) -> Vec<Action> {
        self.state = state;
        self.due = None;
        if state != ServerState::Degraded {
            self.silences = 0;
        }
        Vec::new()
    }

    fn refused(&mut self, refusal: Refusal, now: Duration) -> Vec<Action> {
        let mut actions = match self.attempt {
            0 => Vec::new(),
            attempt => vec![Action::TryFailed { attempt }],
        };
        let retry_after = match refusal {
            Refusal::Auth => {
                self.enter(ServerState::NeedsAuth);
                return actions;
            }
            Refusal::Lasting if !self.proven => {
                self.give_up(&mut actions);
                return actions;
            }
            Refusal::Lasting => None,
            Refusal::Passing(retry_after) => retry_after,
        };
        self.try_again(now, retry_after, &mut actions);
        actions
    }

    fn lost(&mut self, now: Duration) -> Vec<Action> {
        let mut actions = vec![Action::Close];
        self.schedule.lost(now);
        self.try_again(now, None, &mut actions);
        actions
    }

    fn list_failed(&mut self, failure: ListFailure, now: Duration) -> Vec<Action> {
        match failure {
            ListFailure::Auth => {
                self.schedule.lost(now);
                self.enter(ServerState::NeedsAuth);
                return vec![Action::Close];
            }
            ListFailure::Answered => self.silences = 0,
            ListFailure::Silent => self.silences += 1,
        }
        if self.silences >= SILENCES {
            return self.lost(now);
        }
        self.enter(ServerState::Degraded)
    }

    fn try_again(&mut self, now: Duration, after: Option<Duration>, actions: &mut Vec<Action>) {
        match self.schedule.next(now, after) {
            Some(Try { number, at }) => {
                self.enter(ServerState::Reconnecting);
                self.attempt = number;
                self.due = Some(at);
            }
            None => self.give_up(actions),
        }
    }

    fn give_up(&mut self, actions: &mut Vec<Action>) {
        self.enter(ServerState::Failed);
        self.proven = false;
        actions.push(Action::Removed);
    }
}

#[cfg(test)]
mod tests;
