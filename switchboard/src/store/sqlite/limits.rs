//! The bounds of a store in a file.

use std::time::Duration;

/// The bounds of a [`SqliteStore`](crate::store::SqliteStore).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub(super) queue: usize,
    pub(super) page: u32,
    pub(super) row_bytes: usize,
    pub(super) busy: Duration,
}

impl Default for Limits {
    /// 64 queued jobs, pages of 1000 rows, 64 MiB per row, ten seconds for another process to
    /// finish writing.
    fn default() -> Self {
        Self {
            queue: 64,
            page: 1000,
            row_bytes: 64 << 20,
            busy: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// Maximum number of queued jobs; further callers wait.
    #[must_use]
    pub fn with_queue(mut self, commands: usize) -> Self {
        self.queue = commands.max(1);
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

    /// How long to wait while another process writes.
    #[must_use]
    pub fn with_busy(mut self, patience: Duration) -> Self {
        self.busy = patience;
        self
    }
}
