//! Connections and commits, which all clones of a store share.

use std::collections::BTreeSet;
use std::sync::Arc;

use deadpool_postgres::{Object, Pool, PoolError, Transaction};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use crate::store::change::Change;
use crate::store::error::StoreError;
use crate::store::postgres::connection::Statements;
use crate::store::postgres::limits::PostgresLimits;
use crate::store::postgres::listen::{self, Ear};
use crate::store::postgres::session::{Failure, Session};
use crate::store::postgres::tries::{FIRST_PAUSE, Tries, is_in_the_way};
use crate::store::statements;

/// What all clones of a store share.
pub(super) struct Shared {
    pub(super) pool: Pool,
    /// The database's address, without a password.
    pub(super) database: String,
    pub(super) limits: PostgresLimits,
    pub(super) ear: Arc<Ear>,
    /// Whether wake-ups arrived when the store was opened.
    pub(super) statements: Statements,
    pub(super) listener: AbortHandle,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl Shared {
    pub(super) fn tries(&self) -> Tries {
        Tries::new(self.limits.patience)
    }

    /// Whether a pool gives every transaction another connection.
    pub(super) fn is_pooled(&self) -> bool {
        self.statements == Statements::Unnamed
    }

    pub(super) async fn client(&self) -> Result<Object, Failure> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Closed => StoreError::Closed.into(),
            PoolError::Timeout(deadpool_postgres::TimeoutType::Create) => Failure::Silent,
            PoolError::Timeout(_) => StoreError::Busy.into(),
            other => StoreError::Failed(other.into()).into(),
        })
    }

    pub(super) fn session<'c, C>(&self, client: &'c C) -> Session<'c, C> {
        Session {
            client,
            row_bytes: self.limits.row_bytes,
            statements: self.statements,
        }
    }

    pub(super) fn page(&self, limit: u32) -> u32 {
        limit.min(self.limits.page)
    }

    /// Works on a connection, which is closed if the database does not answer, or takes no changes.
    pub(super) async fn work<T>(
        &self,
        work: impl AsyncFnOnce(&mut Object) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut client = self.client().await?;
        let done = timeout(self.limits.answer_time, work(&mut client)).await;
        let done = done.unwrap_or(Err(Failure::Silent));
        if matches!(done, Err(Failure::Silent | Failure::ReadOnly)) {
            drop(Object::take(client));
        }
        done
    }

    /// Whether the database takes changes. Each connection to one that does not is closed.
    pub(super) async fn takes_changes(&self) -> Result<bool, StoreError> {
        for _ in 0..=self.limits.connections {
            let asked = self.work(async |client| {
                let sql = "SELECT current_setting('transaction_read_only') = 'off'";
                let rows = self.session(&*client).query(sql, &[]).await?;
                match rows.first().map(|row| row.try_get(0)).transpose()? {
                    Some(true) => Ok(()),
                    _ => Err(Failure::ReadOnly),
                }
            });
            match asked.await {
                Ok(()) => return Ok(true),
                Err(Failure::ReadOnly) => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        Ok(false)
    }

    /// Makes changes in one transaction.
    pub(super) async fn transact<T>(
        &self,
        work: impl AsyncFnOnce(Session<'_, Transaction<'_>>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.work(async |client| {
            let transaction = self.begin(client).await?;
            let done = work(self.session(&transaction)).await?;
            transaction.commit().await?;
            Ok(done)
        })
        .await
    }

    /// Begins a transaction; its end is counted with it.
    async fn begin<'c>(&self, client: &'c mut Object) -> Result<Transaction<'c>, Failure> {
        statements::sent(3);
        let transaction = client.transaction().await?;
        transaction.batch_execute(&self.guard()).await?;
        Ok(transaction)
    }

    /// A process that hangs or is cut off within a transaction must not keep its rows locked for
    /// longer than its leases.
    fn guard(&self) -> String {
        let half = self.limits.lease_timeout.as_millis() / 2;
        format!("SET LOCAL idle_in_transaction_session_timeout = {half}")
    }

    /// Makes a commit, and signals its events.
    pub(super) async fn commit(&self, changes: &[Change]) -> Result<Vec<u64>, StoreError> {
        let mut tries = self.tries();
        let numbers = loop {
            match self.try_commit(changes).await {
                Ok(numbers) => break numbers,
                Err(failure) => tries.after(failure).await?,
            }
        };
        self.ear.signal.notify(changes);
        self.notify_others(changes).await;
        Ok(numbers)
    }

    async fn try_commit(&self, changes: &[Change]) -> Result<Vec<u64>, Failure> {
        // The transaction's id, once nothing is left but to commit it.
        let mut made: Option<(String, Vec<u64>)> = None;
        let attempt = self.work(async |client| {
            let transaction = self.begin(client).await?;
            let session = self.session(&transaction);
            let numbers = match session.apply_all(changes).await? {
                Ok(numbers) => numbers,
                Err(refused) => {
                    // The commit is refused, but the challenge is stored.
                    transaction.rollback().await?;
                    self.session(&*client).challenge(&refused).await?;
                    return Err(StoreError::Leased.into());
                }
            };
            let sql = "SELECT pg_current_xact_id()::TEXT";
            let rows = session.query(sql, &[]).await?;
            let id: Option<String> = rows.first().map(|row| row.try_get(0)).transpose()?;
            made = Some((id.unwrap_or_default(), numbers));
            transaction.commit().await.map_err(Failure::from)
        });
        match (attempt.await, made) {
            (Ok(()), made) => Ok(made.map(|(_, numbers)| numbers).unwrap_or_default()),
            (Err(failure), Some((id, numbers))) if failure.leaves_open() => {
                match self.was_committed(&id).await? {
                    true => Ok(numbers),
                    false => Err(failure),
                }
            }
            (Err(failure), _) => Err(failure),
        }
    }

    /// Whether a transaction whose connection was lost has been committed.
    async fn was_committed(&self, id: &str) -> Result<bool, Failure> {
        let mut tries = self.tries();
        loop {
            let attempt = self.work(async |client| {
                let sql = "SELECT pg_xact_status($1::TEXT::XID8)";
                let texts = self.session(&*client).query(sql, &[id.into()]).await?;
                let status: Option<Option<String>> =
                    texts.first().map(|row| row.try_get(0)).transpose()?;
                Ok(status.flatten())
            });
            match attempt.await {
                Ok(Some(status)) if status == "in progress" => {
                    if Instant::now() > tries.until {
                        return Err(StoreError::Busy.into());
                    }
                    tokio::time::sleep(FIRST_PAUSE).await;
                }
                Ok(status) => return Ok(status.as_deref() == Some("committed")),
                Err(failure) => tries.after(failure).await?,
            }
        }
    }

    /// Wakes other processes that show the events. It may fail: they look now and then anyway. Not
    /// part of the commit, since commits that notify wait for each other.
    async fn notify_others(&self, changes: &[Change]) {
        let appended = changes.iter().filter_map(|change| match change {
            Change::AppendEvent(event) => Some(listen::payload(
                &self.ear.holder,
                &event.user_id,
                event.conversation_id.as_ref(),
            )),
            _ => None,
        });
        let appended: BTreeSet<String> = appended.collect();
        if appended.is_empty() {
            return;
        }
        let notified = self.work(async |client| {
            let session = self.session(&*client);
            for payload in appended {
                let of = [listen::EVENTS.into(), payload.as_str().into()];
                session.execute("SELECT pg_notify($1, $2)", &of).await?;
            }
            Ok(())
        });
        let _ = notified.await;
    }
}

impl Failure {
    /// Whether a transaction that was to be committed may have been. A pool in between reports by a
    /// code of its own that it has lost the server, so only the codes of conflicts say that it was
    /// not.
    fn leaves_open(&self) -> bool {
        match self {
            Self::Silent => true,
            Self::Transient(error) => !is_in_the_way(error),
            Self::ReadOnly | Self::Final(_) => false,
        }
    }
}
