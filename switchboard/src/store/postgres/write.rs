//! Applies changes within one transaction.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::store::change::Change;
use crate::store::error::StoreError;
use crate::store::id::{AssistantId, ConversationId, MessageId};
use crate::store::postgres::connection::Connection;
use crate::store::postgres::leases::Refused;
use crate::store::postgres::session::{Failure, Session, escaped};
use crate::store::row::{
    ApprovedDefinition, Blob, Conversation, DefinitionKind, Message, NewEvent, Run, Server,
};
use crate::store::table::{self, Field};

type Done<T> = Result<T, Failure>;

impl<C: Connection> Session<'_, C> {
    /// Applies all changes and returns the numbers of appended events, or the lease that another
    /// process has.
    pub(super) async fn apply_all(&self, changes: &[Change]) -> Done<Result<Vec<u64>, Refused>> {
        let mut events = Vec::new();
        for change in changes {
            if let Some(refused) = self.change_lease(change).await? {
                return Ok(Err(refused));
            }
            match change {
                Change::AppendEvent(event) => events.push(event),
                change => self.apply(change).await?,
            }
        }
        self.append_events(&events).await.map(Ok)
    }

    /// Appends events last, each user's under a lock that the commit releases: a reader that has
    /// seen a number never finds a smaller one later.
    async fn append_events(&self, events: &[&NewEvent]) -> Done<Vec<u64>> {
        let users: BTreeSet<&str> = events.iter().map(|event| event.user_id.as_str()).collect();
        for user in users {
            let sql = "SELECT pg_advisory_xact_lock(hashtextextended($1, 7377))";
            self.query(sql, &[user.into()]).await?;
        }
        let mut numbers = Vec::with_capacity(events.len());
        for event in events {
            numbers.push(self.append(&table::EVENTS, *event).await?);
        }
        Ok(numbers)
    }

    async fn apply(&self, change: &Change) -> Done<()> {
        match change {
            Change::PutUser(row) => self.put(&table::USERS, row).await?,
            Change::EditUser(id, edit) => self.edit_user(id, edit).await?,
            Change::Login(change) => self.change_login(change).await?,
            Change::PutServer(row) => self.put_server(row).await?,
            Change::DeleteServer(user, id) => {
                if self.delete(&table::SERVERS, user, id.as_str()).await? > 0 {
                    let sql = "DELETE FROM approval_rules WHERE user_id = $1 AND server_id = $2";
                    self.execute(sql, &[user.as_str().into(), id.as_str().into()])
                        .await?;
                }
            }
            Change::SawServer {
                id,
                transport,
                error,
            } => {
                let sql = "UPDATE mcp_servers SET
                     transport_seen = COALESCE($2, transport_seen), last_error = $3 WHERE id = $1";
                let of = [
                    id.as_str().into(),
                    transport.as_deref().into(),
                    error.as_deref().into(),
                ];
                self.execute(sql, &of).await?;
            }
            Change::PutServerTools(server, tools) => {
                let sql = "DELETE FROM server_tools WHERE server_id = $1";
                self.execute(sql, &[server.as_str().into()]).await?;
                for tool in tools {
                    self.put(&table::SERVER_TOOLS, tool).await?;
                }
            }
            Change::PutToken(row) => self.put(&table::TOKENS, row).await?,
            Change::DeleteTokens(server) => {
                let sql = "DELETE FROM oauth_tokens WHERE server_id = $1";
                self.execute(sql, &[server.as_str().into()]).await?;
            }
            Change::PutAssistant(row) => self.put(&table::ASSISTANTS, row).await?,
            Change::DeleteAssistant(user, id) => {
                self.delete(&table::ASSISTANTS, user, id.as_str()).await?;
            }
            Change::SetAssistantServers(assistant, servers) => {
                let sql = "DELETE FROM assistant_mcp_servers WHERE assistant_id = $1";
                self.execute(sql, &[assistant.as_str().into()]).await?;
                // Only servers of the assistant's own user can be chosen.
                let sql = "INSERT INTO assistant_mcp_servers (assistant_id, mcp_server_id)
                     SELECT a.id, s.id FROM assistants a JOIN mcp_servers s USING (user_id)
                     WHERE a.id = $1 AND s.id = $2 ON CONFLICT DO NOTHING";
                let distinct: BTreeSet<&str> = servers.iter().map(|id| id.as_str()).collect();
                for server in distinct {
                    let of = [assistant.as_str().into(), server.into()];
                    if self.execute(sql, &of).await? == 0 {
                        let what = "choice of a server";
                        return Err(StoreError::Missing { what }.into());
                    }
                }
            }
            Change::PutConversation(row) => self.put_conversation(row).await?,
            Change::DeleteConversation(user, id) => {
                self.delete(&table::CONVERSATIONS, user, id.as_str())
                    .await?;
            }
            Change::PutMessage(message) => self.put_message(message).await?,
            Change::ShowUpTo(conversation, seq) => self.show_up_to(conversation, *seq).await?,
            Change::AppendContent(id, text) => self.append_content(id, text).await?,
            Change::PutToolCall(row) => self.put(&table::TOOL_CALLS, row).await?,
            Change::PutBlob(blob) => self.put_blob(blob).await?,
            Change::PutRule(row) => self.put(&table::RULES, row).await?,
            Change::DeleteRule(user, id) => {
                self.delete(&table::RULES, user, id.as_str()).await?;
            }
            Change::PutDefinition(row) => self.put_definition(row).await?,
            Change::PutPending(row) => self.insert(&table::PENDING, row).await?,
            Change::Settle {
                id,
                state,
                answer,
                at,
            } => {
                let answer = answer.as_ref().map(|answer| table::PENDING.json(answer));
                let sql = "UPDATE pending_interactions SET state = $1, answer = $2, settled_at = $3
                     WHERE id = $4 AND state = 'open'";
                let of = [
                    state.settled_name().into(),
                    answer.transpose()?.as_deref().into(),
                    (at.as_millis() as i64).into(),
                    id.as_str().into(),
                ];
                if self.execute(sql, &of).await? == 0 {
                    return Err(StoreError::Conflict { what: "question" }.into());
                }
            }
            Change::PutRun(run) => self.put_run(run).await?,
            // These are made by `leases`, and by `append_events`.
            Change::AcquireLease { .. }
            | Change::RenewLease(..)
            | Change::ReleaseLease(..)
            | Change::AppendEvent(_) => {}
            Change::PutUsage(row) => self.put(&table::USAGE, row).await?,
            Change::PruneEvents(user, keep) => {
                let kept = [user.as_str().into(), i64::from(*keep).into()];
                let sql = "INSERT INTO forgotten_events (user_id, seq)
                     SELECT user_id, seq FROM events WHERE user_id = $1
                     ORDER BY seq DESC LIMIT 1 OFFSET $2
                     ON CONFLICT (user_id) DO UPDATE SET
                     seq = GREATEST(forgotten_events.seq, excluded.seq)";
                self.execute(sql, &kept).await?;
                let sql = "DELETE FROM events WHERE user_id = $1 AND seq <= (SELECT seq FROM events
                     WHERE user_id = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)";
                self.execute(sql, &kept).await?;
            }
            Change::PutSetting(setting) => {
                setting.check()?;
                self.put(&table::SETTINGS, setting).await?;
            }
            Change::AddSetting(setting) => {
                setting.check()?;
                self.insert(&table::SETTINGS, setting).await?;
            }
            Change::DeleteSetting(user, key) => {
                let sql = "DELETE FROM settings WHERE user_id = $1 AND key = $2";
                let of = [user.as_str().into(), key.as_str().into()];
                self.execute(sql, &of).await?;
            }
        }
        Ok(())
    }

    async fn put_server(&self, row: &Server) -> Done<()> {
        let of: [Field; 2] = [row.user_id.as_str().into(), row.id.as_str().into()];
        let sql = "SELECT * FROM mcp_servers WHERE user_id = $1 AND id = $2 FOR UPDATE";
        let before: Option<Server> = self.row(&table::SERVERS, sql, &of).await?;
        let next = row.next(before.as_ref())?;
        match before {
            Some(_) => self.put(&table::SERVERS, &next).await?,
            // Another process may just be adding the same one.
            None => self.insert(&table::SERVERS, &next).await?,
        }
        if before.is_some_and(|before| !row.has_endpoint_of(&before)) {
            let sql = "DELETE FROM approval_rules
                 WHERE user_id = $1 AND server_id = $2 AND decision = 'allow'";
            self.execute(sql, &of).await?;
        }
        let named = row.auto_approve_tools.iter().map(|name| escaped(name));
        let named = Value::from_iter(named.map(Value::String)).to_string();
        let sql = "DELETE FROM approved_definitions WHERE server_id = $1 AND kind = 'auto_approved'
             AND tool NOT IN (SELECT jsonb_array_elements_text($2::TEXT::JSONB))";
        self.execute(sql, &[row.id.as_str().into(), named.as_str().into()])
            .await?;
        // Rules follow a server to its new name.
        let sql = "UPDATE approval_rules SET server = $3 WHERE user_id = $1 AND server_id = $2";
        let [user, id] = of;
        self.execute(sql, &[user, id, row.name.as_str().into()])
            .await
            .map(drop)
    }

    /// Writes a conversation, which outlives the assistant and the conversation that it names.
    async fn put_conversation(&self, row: &Conversation) -> Done<()> {
        let mut bare = row.clone();
        (bare.assistant_id, bare.parent) = (None, None);
        self.put(&table::CONVERSATIONS, &bare).await?;
        let sql = "UPDATE conversations SET
                 assistant_id = (SELECT id FROM assistants WHERE id = $2),
                 parent = (SELECT id FROM conversations WHERE id = $3)
             WHERE id = $1 AND ($2::TEXT IS NOT NULL OR $3::TEXT IS NOT NULL)";
        let of = [
            row.id.as_str().into(),
            row.assistant_id.as_ref().map(AssistantId::as_str).into(),
            row.parent.as_ref().map(ConversationId::as_str).into(),
        ];
        self.execute(sql, &of).await.map(drop)
    }

    async fn put_message(&self, message: &Message) -> Done<()> {
        self.put(&table::MESSAGES, message).await?;
        let of = [message.id.as_str().into()];
        let sql = "DELETE FROM message_chunks WHERE message_id = $1";
        self.execute(sql, &of).await?;
        let sql = "DELETE FROM tool_calls WHERE message_id = $1";
        self.execute(sql, &of).await?;
        for call in &message.tool_calls {
            self.put(&table::TOOL_CALLS, call).await?;
        }
        Ok(())
    }

    /// Sets aside all messages but one and those that it follows.
    async fn show_up_to(&self, conversation: &ConversationId, seq: u64) -> Done<()> {
        let sql = "WITH RECURSIVE shown (seq) AS (
                 SELECT $2::BIGINT
                 UNION
                 SELECT m.follows FROM messages m JOIN shown s ON m.seq = s.seq
                 WHERE m.conversation_id = $1
             )
             UPDATE messages SET is_aside = 1 - is_aside WHERE conversation_id = $1
                 AND is_aside = (CASE WHEN seq IN (SELECT seq FROM shown) THEN 1 ELSE 0 END)";
        let of = [conversation.as_str().into(), (seq as i64).into()];
        self.execute(sql, &of).await.map(drop)
    }

    /// Adds a piece to what a message says: nothing that was written before is written again.
    async fn append_content(&self, id: &MessageId, text: &str) -> Done<()> {
        if text.len() > self.row_bytes {
            return Err(StoreError::TooBig { what: "content" }.into());
        }
        let sql = "INSERT INTO message_chunks (message_id, number, text)
             SELECT id, 1 + COALESCE(
                 (SELECT MAX(number) FROM message_chunks WHERE message_id = $1), 0), $2
             FROM messages WHERE id = $1";
        let of = [id.as_str().into(), text.into()];
        match self.write(&table::MESSAGES, sql, &of).await? {
            0 => Err(StoreError::Missing { what: "content" }.into()),
            _ => Ok(()),
        }
    }

    async fn put_blob(&self, blob: &Blob) -> Done<()> {
        if blob.bytes.len() > self.row_bytes {
            return Err(StoreError::TooBig { what: "blob" }.into());
        }
        let sql = "INSERT INTO blobs (id, conversation_id, mime, bytes) VALUES ($1, $2, $3, $4)";
        let row = [
            blob.id.as_str().into(),
            blob.conversation_id.as_str().into(),
            blob.mime.as_str().into(),
            Field::Bytes(blob.bytes.clone()),
        ];
        self.write(&table::BLOBS, sql, &row).await.map(drop)
    }

    /// Writes a run that is one revision ahead of the stored one, whose row is locked meanwhile.
    async fn put_run(&self, run: &Run) -> Done<()> {
        if run.revision == 1 {
            return self.insert(&table::RUNS, run).await;
        }
        let sql = "SELECT revision FROM runs WHERE id = $1 FOR UPDATE";
        let rows = self.query(sql, &[run.id.as_str().into()]).await?;
        let stored: Option<i64> = rows.first().map(|row| row.try_get(0)).transpose()?;
        if stored.map(|revision| revision as u64 + 1) != Some(run.revision) {
            return Err(StoreError::Conflict { what: "run" }.into());
        }
        self.put(&table::RUNS, run).await
    }

    async fn put_definition(&self, row: &ApprovedDefinition) -> Done<()> {
        if row.kind == DefinitionKind::AutoApproved {
            let sql = "SELECT 1 FROM approved_definitions
                 WHERE server_id = $1 AND tool = $2 AND kind = 'auto_approved'";
            let of = [row.server_id.as_str().into(), row.tool.as_str().into()];
            if !self.query(sql, &of).await?.is_empty() {
                return Ok(());
            }
        }
        self.put(&table::DEFINITIONS, row).await
    }
}
