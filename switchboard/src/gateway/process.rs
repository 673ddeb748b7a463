//! Running gateways, as they make themselves known in the store.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::audit_file::RunningCall;
use crate::store::Timestamp;

/// How often a gateway says that it runs, if nothing else changes.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);
/// One that has not said so for this long is gone.
pub(crate) const GONE: Duration = Duration::from_secs(60);

/// A running gateway.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) started: Timestamp,
    /// When it last said that it runs.
    pub(crate) alive: Timestamp,
    /// `stdio` or `http`.
    pub(crate) transport: String,
    pub(crate) url: Option<String>,
    pub(crate) assistant: Option<String>,
    pub(crate) servers: Vec<ServedServer>,
    /// The sessions of HTTP clients; over stdio there is one client.
    pub(crate) sessions: usize,
    /// How many calls there were.
    pub(crate) calls: u64,
    pub(crate) running: Vec<RunningCall>,
}

/// A server behind a gateway.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct ServedServer {
    pub(crate) name: String,
    pub(crate) state: String,
    /// Why it is not served.
    pub(crate) problem: Option<String>,
}

impl Process {
    /// Whether it still runs, as far as is known.
    pub(crate) fn is_alive(&self, now: Timestamp) -> bool {
        now.since(self.alive) < GONE
    }

    /// Whether the store has to be reported: something has changed, or it is time.
    pub(crate) fn is_news(&self, reported: &Self) -> bool {
        let same = Self {
            alive: reported.alive,
            ..self.clone()
        };
        same != *reported || self.alive.since(reported.alive) >= HEARTBEAT
    }
}
