//! Acquires, renews and releases leases.

use crate::store::change::Change;
use crate::store::error::StoreError;
use crate::store::id::{ConversationId, HolderId, LeaseId};
use crate::store::lease::Lease;
use crate::store::postgres::connection::Connection;
use crate::store::postgres::session::{Failure, Session};
use crate::store::table;
use crate::store::timestamp::Timestamp;

/// A lease that another process has.
pub(super) struct Refused {
    conversation: ConversationId,
    lease: Lease,
}

impl<C: Connection> Session<'_, C> {
    /// Stores the challenge, unless the lease has changed hands meanwhile.
    pub(super) async fn challenge(&self, refused: &Refused) -> Result<(), Failure> {
        let sql = "UPDATE leases SET challenged_at = $3
             WHERE conversation_id = $1 AND id = $2 AND challenged_at IS DISTINCT FROM $3";
        let since = refused.lease.challenged_at;
        let of = [
            refused.conversation.as_str().into(),
            refused.lease.id.as_str().into(),
            since.map(|at| at.as_millis() as i64).into(),
        ];
        self.execute(sql, &of).await.map(drop)
    }

    /// Makes a change of a lease; others are none of its business. The lease's row stays locked
    /// until the transaction ends, so that a commit and a takeover wait for each other.
    pub(super) async fn change_lease(&self, change: &Change) -> Result<Option<Refused>, Failure> {
        let lost = StoreError::Conflict { what: "lease" };
        match change {
            Change::AcquireLease {
                conversation,
                id,
                holder,
                timeout,
                known,
            } => {
                let wanted = Lease::new(id.clone(), holder.clone());
                self.enter(holder, *timeout).await?;
                if !self.add_lease(conversation, &wanted).await? {
                    let stored = self.lease(conversation).await?;
                    // The machines' clocks may differ; the database has one.
                    let now = self.now().await?;
                    let is_dead = match &stored {
                        Some(lease) => self.is_dead(&lease.holder, holder, *timeout).await?,
                        None => true,
                    };
                    match Lease::acquire(stored.as_ref(), wanted, now, *timeout, |_| is_dead) {
                        Ok(lease) => self.put_lease(conversation, &lease).await?,
                        Err(lease) => {
                            let conversation = conversation.clone();
                            return Ok(Some(Refused {
                                conversation,
                                lease,
                            }));
                        }
                    }
                }
                if let Some((run, revision)) = known {
                    let sql = "SELECT id = $2 AND revision = $3 FROM runs
                         WHERE conversation_id = $1 ORDER BY seq DESC LIMIT 1";
                    let of = [
                        conversation.as_str().into(),
                        run.as_str().into(),
                        (*revision as i64).into(),
                    ];
                    let rows = self.query(sql, &of).await?;
                    let same = rows.first().map(|row| row.try_get(0)).transpose()?;
                    if same != Some(true) {
                        return Err(StoreError::Conflict { what: "run" }.into());
                    }
                }
            }
            Change::RenewLease(conversation, id) => {
                let stored = self.lease(conversation).await?;
                let renewed = Lease::renew(stored.as_ref(), id).ok_or(lost)?;
                if stored.as_ref() != Some(&renewed) {
                    self.put_lease(conversation, &renewed).await?;
                }
            }
            Change::ReleaseLease(conversation, id) => {
                let sql = "DELETE FROM leases WHERE conversation_id = $1 AND id = $2";
                let of = [conversation.as_str().into(), id.as_str().into()];
                if self.execute(sql, &of).await? == 0 {
                    return Err(lost.into());
                }
            }
            _ => {}
        }
        Ok(None)
    }

    /// The database's clock.
    async fn now(&self) -> Result<Timestamp, Failure> {
        let sql = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";
        let rows = self.query(sql, &[]).await?;
        let now: Option<i64> = rows.first().map(|row| row.try_get(0)).transpose()?;
        Ok(Timestamp::from_millis(now.unwrap_or_default() as u64))
    }

    /// The stored lease, locked.
    async fn lease(&self, of: &ConversationId) -> Result<Option<Lease>, Failure> {
        let sql = "SELECT id, holder, challenged_at FROM leases WHERE conversation_id = $1
             FOR UPDATE";
        let rows = self.query(sql, &[of.as_str().into()]).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let (id, holder): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let mut lease = Lease::new(LeaseId::new(id), HolderId::new(holder));
        let since: Option<i64> = row.try_get(2)?;
        lease.challenged_at = since.map(|at| Timestamp::from_millis(at as u64));
        Ok(Some(lease))
    }

    /// Adds a lease where there is none; whether there was none. Of two processes that want it at
    /// once, one waits here for the other's commit.
    async fn add_lease(&self, of: &ConversationId, lease: &Lease) -> Result<bool, Failure> {
        let sql = "INSERT INTO leases (conversation_id, id, holder) VALUES ($1, $2, $3)
             ON CONFLICT (conversation_id) DO NOTHING";
        let row = [
            of.as_str().into(),
            lease.id.as_str().into(),
            lease.holder.as_str().into(),
        ];
        Ok(self.write(&table::LEASES, sql, &row).await? > 0)
    }

    async fn put_lease(&self, of: &ConversationId, lease: &Lease) -> Result<(), Failure> {
        let sql = "INSERT INTO leases (conversation_id, id, holder, challenged_at)
             VALUES ($1, $2, $3, $4) ON CONFLICT (conversation_id) DO UPDATE SET
             id = excluded.id, holder = excluded.holder, challenged_at = excluded.challenged_at";
        let row = [
            of.as_str().into(),
            lease.id.as_str().into(),
            lease.holder.as_str().into(),
            lease.challenged_at.map(|at| at.as_millis() as i64).into(),
        ];
        self.write(&table::LEASES, sql, &row).await.map(drop)
    }
}
