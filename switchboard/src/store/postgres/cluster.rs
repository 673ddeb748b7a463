//! Processes that share the database: which are alive, what dead ones leave behind, and what they
//! ask of each other.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::watch;
use tokio_postgres::Row;

use crate::store::cluster::{Cluster, Orphan, RemoteCommand};
use crate::store::error::StoreError;
use crate::store::id::{CommandId, ConversationId, HolderId, LeaseId, UserId};
use crate::store::postgres::connection::Connection;
use crate::store::postgres::session::{Failure, Session, escaped, plain};
use crate::store::postgres::{PostgresStore, fetch, listen};
use crate::store::table::Field;

/// The database's clock.
pub(super) const NOW: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";

fn millis(time: Duration) -> Field {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX).into()
}

impl<C: Connection> Session<'_, C> {
    /// Makes a process known before its first heartbeat.
    pub(super) async fn enter(&self, holder: &HolderId, timeout: Duration) -> Result<(), Failure> {
        let sql = format!(
            "INSERT INTO processes (holder, since, beat_at, until)
             VALUES ($1, {NOW}, {NOW}, {NOW} + $2) ON CONFLICT (holder) DO NOTHING"
        );
        let of = [holder.as_str().into(), millis(timeout)];
        self.execute(&sql, &of).await.map(drop)
    }

    /// Whether a process has ended or is silent for too long. That is judged by a process which
    /// itself has sent heartbeats without a gap meanwhile.
    pub(super) async fn is_dead(
        &self,
        holder: &HolderId,
        judge: &HolderId,
        timeout: Duration,
    ) -> Result<bool, Failure> {
        let sql = format!(
            "SELECT NOT EXISTS (SELECT 1 FROM processes WHERE holder = $1)
                 OR (EXISTS (SELECT 1 FROM processes WHERE holder = $1 AND until < {NOW})
                     AND EXISTS (SELECT 1 FROM processes
                         WHERE holder = $2 AND since <= {NOW} - $3))"
        );
        let of = [
            holder.as_str().into(),
            judge.as_str().into(),
            millis(timeout),
        ];
        let rows = self.query(&sql, &of).await?;
        let dead = rows.first().map(|row| row.try_get(0)).transpose()?;
        Ok(dead.unwrap_or(false))
    }

    /// Acquires the leases of conversations that are driven by no living process. Those that this
    /// process has already stay as they are: a task of its own may have begun meanwhile.
    async fn claim(
        &self,
        holder: &HolderId,
        timeout: Duration,
        (users, driven): (&[UserId], &[ConversationId]),
        limit: u32,
    ) -> Result<Vec<Orphan>, Failure> {
        let list = |ids: &mut dyn Iterator<Item = &str>| {
            let ids = ids.map(|id| Value::String(escaped(id)));
            Field::Text(Value::from_iter(ids).to_string())
        };
        let of = [
            holder.as_str().into(),
            millis(timeout),
            list(&mut users.iter().map(UserId::as_str)),
            list(&mut driven.iter().map(ConversationId::as_str)),
            i64::from(limit).into(),
        ];
        // A run that another transaction moves on, or claims, is passed over.
        let sql = format!(
            "SELECT c.user_id, c.id, l.holder, l.deaths FROM runs r
             JOIN conversations c ON c.id = r.conversation_id
             LEFT JOIN leases l ON l.conversation_id = c.id
             LEFT JOIN processes p ON p.holder = l.holder
             WHERE r.finish IS NULL
                 AND c.user_id IN (SELECT jsonb_array_elements_text($3::TEXT::JSONB))
                 AND c.id NOT IN (SELECT jsonb_array_elements_text($4::TEXT::JSONB))
                 AND r.seq = (SELECT MAX(seq) FROM runs WHERE conversation_id = c.id)
                 AND CASE
                     WHEN l.holder IS NULL THEN NOT EXISTS (SELECT 1 FROM pending_interactions
                             WHERE conversation_id = c.id AND state = 'open')
                         OR EXISTS (SELECT 1 FROM tool_calls
                             WHERE message_id = r.message_id AND status IN ('invoking', 'queued'))
                     WHEN l.holder = $1 OR p.holder IS NULL THEN TRUE
                     ELSE p.until < {NOW} AND EXISTS (SELECT 1 FROM processes
                         WHERE holder = $1 AND since <= {NOW} - $2)
                 END
             ORDER BY r.seq LIMIT $5 FOR UPDATE OF r SKIP LOCKED"
        );
        let mut orphans = Vec::new();
        for row in self.query(&sql, &of).await? {
            let (user, conversation): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let before: Option<String> = row.try_get(2)?;
            let orphan = |deaths: i64| Orphan {
                user: UserId::new(plain(&user)),
                conversation: ConversationId::new(plain(&conversation)),
                deaths: deaths as u32,
            };
            if before.as_deref() == Some(holder.as_str()) {
                orphans.push(orphan(row.try_get(3)?));
                continue;
            }
            // A commit locks the lease before the run: whoever waited for it here, with the run locked, would
            // be waited for as well. What is passed over is found again.
            if before.is_some() && !self.lock_lease(&conversation).await? {
                continue;
            }
            let sql = "INSERT INTO leases (conversation_id, id, holder) VALUES ($1, $2, $3)
                 ON CONFLICT (conversation_id) DO UPDATE SET
                     id = excluded.id, holder = excluded.holder, challenged_at = NULL,
                     deaths = leases.deaths + (leases.holder <> excluded.holder)::INT
                 WHERE leases.holder = $4 RETURNING deaths";
            let of = [
                conversation.as_str().into(),
                LeaseId::fresh().as_str().into(),
                holder.as_str().into(),
                before.as_deref().into(),
            ];
            if let Some(taken) = self.query(sql, &of).await?.first() {
                orphans.push(orphan(taken.try_get(0)?));
            }
        }
        Ok(orphans)
    }

    /// Locks a lease, unless another transaction has locked it; whether it did.
    async fn lock_lease(&self, conversation: &str) -> Result<bool, Failure> {
        let sql = "SELECT 1 FROM leases WHERE conversation_id = $1 FOR UPDATE SKIP LOCKED";
        Ok(!self.query(sql, &[conversation.into()]).await?.is_empty())
    }

    async fn driver(&self, conversation: &ConversationId) -> Result<Option<HolderId>, Failure> {
        let sql = "SELECT holder FROM leases WHERE conversation_id = $1";
        let of = [conversation.as_str().into()];
        let found = self.texts(sql, &of, HolderId::new).await?;
        Ok(found.into_iter().next())
    }

    async fn send_command(&self, command: &RemoteCommand) -> Result<(), Failure> {
        let sql = format!(
            "INSERT INTO remote_commands
                 (id, user_id, conversation_id, sender, receiver, body, created_at)
             SELECT $1, $2, id, $4, $5, $6, {NOW} FROM conversations WHERE id = $3
             ON CONFLICT (id) DO NOTHING"
        );
        let of = [
            command.id.as_str().into(),
            command.user.as_str().into(),
            command.conversation.as_str().into(),
            command.sender.as_str().into(),
            command.receiver.as_str().into(),
            command.body.as_str().into(),
        ];
        self.execute(&sql, &of).await?;
        self.wake(&command.receiver).await
    }

    async fn take_commands(&self, receiver: &HolderId) -> Result<Vec<RemoteCommand>, Failure> {
        let sql = "UPDATE remote_commands SET taken = 1 WHERE receiver = $1 AND taken = 0
             RETURNING id, user_id, conversation_id, sender, receiver, body, seq";
        let mut rows = self.query(sql, &[receiver.as_str().into()]).await?;
        rows.sort_by_key(|row| row.get::<_, i64>(6));
        let command = |row: &Row| -> Result<RemoteCommand, tokio_postgres::Error> {
            let text = |place| row.try_get::<_, &str>(place).map(plain);
            Ok(RemoteCommand {
                id: CommandId::new(text(0)?),
                user: UserId::new(text(1)?),
                conversation: ConversationId::new(text(2)?),
                sender: HolderId::new(text(3)?),
                receiver: HolderId::new(text(4)?),
                body: text(5)?,
            })
        };
        let commands: Result<Vec<RemoteCommand>, _> = rows.iter().map(command).collect();
        Ok(commands?)
    }

    async fn answer_command(&self, command: &RemoteCommand, answer: &str) -> Result<(), Failure> {
        let sql = "UPDATE remote_commands SET answer = $2 WHERE id = $1";
        self.execute(sql, &[command.id.as_str().into(), answer.into()])
            .await?;
        self.wake(&command.sender).await
    }

    async fn command_answer(&self, id: &CommandId) -> Result<Option<String>, Failure> {
        let sql = "SELECT answer FROM remote_commands WHERE id = $1 AND answer IS NOT NULL";
        let found = self.texts(sql, &[id.as_str().into()], |text| text).await?;
        Ok(found.into_iter().next())
    }

    async fn forget_command(&self, id: &CommandId) -> Result<(), Failure> {
        let sql = "DELETE FROM remote_commands WHERE id = $1";
        self.execute(sql, &[id.as_str().into()]).await.map(drop)
    }

    async fn withdraw_command(&self, id: &CommandId) -> Result<bool, Failure> {
        let sql = "DELETE FROM remote_commands WHERE id = $1 AND taken = 0";
        Ok(self.execute(sql, &[id.as_str().into()]).await? > 0)
    }

    async fn is_over(&self, holder: &HolderId) -> Result<bool, Failure> {
        let sql = format!("SELECT 1 FROM processes WHERE holder = $1 AND until >= {NOW}");
        let alive = self.query(&sql, &[holder.as_str().into()]).await?;
        Ok(alive.is_empty())
    }

    /// Wakes a process.
    async fn wake(&self, holder: &HolderId) -> Result<(), Failure> {
        let of = [listen::MAIL.into(), holder.as_str().into()];
        self.execute("SELECT pg_notify($1, $2)", &of)
            .await
            .map(drop)
    }
}

#[async_trait]
impl Cluster for PostgresStore {
    async fn claim(
        &self,
        users: &[UserId],
        driven: &[ConversationId],
        limit: u32,
    ) -> Result<Vec<Orphan>, StoreError> {
        let shared = &self.shared;
        let timeout = shared.limits.lease_timeout;
        let of = (users, driven);
        let mut tries = shared.tries();
        loop {
            let attempt = shared.transact(async |session| {
                session.claim(&shared.ear.holder, timeout, of, limit).await
            });
            match attempt.await {
                Ok(found) => return Ok(found),
                Err(failure) => tries.after(failure).await?,
            }
        }
    }

    async fn driver(&self, conversation: &ConversationId) -> Result<Option<HolderId>, StoreError> {
        fetch!(self, driver(conversation))
    }

    async fn send(&self, command: &RemoteCommand) -> Result<(), StoreError> {
        fetch!(self, send_command(command))
    }

    async fn take(&self) -> Result<Vec<RemoteCommand>, StoreError> {
        fetch!(self, take_commands(&self.shared.ear.holder))
    }

    async fn answer(&self, command: &RemoteCommand, answer: &str) -> Result<(), StoreError> {
        fetch!(self, answer_command(command, answer))
    }

    async fn answer_to(&self, id: &CommandId) -> Result<Option<String>, StoreError> {
        fetch!(self, command_answer(id))
    }

    async fn forget(&self, id: &CommandId) -> Result<(), StoreError> {
        fetch!(self, forget_command(id))
    }

    async fn withdraw(&self, id: &CommandId) -> Result<bool, StoreError> {
        fetch!(self, withdraw_command(id))
    }

    async fn is_over(&self, holder: &HolderId) -> Result<bool, StoreError> {
        fetch!(self, is_over(holder))
    }

    async fn takes_changes(&self) -> Result<bool, StoreError> {
        self.shared.takes_changes().await
    }

    fn mail(&self) -> watch::Receiver<u64> {
        self.shared.ear.mail.subscribe()
    }

    async fn silence(&self) -> Option<&'static str> {
        self.shared.is_pooled().then_some(
            "The database does not deliver notifications, as behind PgBouncer's transaction \
             pooling: it is polled every second instead. Connect to PostgreSQL itself for less load.",
        )
    }
}
