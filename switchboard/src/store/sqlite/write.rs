//! Applies changes atomically.

use rusqlite::{Connection, TransactionBehavior, params};

use crate::store::change::Change;
use crate::store::error::StoreError;
use crate::store::id::{AssistantId, ConversationId, MessageId};
use crate::store::row::{ApprovedDefinition, Blob, Conversation, DefinitionKind, Message, Run};
use crate::store::sqlite::holder::Holders;
use crate::store::sqlite::table::{self, execute, failed};
use crate::store::sqlite::{leases, login, read};

/// Applies all changes in one transaction and returns the sequence numbers of appended events.
pub(super) fn commit(
    connection: &mut Connection,
    changes: &[Change],
    row_bytes: usize,
    holders: &mut Holders,
) -> Result<Vec<u64>, StoreError> {
    let leases = |change: &Change| matches!(change, Change::AcquireLease { .. });
    if changes.iter().any(leases) {
        holders.enter(connection)?;
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    let mut events = Vec::new();
    for change in changes {
        if let Some(refused) = leases::apply(&transaction, change, holders)? {
            // The commit is refused, but the challenge is stored.
            transaction.rollback().map_err(failed)?;
            refused.challenge(connection)?;
            return Err(StoreError::Leased);
        }
        if let Some(event) = apply(&transaction, change, row_bytes)? {
            events.push(event);
        }
    }
    transaction.commit().map_err(failed)?;
    Ok(events)
}

fn apply(
    connection: &Connection,
    change: &Change,
    row_bytes: usize,
) -> Result<Option<u64>, StoreError> {
    match change {
        Change::PutUser(row) => table::USERS.put(connection, row, row_bytes)?,
        Change::EditUser(id, edit) => login::edit_user(connection, id, edit)?,
        Change::Login(change) => login::apply(connection, change, row_bytes)?,
        Change::PutServer(row) => {
            let before = read::server(connection, &row.user_id, &row.id)?;
            table::SERVERS.put(connection, &row.next(before.as_ref())?, row_bytes)?;
            if before.is_some_and(|before| !row.has_endpoint_of(&before)) {
                let sql = "DELETE FROM approval_rules
                     WHERE user_id = ? AND server_id = ? AND decision = 'allow'";
                execute(
                    connection,
                    sql,
                    params![row.user_id.as_str(), row.id.as_str()],
                )?;
            }
            let sql =
                "DELETE FROM approved_definitions WHERE server_id = ? AND kind = 'auto_approved'
                 AND tool NOT IN (SELECT value FROM json_each(?))";
            let named = serde_json::to_string(&row.auto_approve_tools).unwrap_or_default();
            execute(connection, sql, params![row.id.as_str(), named])?;
            // Rules follow a server to its new name.
            let sql = "UPDATE approval_rules SET server = ?3 WHERE user_id = ?1 AND server_id = ?2";
            execute(
                connection,
                sql,
                params![row.user_id.as_str(), row.id.as_str(), row.name],
            )?;
        }
        Change::DeleteServer(user, id) => {
            if table::SERVERS.delete(connection, user, id.as_str())? > 0 {
                let sql = "DELETE FROM approval_rules WHERE user_id = ? AND server_id = ?";
                execute(connection, sql, params![user.as_str(), id.as_str()])?;
            }
        }
        Change::SawServer {
            id,
            transport,
            error,
        } => {
            let sql = "UPDATE mcp_servers SET transport_seen = coalesce(?2, transport_seen),
                 last_error = ?3 WHERE id = ?1";
            execute(connection, sql, params![id.as_str(), transport, error])?;
        }
        Change::PutServerTools(server, tools) => {
            let sql = "DELETE FROM server_tools WHERE server_id = ?";
            execute(connection, sql, [server.as_str()])?;
            for tool in tools {
                table::SERVER_TOOLS.put(connection, tool, row_bytes)?;
            }
        }
        Change::PutToken(row) => table::TOKENS.put(connection, row, row_bytes)?,
        Change::DeleteTokens(server) => {
            let sql = "DELETE FROM oauth_tokens WHERE server_id = ?";
            execute(connection, sql, [server.as_str()])?;
        }
        Change::PutAssistant(row) => table::ASSISTANTS.put(connection, row, row_bytes)?,
        Change::DeleteAssistant(user, id) => {
            table::ASSISTANTS.delete(connection, user, id.as_str())?;
        }
        Change::SetAssistantServers(assistant, servers) => {
            let sql = "DELETE FROM assistant_mcp_servers WHERE assistant_id = ?";
            execute(connection, sql, [assistant.as_str()])?;
            // Only servers of the assistant's own user can be chosen.
            let sql = "INSERT OR IGNORE INTO assistant_mcp_servers (assistant_id, mcp_server_id)
                 SELECT a.id, s.id FROM assistants a JOIN mcp_servers s USING (user_id)
                 WHERE a.id = ? AND s.id = ?";
            for server in servers {
                let chosen = execute(
                    connection,
                    sql,
                    params![assistant.as_str(), server.as_str()],
                )?;
                if chosen == 0 {
                    return Err(StoreError::Missing {
                        what: "choice of a server",
                    });
                }
            }
        }
        Change::PutConversation(row) => put_conversation(connection, row, row_bytes)?,
        Change::DeleteConversation(user, id) => {
            table::CONVERSATIONS.delete(connection, user, id.as_str())?;
        }
        Change::PutMessage(message) => put_message(connection, message, row_bytes)?,
        Change::ShowUpTo(conversation, seq) => show_up_to(connection, conversation, *seq)?,
        Change::AppendContent(id, text) => append_content(connection, id, text, row_bytes)?,
        Change::PutToolCall(row) => table::TOOL_CALLS.put(connection, row, row_bytes)?,
        Change::PutBlob(blob) => put_blob(connection, blob, row_bytes)?,
        Change::PutRule(row) => table::RULES.put(connection, row, row_bytes)?,
        Change::DeleteRule(user, id) => {
            table::RULES.delete(connection, user, id.as_str())?;
        }
        Change::PutDefinition(row) => put_definition(connection, row, row_bytes)?,
        Change::PutPending(row) => {
            table::PENDING.append(connection, row, row_bytes)?;
        }
        Change::Settle {
            id,
            state,
            answer,
            at,
        } => {
            let answer = answer
                .as_ref()
                .map(|answer| table::PENDING.json(answer))
                .transpose()?;
            let sql = "UPDATE pending_interactions SET state = ?, answer = ?, settled_at = ?
                 WHERE id = ? AND state = 'open'";
            let settled = execute(
                connection,
                sql,
                params![
                    state.settled_name(),
                    answer,
                    at.as_millis() as i64,
                    id.as_str()
                ],
            )?;
            if settled == 0 {
                return Err(StoreError::Conflict { what: "question" });
            }
        }
        Change::PutRun(run) => put_run(connection, run, row_bytes)?,
        // These are made by `leases`.
        Change::AcquireLease { .. } | Change::RenewLease(..) | Change::ReleaseLease(..) => {}
        Change::PutUsage(row) => table::USAGE.put(connection, row, row_bytes)?,
        Change::AppendEvent(event) => {
            return table::EVENTS.append(connection, event, row_bytes).map(Some);
        }
        Change::PruneEvents(user, keep) => {
            let kept = params![user.as_str(), keep];
            let sql = "INSERT INTO forgotten_events (user_id, seq) SELECT user_id, seq FROM events
                 WHERE user_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2
                 ON CONFLICT (user_id) DO UPDATE SET seq = excluded.seq";
            execute(connection, sql, kept)?;
            let sql = "DELETE FROM events WHERE user_id = ?1 AND seq <= (SELECT seq FROM events
                 WHERE user_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)";
            execute(connection, sql, kept)?;
        }
        Change::PutSetting(setting) => {
            setting.check()?;
            table::SETTINGS.put(connection, setting, row_bytes)?;
        }
        Change::AddSetting(setting) => {
            setting.check()?;
            table::SETTINGS.insert(connection, setting, row_bytes)?;
        }
        Change::DeleteSetting(user, key) => {
            let sql = "DELETE FROM settings WHERE user_id = ? AND key = ?";
            execute(connection, sql, params![user.as_str(), key])?;
        }
    }
    Ok(None)
}

/// Writes a conversation, which outlives the assistant and the conversation that it names.
fn put_conversation(
    connection: &Connection,
    row: &Conversation,
    row_bytes: usize,
) -> Result<(), StoreError> {
    let mut bare = row.clone();
    (bare.assistant_id, bare.parent) = (None, None);
    table::CONVERSATIONS.put(connection, &bare, row_bytes)?;
    let sql = "UPDATE conversations SET
             assistant_id = (SELECT id FROM assistants WHERE id = ?2),
             parent = (SELECT id FROM conversations WHERE id = ?3)
         WHERE id = ?1 AND (?2 IS NOT NULL OR ?3 IS NOT NULL)";
    let assistant = row.assistant_id.as_ref().map(AssistantId::as_str);
    let parent = row.parent.as_ref().map(ConversationId::as_str);
    execute(connection, sql, params![row.id.as_str(), assistant, parent]).map(drop)
}

fn put_message(
    connection: &Connection,
    message: &Message,
    row_bytes: usize,
) -> Result<(), StoreError> {
    table::MESSAGES.put(connection, message, row_bytes)?;
    let sql = "DELETE FROM message_chunks WHERE message_id = ?";
    execute(connection, sql, [message.id.as_str()])?;
    let sql = "DELETE FROM tool_calls WHERE message_id = ?";
    execute(connection, sql, [message.id.as_str()])?;
    for call in &message.tool_calls {
        table::TOOL_CALLS.put(connection, call, row_bytes)?;
    }
    Ok(())
}

/// Sets aside all messages but one and those that it follows.
fn show_up_to(
    connection: &Connection,
    conversation: &ConversationId,
    seq: u64,
) -> Result<(), StoreError> {
    let sql = "WITH RECURSIVE shown (seq) AS (
             SELECT CAST(?2 AS INTEGER)
             UNION
             SELECT m.follows FROM messages m JOIN shown s ON m.seq = s.seq
             WHERE m.conversation_id = ?1
         )
         UPDATE messages SET is_aside = 1 - is_aside WHERE conversation_id = ?1
             AND is_aside = (CASE WHEN seq IN (SELECT seq FROM shown) THEN 1 ELSE 0 END)";
    execute(connection, sql, params![conversation.as_str(), seq as i64]).map(drop)
}

/// Adds a piece to what a message says: nothing that was written before is written again.
fn append_content(
    connection: &Connection,
    id: &MessageId,
    text: &str,
    row_bytes: usize,
) -> Result<(), StoreError> {
    if text.len() > row_bytes {
        return Err(StoreError::TooBig { what: "content" });
    }
    let sql = "INSERT INTO message_chunks (message_id, number, text)
         SELECT id, 1 + COALESCE(
             (SELECT MAX(number) FROM message_chunks WHERE message_id = ?1), 0), ?2
         FROM messages WHERE id = ?1";
    match execute(connection, sql, params![id.as_str(), text])? {
        0 => Err(StoreError::Missing { what: "content" }),
        _ => Ok(()),
    }
}

fn put_blob(connection: &Connection, blob: &Blob, row_bytes: usize) -> Result<(), StoreError> {
    if blob.bytes.len() > row_bytes {
        return Err(StoreError::TooBig { what: "blob" });
    }
    connection
        .prepare_cached("INSERT INTO blobs (id, conversation_id, mime, bytes) VALUES (?, ?, ?, ?)")
        .and_then(|mut statement| {
            statement.execute(params![
                blob.id.as_str(),
                blob.conversation_id.as_str(),
                blob.mime,
                blob.bytes
            ])
        })
        .map(drop)
        .map_err(|error| table::BLOBS.failed(error))
}

/// Writes a run that is one revision ahead of the stored one.
fn put_run(connection: &Connection, run: &Run, row_bytes: usize) -> Result<(), StoreError> {
    let stored: Vec<i64> = connection
        .prepare_cached("SELECT revision FROM runs WHERE id = ?")
        .and_then(|mut statement| {
            let found = statement.query_map([run.id.as_str()], |row| row.get(0))?;
            found.collect()
        })
        .map_err(failed)?;
    let stored = stored.first().map_or(0, |revision| *revision as u64);
    if stored + 1 != run.revision {
        return Err(StoreError::Conflict { what: "run" });
    }
    table::RUNS.put(connection, run, row_bytes)
}

fn put_definition(
    connection: &Connection,
    row: &ApprovedDefinition,
    row_bytes: usize,
) -> Result<(), StoreError> {
    if row.kind == DefinitionKind::AutoApproved {
        let sql = "SELECT 1 FROM approved_definitions
             WHERE server_id = ? AND tool = ? AND kind = 'auto_approved'";
        let mut statement = connection.prepare_cached(sql).map_err(failed)?;
        let params = params![row.server_id.as_str(), row.tool];
        if statement.exists(params).map_err(failed)? {
            return Ok(());
        }
    }
    table::DEFINITIONS.put(connection, row, row_bytes)
}
