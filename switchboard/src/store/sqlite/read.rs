//! Queries.

use std::fmt::Write as _;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::store::Span;
use crate::store::error::StoreError;
use crate::store::id::{
    AssistantId, BlobId, ConversationId, MessageId, PendingId, ServerId, UserId,
};
use crate::store::row::{
    ApprovedDefinition, Assistant, Blob, Conversation, Event, EventBounds, Message, MessagePlace,
    Pending, Rule, Run, Server, ServerTool, Setting, Snapshot, Standing, TokenRef, UsageTotal,
    User,
};
use crate::store::search::SearchWords;
use crate::store::sqlite::table::{self, failed};
use crate::store::timestamp::Timestamp;

type Found<T> = Result<T, StoreError>;

pub(super) fn users(connection: &Connection) -> Found<Vec<User>> {
    table::USERS.rows(connection, "SELECT * FROM users ORDER BY id", [])
}

pub(super) fn servers(connection: &Connection, user: &UserId) -> Found<Vec<Server>> {
    let sql = "SELECT * FROM mcp_servers WHERE user_id = ? ORDER BY sort, name";
    table::SERVERS.rows(connection, sql, [user.as_str()])
}

pub(super) fn server(
    connection: &Connection,
    user: &UserId,
    id: &ServerId,
) -> Found<Option<Server>> {
    let sql = "SELECT * FROM mcp_servers WHERE user_id = ? AND id = ?";
    table::SERVERS.row(connection, sql, [user.as_str(), id.as_str()])
}

pub(super) fn server_tools(connection: &Connection, server: &ServerId) -> Found<Vec<ServerTool>> {
    let sql = "SELECT * FROM server_tools WHERE server_id = ? ORDER BY name";
    table::SERVER_TOOLS.rows(connection, sql, [server.as_str()])
}

pub(super) fn tokens(connection: &Connection, server: &ServerId) -> Found<Vec<TokenRef>> {
    let sql = "SELECT * FROM oauth_tokens WHERE server_id = ? ORDER BY issuer";
    table::TOKENS.rows(connection, sql, [server.as_str()])
}

pub(super) fn assistants(connection: &Connection, user: &UserId) -> Found<Vec<Assistant>> {
    let sql = "SELECT * FROM assistants WHERE user_id = ? ORDER BY name";
    table::ASSISTANTS.rows(connection, sql, [user.as_str()])
}

pub(super) fn assistant_servers(
    connection: &Connection,
    assistant: &AssistantId,
) -> Found<Vec<ServerId>> {
    let sql = "SELECT s.id FROM assistant_mcp_servers a
         JOIN mcp_servers s ON s.id = a.mcp_server_id
         WHERE a.assistant_id = ? ORDER BY s.sort, s.name";
    ids(connection, sql, assistant.as_str(), ServerId::new)
}

pub(super) fn conversations(
    connection: &Connection,
    user: &UserId,
    after: Option<(Timestamp, ConversationId)>,
    limit: u32,
) -> Found<Vec<Conversation>> {
    // Where the last page ended. If that conversation was removed meanwhile, its clock is the best
    // hint at its position.
    let (moment, id) = match &after {
        None => (None, None),
        Some((moment, id)) => (Some(moment.as_millis() as i64), Some(id.as_str())),
    };
    let sql = "SELECT * FROM conversations WHERE user_id = ?1 AND use_seq < COALESCE(
             (SELECT use_seq FROM conversations WHERE id = ?3 AND user_id = ?1),
             (SELECT MIN(use_seq) FROM conversations WHERE user_id = ?1 AND updated_at > ?2),
             9223372036854775807)
         ORDER BY use_seq DESC LIMIT ?4";
    table::CONVERSATIONS.rows(connection, sql, params![user.as_str(), moment, id, limit])
}

pub(super) fn conversation(
    connection: &Connection,
    user: &UserId,
    id: &ConversationId,
) -> Found<Option<Conversation>> {
    let sql = "SELECT * FROM conversations WHERE user_id = ? AND id = ?";
    table::CONVERSATIONS.row(connection, sql, [user.as_str(), id.as_str()])
}

pub(super) fn messages(
    connection: &Connection,
    conversation: &ConversationId,
    span: Span,
) -> Found<Vec<Message>> {
    let (from, before, limit, order) = match span {
        Span::Last(limit) => (0, i64::MAX, limit, "DESC"),
        Span::Before(seq, limit) => (0, seq as i64, limit, "DESC"),
        Span::From(seq, limit) => (seq as i64, i64::MAX, limit, "ASC"),
    };
    let sql = format!(
        "SELECT * FROM messages WHERE conversation_id = ? AND seq >= ? AND seq < ?
             AND is_aside = 0
         ORDER BY seq {order} LIMIT ?"
    );
    let mut messages: Vec<Message> = table::MESSAGES.rows(
        connection,
        &sql,
        params![conversation.as_str(), from, before, limit],
    )?;
    if order == "DESC" {
        messages.reverse();
    }
    for message in &mut messages {
        complete(connection, message)?;
    }
    Ok(messages)
}

pub(super) fn search(
    connection: &Connection,
    user: &UserId,
    words: &SearchWords,
    limit: u32,
) -> Found<Vec<Message>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut given = vec![user.as_str().to_owned()];
    let mut holds = String::new();
    for forms in words.patterns(false) {
        let any = vec![r"m.content LIKE ? ESCAPE '\'"; forms.len()].join(" OR ");
        let _ = write!(holds, " AND ({any})");
        given.extend(forms);
    }
    let sql = format!(
        "SELECT m.id, m.conversation_id, m.seq, m.role, m.content, NULL AS provider_raw, m.finish,
             m.created_at
         FROM messages m JOIN conversations c ON c.id = m.conversation_id
         WHERE c.user_id = ? AND m.is_aside = 0{holds} ORDER BY c.use_seq DESC, m.seq DESC LIMIT {limit}"
    );
    table::MESSAGES.rows(connection, &sql, rusqlite::params_from_iter(given))
}

pub(super) fn places(
    connection: &Connection,
    conversation: &ConversationId,
) -> Found<Vec<MessagePlace>> {
    let sql = "SELECT id, seq, follows FROM messages WHERE conversation_id = ? ORDER BY seq";
    table::MESSAGES.rows(connection, sql, [conversation.as_str()])
}

pub(super) fn message(connection: &Connection, id: &MessageId) -> Found<Option<Message>> {
    let sql = "SELECT * FROM messages WHERE id = ?";
    let mut message = table::MESSAGES.row(connection, sql, [id.as_str()])?;
    if let Some(message) = &mut message {
        complete(connection, message)?;
    }
    Ok(message)
}

/// Adds what is in tables of its own: the text that was appended, and the calls.
fn complete(connection: &Connection, message: &mut Message) -> Found<()> {
    let sql = "SELECT text FROM message_chunks WHERE message_id = ? ORDER BY number";
    let chunks = ids(connection, sql, message.id.as_str(), |text| text)?;
    message.content.extend(chunks);
    let sql = "SELECT * FROM tool_calls WHERE message_id = ? ORDER BY position, call_id";
    message.tool_calls = table::TOOL_CALLS.rows(connection, sql, [message.id.as_str()])?;
    Ok(())
}

pub(super) fn blob(
    connection: &Connection,
    conversation: &ConversationId,
    id: &BlobId,
) -> Found<Option<Blob>> {
    let sql = "SELECT mime, bytes FROM blobs WHERE conversation_id = ? AND id = ?";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement
                .query_row([conversation.as_str(), id.as_str()], |row| {
                    Ok(Blob {
                        id: id.clone(),
                        conversation_id: conversation.clone(),
                        mime: row.get(0)?,
                        bytes: row.get(1)?,
                    })
                })
                .optional()
        })
        .map_err(failed)
}

pub(super) fn rules(connection: &Connection, user: &UserId) -> Found<Vec<Rule>> {
    let sql = "SELECT * FROM approval_rules WHERE user_id = ? ORDER BY seq";
    table::RULES.rows(connection, sql, [user.as_str()])
}

pub(super) fn approved_definitions(
    connection: &Connection,
    user: &UserId,
) -> Found<Vec<ApprovedDefinition>> {
    let sql = "SELECT d.* FROM approved_definitions d JOIN mcp_servers s ON s.id = d.server_id
         WHERE s.user_id = ? ORDER BY d.server_id, d.tool, d.kind";
    table::DEFINITIONS.rows(connection, sql, [user.as_str()])
}

pub(super) fn open_questions(
    connection: &Connection,
    conversation: &ConversationId,
) -> Found<Vec<Pending>> {
    let sql = "SELECT * FROM pending_interactions WHERE conversation_id = ? AND state = 'open'
         ORDER BY seq";
    table::PENDING.rows(connection, sql, [conversation.as_str()])
}

pub(super) fn question(connection: &Connection, id: &PendingId) -> Found<Option<Pending>> {
    let sql = "SELECT * FROM pending_interactions WHERE id = ?";
    table::PENDING.row(connection, sql, [id.as_str()])
}

pub(super) fn latest_run(
    connection: &Connection,
    conversation: &ConversationId,
) -> Found<Option<Run>> {
    let sql = "SELECT * FROM runs WHERE conversation_id = ? ORDER BY seq DESC LIMIT 1";
    table::RUNS.row(connection, sql, [conversation.as_str()])
}

pub(super) fn snapshot(
    connection: &Connection,
    user: &UserId,
    id: &ConversationId,
) -> Found<Option<Snapshot>> {
    let Some(conversation) = conversation(connection, user, id)? else {
        return Ok(None);
    };
    let run = latest_run(connection, id)?;
    let answer = run.as_ref().and_then(|run| run.message_id.as_ref());
    let answer = match answer {
        Some(answer) => message(connection, answer)?,
        None => None,
    };
    Ok(Some(Snapshot {
        conversation,
        last: messages(connection, id, Span::Last(1))?.pop(),
        next_seq: places(connection, id)?.last().map_or(0, |last| last.seq) + 1,
        run,
        answer,
        questions: open_questions(connection, id)?,
    }))
}

pub(super) fn unfinished(connection: &Connection, user: &UserId) -> Found<Vec<ConversationId>> {
    let sql =
        "SELECT r.conversation_id FROM runs r JOIN conversations c ON c.id = r.conversation_id
         WHERE c.user_id = ? AND r.finish IS NULL GROUP BY r.conversation_id ORDER BY MIN(r.seq)";
    ids(connection, sql, user.as_str(), ConversationId::new)
}

pub(super) fn standings(
    connection: &Connection,
    conversations: &[ConversationId],
) -> Found<Vec<Standing>> {
    let sql = "SELECT
             (SELECT COUNT(*) FROM pending_interactions
              WHERE conversation_id = c.id AND state = 'open'),
             (SELECT COUNT(*) FROM tool_calls
              WHERE message_id = r.message_id AND status IN ('invoking', 'queued')),
             r.id IS NOT NULL AND r.finish IS NULL,
             r.finish
         FROM conversations c LEFT JOIN runs r ON r.id =
             (SELECT id FROM runs WHERE conversation_id = c.id ORDER BY seq DESC LIMIT 1)
         WHERE c.id = ?";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut found = Vec::new();
    for id in conversations {
        let standing = statement.query_row([id.as_str()], |row| {
            let mut standing = Standing::new(id.clone());
            standing.waiting = row.get::<_, i64>(0)? as u64;
            standing.invoking = row.get::<_, i64>(1)? as u64;
            standing.open = row.get(2)?;
            standing.finish = row.get(3)?;
            Ok(standing)
        });
        found.extend(standing.optional().map_err(failed)?);
    }
    Ok(found)
}

pub(super) fn usage(
    connection: &Connection,
    user: &UserId,
    conversation: Option<ConversationId>,
    since: Option<Timestamp>,
) -> Found<Vec<UsageTotal>> {
    let sql = "SELECT model, COUNT(*) AS rounds, SUM(input) AS input, SUM(output) AS output,
             SUM(cache_read) AS cache_read, SUM(cache_write) AS cache_write,
             COALESCE(SUM(cost_micros), 0) AS cost_micros,
             SUM(cost_micros IS NULL) AS unpriced_rounds
         FROM usage
         WHERE user_id = ?1 AND (?2 IS NULL OR conversation_id = ?2) AND created_at >= ?3
         GROUP BY model ORDER BY model";
    let conversation = conversation.as_ref().map(ConversationId::as_str);
    let since = since.map_or(0, Timestamp::as_millis) as i64;
    table::USAGE.rows(connection, sql, params![user.as_str(), conversation, since])
}

pub(super) fn usage_of(
    connection: &Connection,
    messages: &[MessageId],
) -> Found<Vec<(MessageId, UsageTotal)>> {
    let sql = "SELECT u.model, COUNT(*) AS rounds, SUM(u.input) AS input, SUM(u.output) AS output,
             SUM(u.cache_read) AS cache_read, SUM(u.cache_write) AS cache_write,
             COALESCE(SUM(u.cost_micros), 0) AS cost_micros,
             SUM(u.cost_micros IS NULL) AS unpriced_rounds
         FROM runs r JOIN usage u ON u.run_id = r.id
         WHERE r.message_id = ? GROUP BY u.model ORDER BY u.model";
    let mut found = Vec::new();
    for id in messages {
        let totals: Vec<UsageTotal> = table::USAGE.rows(connection, sql, [id.as_str()])?;
        found.extend(totals.into_iter().map(|total| (id.clone(), total)));
    }
    Ok(found)
}

pub(super) fn events(
    connection: &Connection,
    user: &UserId,
    conversation: Option<ConversationId>,
    after: u64,
    limit: u32,
) -> Found<Vec<Event>> {
    let after = after as i64;
    match conversation {
        None => table::EVENTS.rows(
            connection,
            "SELECT * FROM events WHERE user_id = ? AND seq > ? ORDER BY seq LIMIT ?",
            params![user.as_str(), after, limit],
        ),
        Some(conversation) => table::EVENTS.rows(
            connection,
            "SELECT * FROM (SELECT * FROM events
                 WHERE conversation_id = ?1 AND user_id = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4)
             UNION ALL SELECT * FROM (SELECT * FROM events
                 WHERE conversation_id IS NULL AND user_id = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4)
             ORDER BY seq LIMIT ?4",
            params![conversation.as_str(), user.as_str(), after, limit],
        ),
    }
}

pub(super) fn event_bounds(connection: &Connection, user: &UserId) -> Found<EventBounds> {
    let sql = "SELECT
             COALESCE((SELECT seq FROM forgotten_events WHERE user_id = ?1), 0),
             COALESCE((SELECT MAX(seq) FROM events WHERE user_id = ?1), 0)";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement.query_row([user.as_str()], |row| {
                let (forgotten, latest) = (row.get::<_, i64>(0)?, row.get::<_, i64>(1)?);
                let forgotten = forgotten as u64;
                Ok(EventBounds::new(forgotten, forgotten.max(latest as u64)))
            })
        })
        .map_err(failed)
}

pub(super) fn settings(connection: &Connection, user: &UserId) -> Found<Vec<Setting>> {
    let sql = "SELECT * FROM settings WHERE user_id = ? ORDER BY key";
    table::SETTINGS.rows(connection, sql, [user.as_str()])
}

/// The texts, ids mostly, that a query of one parameter finds.
fn ids<T>(connection: &Connection, sql: &str, of: &str, id: fn(String) -> T) -> Found<Vec<T>> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            let rows = statement.query_map([of], |row| row.get(0).map(id))?;
            rows.collect()
        })
        .map_err(failed)
}
