//! A tool's call from its admission to its end: its place among the running calls, and its record.

use std::sync::Arc;
use std::time::Instant;

use mcp_server::Error;
use parking_lot::Mutex;

use crate::audit::{AuditLog, CallEnd, CallOutcome, CallRecord};
use crate::call::gate::Running;

/// A call that was admitted. It is held for as long as the call lives, between its rounds as well: one that is dropped
/// before its end is recorded was cancelled.
pub(crate) struct Admitted {
    log: Option<Arc<dyn AuditLog>>,
    began: Instant,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    place: Option<Running>,
    /// The record of its start, until its end is recorded.
    record: Option<CallRecord>,
}

impl Admitted {
    pub(crate) fn new(place: Running, log: Option<Arc<dyn AuditLog>>) -> Self {
        let open = Open {
            place: Some(place),
            record: None,
        };
        Self {
            log,
            began: Instant::now(),
            open: Mutex::new(open),
        }
    }

    /// Its start is recorded: its end will be as well.
    pub(crate) fn started(&self, record: &CallRecord) {
        let mut open = self.open.lock();
        open.record.get_or_insert_with(|| record.clone());
    }

    /// It is over; `end` is the outcome and the result's digest of a call that ran.
    pub(crate) fn over(&self, end: Option<(CallOutcome, Option<String>)>) {
        let Open { place, record } = std::mem::take(&mut *self.open.lock());
        drop(place);
        if let (Some(record), Some((outcome, result))) = (record, end) {
            self.end(record, outcome, result);
        }
    }

    fn end(&self, mut record: CallRecord, outcome: CallOutcome, result: Option<String>) {
        record.end = Some(CallEnd {
            outcome,
            result,
            duration: self.began.elapsed(),
        });
        record_end(self.log.as_deref(), &record);
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some(record) = self.open.get_mut().record.take() {
            self.end(record, CallOutcome::Cancelled, None);
        }
    }
}

/// Records that a call does not run, or that it starts.
pub(crate) fn record_start(log: Option<&dyn AuditLog>, record: &CallRecord) -> Result<(), Error> {
    let recorded = log.map_or(Ok(()), |log| log.record(record));
    recorded.map_err(|error| {
        tracing::error!(%error, "a call was not recorded");
        Error::internal("the call could not be recorded, so it was not made")
    })
}

/// Records the end of a call. It has run: its result is worth more than its record.
pub(crate) fn record_end(log: Option<&dyn AuditLog>, record: &CallRecord) {
    if let Some(Err(error)) = log.map(|log| log.record(record)) {
        tracing::error!(%error, call = record.call, "the end of a call was not recorded");
    }
}
