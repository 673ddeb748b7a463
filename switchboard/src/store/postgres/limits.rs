//! The bounds of a store in PostgreSQL.

use std::time::Duration;

use crate::store::lease::LEASE_TIMEOUT;

/// The shortest lease: heartbeats must be able to arrive.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// The bounds of a [`PostgresStore`](super::PostgresStore).
#[derive(Clone, Copy, Debug)]
pub struct PostgresLimits {
    pub(super) connections: usize,
    pub(super) page: u32,
    pub(super) row_bytes: usize,
    pub(super) patience: Duration,
    pub(super) answer_time: Duration,
    pub(super) lease_timeout: Duration,
}

impl Default for PostgresLimits {
    /// 16 connections, pages of 1000 rows, 64 MiB per row, 10 seconds for an answer, 30 seconds for
    /// a database that restarts or other transactions that are in the way, and 20 seconds until a
    /// silent process is taken to be dead.
    fn default() -> Self {
        Self {
            connections: 16,
            page: 1000,
            row_bytes: 64 << 20,
            patience: Duration::from_secs(30),
            answer_time: Duration::from_secs(10),
            lease_timeout: LEASE_TIMEOUT,
        }
    }
}

impl PostgresLimits {
    /// How many connections are open at most, beside the one that listens.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// How many rows a page has at most.
    #[must_use]
    pub fn with_page(mut self, rows: u32) -> Self {
        self.page = rows;
        self
    }

    /// How big a row may be.
    #[must_use]
    pub fn with_row_bytes(mut self, bytes: usize) -> Self {
        self.row_bytes = bytes;
        self
    }

    /// For how long a read or a commit is tried again while the database cannot be reached or other
    /// transactions are in the way.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How long the database may take for the statements of a read or a commit, before its
    /// connection is closed.
    #[must_use]
    pub fn with_answer_time(mut self, time: Duration) -> Self {
        self.answer_time = time;
        self
    }

    /// How long this process may be silent before others take over what it drives, one second at
    /// least.
    #[must_use]
    pub fn with_lease_timeout(mut self, timeout: Duration) -> Self {
        self.lease_timeout = timeout.max(SHORTEST_LEASE);
        self
    }
}
