//! Queries.

use std::fmt::Write as _;

use crate::store::Span;
use crate::store::id::{
    AssistantId, BlobId, ConversationId, MessageId, PendingId, ServerId, UserId,
};
use crate::store::postgres::connection::Connection;
use crate::store::postgres::session::{Failure, Session};
use crate::store::row::{
    ApprovedDefinition, Assistant, Blob, Conversation, Event, EventBounds, Message, MessagePlace,
    Pending, Rule, Run, Server, ServerTool, Setting, Snapshot, Standing, TokenRef, UsageTotal,
    User,
};
use crate::store::search::SearchWords;
use crate::store::table::{self, Field};
use crate::store::timestamp::Timestamp;

type Found<T> = Result<T, Failure>;

// Texts are ordered by their bytes, as everywhere, not by the database's language.
impl<C: Connection> Session<'_, C> {
    pub(super) async fn users(&self) -> Found<Vec<User>> {
        let sql = r#"SELECT * FROM users ORDER BY id COLLATE "C""#;
        self.rows(&table::USERS, sql, &[]).await
    }

    pub(super) async fn servers(&self, user: &UserId) -> Found<Vec<Server>> {
        let sql = r#"SELECT * FROM mcp_servers WHERE user_id = $1 ORDER BY sort, name COLLATE "C""#;
        let of = [user.as_str().into()];
        self.rows(&table::SERVERS, sql, &of).await
    }

    pub(super) async fn server(&self, user: &UserId, id: &ServerId) -> Found<Option<Server>> {
        let sql = "SELECT * FROM mcp_servers WHERE user_id = $1 AND id = $2";
        let of = [user.as_str().into(), id.as_str().into()];
        self.row(&table::SERVERS, sql, &of).await
    }

    pub(super) async fn server_tools(&self, server: &ServerId) -> Found<Vec<ServerTool>> {
        let sql = r#"SELECT * FROM server_tools WHERE server_id = $1 ORDER BY name COLLATE "C""#;
        let of = [server.as_str().into()];
        self.rows(&table::SERVER_TOOLS, sql, &of).await
    }

    pub(super) async fn tokens(&self, server: &ServerId) -> Found<Vec<TokenRef>> {
        let sql = r#"SELECT * FROM oauth_tokens WHERE server_id = $1 ORDER BY issuer COLLATE "C""#;
        let of = [server.as_str().into()];
        self.rows(&table::TOKENS, sql, &of).await
    }

    pub(super) async fn assistants(&self, user: &UserId) -> Found<Vec<Assistant>> {
        let sql = r#"SELECT * FROM assistants WHERE user_id = $1 ORDER BY name COLLATE "C""#;
        let of = [user.as_str().into()];
        self.rows(&table::ASSISTANTS, sql, &of).await
    }

    pub(super) async fn assistant_servers(&self, assistant: &AssistantId) -> Found<Vec<ServerId>> {
        let sql = r#"SELECT s.id FROM assistant_mcp_servers a
             JOIN mcp_servers s ON s.id = a.mcp_server_id
             WHERE a.assistant_id = $1 ORDER BY s.sort, s.name COLLATE "C""#;
        let of = [assistant.as_str().into()];
        self.texts(sql, &of, ServerId::new).await
    }

    pub(super) async fn conversations(
        &self,
        user: &UserId,
        after: Option<&Conversation>,
        limit: u32,
    ) -> Found<Vec<Conversation>> {
        // Where the last page ended. If that conversation was removed meanwhile, its clock is the
        // best hint at its position.
        let moment = after.map(|last| last.updated_at.as_millis() as i64);
        let id = after.map(|last| last.id.as_str());
        let sql = "SELECT * FROM conversations WHERE user_id = $1 AND use_seq < COALESCE(
                 (SELECT use_seq FROM conversations WHERE id = $3 AND user_id = $1),
                 (SELECT MIN(use_seq) FROM conversations WHERE user_id = $1 AND updated_at > $2),
                 9223372036854775807)
             ORDER BY use_seq DESC LIMIT $4";
        let of = [
            user.as_str().into(),
            moment.into(),
            id.into(),
            i64::from(limit).into(),
        ];
        self.rows(&table::CONVERSATIONS, sql, &of).await
    }

    pub(super) async fn conversation(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Found<Option<Conversation>> {
        let sql = "SELECT * FROM conversations WHERE user_id = $1 AND id = $2";
        let of = [user.as_str().into(), id.as_str().into()];
        self.row(&table::CONVERSATIONS, sql, &of).await
    }

    pub(super) async fn messages(
        &self,
        conversation: &ConversationId,
        span: Span,
    ) -> Found<Vec<Message>> {
        let (from, before, limit, order) = match span {
            Span::Last(limit) => (0, i64::MAX, limit, "DESC"),
            Span::Before(seq, limit) => (0, seq as i64, limit, "DESC"),
            Span::From(seq, limit) => (seq as i64, i64::MAX, limit, "ASC"),
        };
        let sql = format!(
            "SELECT * FROM messages WHERE conversation_id = $1 AND seq >= $2 AND seq < $3
                 AND is_aside = 0
             ORDER BY seq {order} LIMIT $4"
        );
        let of = [
            conversation.as_str().into(),
            from.into(),
            before.into(),
            i64::from(limit).into(),
        ];
        let mut messages: Vec<Message> = self.rows(&table::MESSAGES, &sql, &of).await?;
        if order == "DESC" {
            messages.reverse();
        }
        for message in &mut messages {
            self.complete(message).await?;
        }
        Ok(messages)
    }

    pub(super) async fn search(
        &self,
        user: &UserId,
        words: &SearchWords,
        limit: u32,
    ) -> Found<Vec<Message>> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut given: Vec<Field> = vec![user.as_str().into(), i64::from(limit).into()];
        let mut holds = String::new();
        for pattern in words.patterns(true).concat() {
            given.push(pattern.as_str().into());
            let number = given.len();
            let _ = write!(holds, r" AND m.content ILIKE ${number} ESCAPE '\'");
        }
        let sql = format!(
            "SELECT m.id, m.conversation_id, m.seq, m.role, m.content, NULL::TEXT AS provider_raw,
                 m.finish, m.created_at
             FROM messages m JOIN conversations c ON c.id = m.conversation_id
             WHERE c.user_id = $1 AND m.is_aside = 0{holds} ORDER BY c.use_seq DESC, m.seq DESC LIMIT $2"
        );
        self.rows(&table::MESSAGES, &sql, &given).await
    }

    pub(super) async fn places(&self, conversation: &ConversationId) -> Found<Vec<MessagePlace>> {
        let sql = "SELECT id, seq, follows FROM messages WHERE conversation_id = $1 ORDER BY seq";
        let of = [conversation.as_str().into()];
        self.rows(&table::MESSAGES, sql, &of).await
    }

    pub(super) async fn message(&self, id: &MessageId) -> Found<Option<Message>> {
        let sql = "SELECT * FROM messages WHERE id = $1";
        let of = [id.as_str().into()];
        let mut message = self.row(&table::MESSAGES, sql, &of).await?;
        if let Some(message) = &mut message {
            self.complete(message).await?;
        }
        Ok(message)
    }

    /// Adds what is in tables of its own: the text that was appended, and the calls.
    async fn complete(&self, message: &mut Message) -> Found<()> {
        let of: [Field; 1] = [message.id.as_str().into()];
        let sql = "SELECT text FROM message_chunks WHERE message_id = $1 ORDER BY number";
        let chunks = self.texts(sql, &of, |text| text).await?;
        message.content.extend(chunks);
        let sql = r#"SELECT * FROM tool_calls WHERE message_id = $1
             ORDER BY position, call_id COLLATE "C""#;
        message.tool_calls = self.rows(&table::TOOL_CALLS, sql, &of).await?;
        Ok(())
    }

    pub(super) async fn blob(
        &self,
        conversation: &ConversationId,
        id: &BlobId,
    ) -> Found<Option<Blob>> {
        let sql = "SELECT mime, bytes FROM blobs WHERE conversation_id = $1 AND id = $2";
        let of = [conversation.as_str().into(), id.as_str().into()];
        let rows = self.query(sql, &of).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        Ok(Some(Blob {
            id: id.clone(),
            conversation_id: conversation.clone(),
            mime: super::session::plain(row.try_get(0)?),
            bytes: row.try_get(1)?,
        }))
    }

    pub(super) async fn rules(&self, user: &UserId) -> Found<Vec<Rule>> {
        let sql = "SELECT * FROM approval_rules WHERE user_id = $1 ORDER BY seq";
        let of = [user.as_str().into()];
        self.rows(&table::RULES, sql, &of).await
    }

    pub(super) async fn approved_definitions(
        &self,
        user: &UserId,
    ) -> Found<Vec<ApprovedDefinition>> {
        let sql = r#"SELECT d.* FROM approved_definitions d
             JOIN mcp_servers s ON s.id = d.server_id WHERE s.user_id = $1
             ORDER BY d.server_id COLLATE "C", d.tool COLLATE "C", d.kind COLLATE "C""#;
        let of = [user.as_str().into()];
        self.rows(&table::DEFINITIONS, sql, &of).await
    }

    pub(super) async fn open_questions(
        &self,
        conversation: &ConversationId,
    ) -> Found<Vec<Pending>> {
        let sql = "SELECT * FROM pending_interactions
             WHERE conversation_id = $1 AND state = 'open' ORDER BY seq";
        let of = [conversation.as_str().into()];
        self.rows(&table::PENDING, sql, &of).await
    }

    pub(super) async fn question(&self, id: &PendingId) -> Found<Option<Pending>> {
        let sql = "SELECT * FROM pending_interactions WHERE id = $1";
        let of = [id.as_str().into()];
        self.row(&table::PENDING, sql, &of).await
    }

    pub(super) async fn latest_run(&self, conversation: &ConversationId) -> Found<Option<Run>> {
        let sql = "SELECT * FROM runs WHERE conversation_id = $1 ORDER BY seq DESC LIMIT 1";
        let of = [conversation.as_str().into()];
        self.row(&table::RUNS, sql, &of).await
    }

    pub(super) async fn snapshot(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Found<Option<Snapshot>> {
        let Some(conversation) = self.conversation(user, id).await? else {
            return Ok(None);
        };
        let run = self.latest_run(id).await?;
        let answer = match run.as_ref().and_then(|run| run.message_id.as_ref()) {
            Some(answer) => self.message(answer).await?,
            None => None,
        };
        Ok(Some(Snapshot {
            conversation,
            last: self.messages(id, Span::Last(1)).await?.pop(),
            next_seq: self.places(id).await?.last().map_or(0, |last| last.seq) + 1,
            run,
            answer,
            questions: self.open_questions(id).await?,
        }))
    }

    pub(super) async fn unfinished(&self, user: &UserId) -> Found<Vec<ConversationId>> {
        let sql = "SELECT r.conversation_id FROM runs r
             JOIN conversations c ON c.id = r.conversation_id
             WHERE c.user_id = $1 AND r.finish IS NULL
             GROUP BY r.conversation_id ORDER BY MIN(r.seq)";
        let of = [user.as_str().into()];
        self.texts(sql, &of, ConversationId::new).await
    }

    pub(super) async fn standings(&self, conversations: &[ConversationId]) -> Found<Vec<Standing>> {
        let sql = "SELECT
                 (SELECT COUNT(*) FROM pending_interactions
                  WHERE conversation_id = c.id AND state = 'open'),
                 (SELECT COUNT(*) FROM tool_calls
                  WHERE message_id = r.message_id AND status IN ('invoking', 'queued')),
                 r.id IS NOT NULL AND r.finish IS NULL,
                 r.finish
             FROM conversations c LEFT JOIN runs r ON r.id =
                 (SELECT id FROM runs WHERE conversation_id = c.id ORDER BY seq DESC LIMIT 1)
             WHERE c.id = $1";
        let mut found = Vec::new();
        for id in conversations {
            let rows = self.query(sql, &[id.as_str().into()]).await?;
            let Some(row) = rows.first() else {
                continue;
            };
            let mut standing = Standing::new(id.clone());
            standing.waiting = row.try_get::<_, i64>(0)? as u64;
            standing.invoking = row.try_get::<_, i64>(1)? as u64;
            standing.open = row.try_get(2)?;
            standing.finish = row.try_get(3)?;
            found.push(standing);
        }
        Ok(found)
    }

    pub(super) async fn usage(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        since: Option<Timestamp>,
    ) -> Found<Vec<UsageTotal>> {
        let sql = r#"SELECT model, COUNT(*) AS rounds, SUM(input)::BIGINT AS input,
                 SUM(output)::BIGINT AS output, SUM(cache_read)::BIGINT AS cache_read,
                 SUM(cache_write)::BIGINT AS cache_write,
                 COALESCE(SUM(cost_micros), 0)::BIGINT AS cost_micros,
                 COUNT(*) FILTER (WHERE cost_micros IS NULL) AS unpriced_rounds
             FROM usage
             WHERE user_id = $1 AND ($2::TEXT IS NULL OR conversation_id = $2)
                 AND created_at >= $3
             GROUP BY model ORDER BY model COLLATE "C""#;
        let of = [
            user.as_str().into(),
            conversation.map(ConversationId::as_str).into(),
            (since.map_or(0, Timestamp::as_millis) as i64).into(),
        ];
        self.rows(&table::USAGE, sql, &of).await
    }

    pub(super) async fn usage_of(
        &self,
        messages: &[MessageId],
    ) -> Found<Vec<(MessageId, UsageTotal)>> {
        let sql = r#"SELECT u.model, COUNT(*) AS rounds, SUM(u.input)::BIGINT AS input,
                 SUM(u.output)::BIGINT AS output, SUM(u.cache_read)::BIGINT AS cache_read,
                 SUM(u.cache_write)::BIGINT AS cache_write,
                 COALESCE(SUM(u.cost_micros), 0)::BIGINT AS cost_micros,
                 COUNT(*) FILTER (WHERE u.cost_micros IS NULL) AS unpriced_rounds
             FROM runs r JOIN usage u ON u.run_id = r.id
             WHERE r.message_id = $1 GROUP BY u.model ORDER BY u.model COLLATE "C""#;
        let mut found = Vec::new();
        for id in messages {
            let of = [id.as_str().into()];
            let totals: Vec<UsageTotal> = self.rows(&table::USAGE, sql, &of).await?;
            found.extend(totals.into_iter().map(|total| (id.clone(), total)));
        }
        Ok(found)
    }

    pub(super) async fn events(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        after: u64,
        limit: u32,
    ) -> Found<Vec<Event>> {
        let (after, limit) = (Field::Integer(after as i64), Field::from(i64::from(limit)));
        match conversation {
            None => {
                let sql = "SELECT * FROM events WHERE user_id = $1 AND seq > $2
                     ORDER BY seq LIMIT $3";
                let of = [user.as_str().into(), after, limit];
                self.rows(&table::EVENTS, sql, &of).await
            }
            Some(conversation) => {
                let sql = "SELECT * FROM (
                         (SELECT * FROM events WHERE conversation_id = $1 AND user_id = $2
                              AND seq > $3 ORDER BY seq LIMIT $4)
                         UNION ALL
                         (SELECT * FROM events WHERE conversation_id IS NULL AND user_id = $2
                              AND seq > $3 ORDER BY seq LIMIT $4)
                     ) AS both_kinds ORDER BY seq LIMIT $4";
                let of = [
                    conversation.as_str().into(),
                    user.as_str().into(),
                    after,
                    limit,
                ];
                self.rows(&table::EVENTS, sql, &of).await
            }
        }
    }

    pub(super) async fn event_bounds(&self, user: &UserId) -> Found<EventBounds> {
        let sql = "SELECT
                 COALESCE((SELECT seq FROM forgotten_events WHERE user_id = $1), 0),
                 COALESCE((SELECT MAX(seq) FROM events WHERE user_id = $1), 0)";
        let rows = self.query(sql, &[user.as_str().into()]).await?;
        let Some(row) = rows.first() else {
            return Ok(EventBounds::new(0, 0));
        };
        let (forgotten, latest): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let forgotten = forgotten as u64;
        Ok(EventBounds::new(forgotten, forgotten.max(latest as u64)))
    }

    pub(super) async fn settings(&self, user: &UserId) -> Found<Vec<Setting>> {
        let sql = r#"SELECT * FROM settings WHERE user_id = $1 ORDER BY key COLLATE "C""#;
        let of = [user.as_str().into()];
        self.rows(&table::SETTINGS, sql, &of).await
    }
}
