//! Acquires, renews and releases leases.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::store::change::Change;
use crate::store::error::StoreError;
use crate::store::id::{ConversationId, HolderId, LeaseId};
use crate::store::lease::Lease;
use crate::store::sqlite::holder::Holders;
use crate::store::sqlite::table::{self, execute, failed};
use crate::store::timestamp::Timestamp;

/// A lease that another process has.
pub(super) struct Refused<'c> {
    conversation: &'c ConversationId,
    lease: Lease,
}

impl Refused<'_> {
    /// Stores the challenge, unless the lease has changed hands meanwhile.
    pub(super) fn challenge(&self, connection: &Connection) -> Result<(), StoreError> {
        let since = self.lease.challenged_at.map(|at| at.as_millis() as i64);
        let sql = "UPDATE leases SET challenged_at = ?3
             WHERE conversation_id = ?1 AND id = ?2 AND challenged_at IS NOT ?3";
        let of = params![self.conversation.as_str(), self.lease.id.as_str(), since];
        execute(connection, sql, of).map(drop)
    }
}

/// Makes a change of a lease; others are none of its business.
pub(super) fn apply<'c>(
    connection: &Connection,
    change: &'c Change,
    holders: &Holders,
) -> Result<Option<Refused<'c>>, StoreError> {
    let lost = StoreError::Conflict { what: "lease" };
    match change {
        Change::AcquireLease {
            conversation,
            id,
            holder,
            timeout,
            known,
        } => {
            let stored = find(connection, conversation)?;
            let wanted = Lease::new(id.clone(), holder.clone());
            let now = Timestamp::now();
            let is_dead = |holder: &HolderId| holders.is_dead(holder);
            match Lease::acquire(stored.as_ref(), wanted, now, *timeout, is_dead) {
                Ok(lease) => put(connection, conversation, &lease)?,
                Err(lease) => {
                    return Ok(Some(Refused {
                        conversation,
                        lease,
                    }));
                }
            }
            if let Some((run, revision)) = known {
                let sql = "SELECT id = ?2 AND revision = ?3 FROM runs
                     WHERE conversation_id = ?1 ORDER BY seq DESC LIMIT 1";
                let of = params![conversation.as_str(), run.as_str(), *revision as i64];
                let same: Option<bool> = connection
                    .prepare_cached(sql)
                    .and_then(|mut it| it.query_row(of, |row| row.get(0)).optional())
                    .map_err(failed)?;
                if same != Some(true) {
                    return Err(StoreError::Conflict { what: "run" });
                }
            }
        }
        Change::RenewLease(conversation, id) => {
            let stored = find(connection, conversation)?;
            let renewed = Lease::renew(stored.as_ref(), id).ok_or(lost)?;
            if stored.as_ref() != Some(&renewed) {
                put(connection, conversation, &renewed)?;
            }
        }
        Change::ReleaseLease(conversation, id) => {
            let sql = "DELETE FROM leases WHERE conversation_id = ? AND id = ?";
            if execute(connection, sql, [conversation.as_str(), id.as_str()])? == 0 {
                return Err(lost);
            }
        }
        _ => {}
    }
    Ok(None)
}

fn find(connection: &Connection, of: &ConversationId) -> Result<Option<Lease>, StoreError> {
    let sql = "SELECT id, holder, challenged_at FROM leases WHERE conversation_id = ?";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement
                .query_row([of.as_str()], |row| {
                    let id = LeaseId::new(row.get::<_, String>(0)?);
                    let mut lease = Lease::new(id, HolderId::new(row.get::<_, String>(1)?));
                    let since: Option<i64> = row.get(2)?;
                    lease.challenged_at = since.map(|at| Timestamp::from_millis(at as u64));
                    Ok(lease)
                })
                .optional()
        })
        .map_err(failed)
}

fn put(connection: &Connection, of: &ConversationId, lease: &Lease) -> Result<(), StoreError> {
    let sql = "INSERT INTO leases (conversation_id, id, holder, challenged_at)
         VALUES (?, ?, ?, ?) ON CONFLICT (conversation_id) DO UPDATE SET
         id = excluded.id, holder = excluded.holder, challenged_at = excluded.challenged_at";
    let since = lease.challenged_at.map(|at| at.as_millis() as i64);
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            let lease = params![of.as_str(), lease.id.as_str(), lease.holder.as_str(), since];
            statement.execute(lease)
        })
        .map(drop)
        .map_err(|error| table::LEASES.failed(error))
}
