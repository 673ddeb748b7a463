//! The bounds of a store in PostgreSQL.

use std::time::Duration;

/// The bounds of a [`PostgresStore`].
#[derive(Clone, Copy, Debug)]
pub struct PostgresLimits {
    pub(super) connections: usize,
    pub(super) page: u32,
    pub(super) row_bytes: usize,
    pub(super) patience: Duration,
}

impl Default for PostgresLimits {
    /// 16 connections, pages of 1000 rows, 64 MiB per row, 30 seconds for a database that restarts
    /// or other transactions that are in the way.
    fn default() -> Self {
        Self {
            connections: 16,
            page: 1000,
            row_bytes: 64 << 20,
            patience: Duration::from_secs(30),
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
}
