//! The store in one SQLite file: a thread writes, another one reads.

mod file;
mod holder;
mod leases;
mod limits;
mod login;
mod migrate;
mod peek;
mod read;
mod table;
mod worker;
mod write;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use rusqlite::Connection;

use crate::store::change::Change;
use crate::store::error::StoreError;
use crate::store::event_signal::{EventCursor, EventSignal};
use crate::store::id::{
    AssistantId, BlobId, ConversationId, HolderId, MessageId, PendingId, ServerId, UserId,
};
use crate::store::row::{
    AccessToken, ApprovedDefinition, Assistant, Blob, Conversation, Event, EventBounds,
    LoginAttempt, LoginSession, Message, MessagePlace, Pending, Rule, Run, Server, ServerTool,
    Setting, Snapshot, Standing, TokenRef, UsageTotal, User,
};
use crate::store::search::SearchWords;
use crate::store::timestamp::Timestamp;
use crate::store::{Span, Store};

use holder::Holders;
pub use limits::Limits;
pub(crate) use peek::peek_setting;
pub(in crate::store) use table::{execute, failed, fields};
use worker::Worker;

/// A connection to a file whose tables are up to date.
pub(in crate::store) async fn direct(path: &Path) -> Result<Connection, StoreError> {
    let limits = Limits::default();
    let store = SqliteStore::open(path, limits).await?;
    store.close().await?;
    let open = |error: rusqlite::Error| StoreError::Open {
        path: path.to_owned(),
        source: error.into(),
    };
    let connection = Connection::open(path).map_err(open)?;
    migrate::configure(&connection, limits.busy).map_err(open)?;
    Ok(connection)
}

/// The store in one SQLite file.
///
/// A cheap clone. One thread makes the commits, in the order in which they were asked for; each is
/// flushed to the disk before it returns. Another thread reads, so that reads do not wait while
/// another process writes; each read is one snapshot. The file, its write-ahead log and their
/// folder, if it has to be made, are readable by their owner only.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use switchboard::store::{Change, Limits, Setting, SqliteStore, Store, UserId};
///
/// let store = SqliteStore::in_memory(Limits::default()).await?;
/// let user = UserId::local();
/// store.commit(vec![Change::PutSetting(Setting::new(user.clone(), "model", "demo"))]).await?;
/// assert_eq!(store.settings(&user).await?[0].value, "demo");
/// # Ok::<(), switchboard::store::StoreError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    writer: Worker,
    /// A store in memory has one connection for everything.
    reader: Option<Worker>,
    path: Option<PathBuf>,
    limits: Limits,
    signal: EventSignal,
    holder: HolderId,
    holders: Arc<Mutex<Holders>>,
}

impl SqliteStore {
    /// Opens a file, or makes it, and brings its tables up to date.
    ///
    /// # Errors
    /// [`StoreError::Open`] if it cannot be opened or is not ours, [`StoreError::Newer`] if a
    /// newer version of the program wrote it.
    pub async fn open(path: impl AsRef<Path>, limits: Limits) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let opened = path.clone();
        let writer = Worker::start(limits.queue, move || {
            let open = |source| StoreError::Open {
                path: opened.clone(),
                source,
            };
            file::prepare(&opened).map_err(|error| open(error.into()))?;
            let mut connection = Connection::open(&opened).map_err(|error| open(error.into()))?;
            migrate::configure(&connection, limits.busy).map_err(|error| open(error.into()))?;
            migrate::migrate(&mut connection, &opened)?;
            Ok(connection)
        });
        let writer = writer.await?;
        let opened = path.clone();
        let reader = Worker::start(limits.queue, move || {
            let open = |error: rusqlite::Error| StoreError::Open {
                path: opened.clone(),
                source: error.into(),
            };
            let connection = Connection::open(&opened).map_err(open)?;
            migrate::configure(&connection, limits.busy).map_err(open)?;
            connection
                .pragma_update(None, "query_only", true)
                .map_err(open)?;
            Ok(connection)
        });
        let reader = reader.await?;
        Ok(Self::new(Some(path), limits, writer, Some(reader)))
    }

    /// A store that is gone with its last clone.
    ///
    /// # Errors
    /// [`StoreError::Open`] if there is no memory for it.
    pub async fn in_memory(limits: Limits) -> Result<Self, StoreError> {
        let writer = Worker::start(limits.queue, move || {
            let path = Path::new(":memory:");
            let open = |error: rusqlite::Error| StoreError::Open {
                path: path.to_owned(),
                source: error.into(),
            };
            let mut connection = Connection::open_in_memory().map_err(open)?;
            migrate::configure(&connection, limits.busy).map_err(open)?;
            migrate::migrate(&mut connection, path)?;
            Ok(connection)
        });
        Ok(Self::new(None, limits, writer.await?, None))
    }

    /// The file, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn new(path: Option<PathBuf>, limits: Limits, writer: Worker, reader: Option<Worker>) -> Self {
        let holders = Holders::of(path.as_deref());
        Self {
            writer,
            reader,
            path,
            limits,
            signal: EventSignal::default(),
            holder: holders.id().clone(),
            holders: Arc::new(Mutex::new(holders)),
        }
    }

    /// Reads what there is at one moment: other processes may write between two statements.
    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let worker = self.reader.as_ref().unwrap_or(&self.writer);
        let read = move |connection: &mut Connection| {
            let transaction = connection.transaction().map_err(table::failed)?;
            job(&transaction)
        };
        worker.ask(read).await
    }

    fn page(&self, limit: u32) -> u32 {
        limit.min(self.limits.page)
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, changes: Vec<Change>) -> Result<Vec<u64>, StoreError> {
        let row_bytes = self.limits.row_bytes;
        let (signal, holders) = (self.signal.clone(), Arc::clone(&self.holders));
        let made = self.writer.ask(move |connection| {
            let made = write::commit(connection, &changes, row_bytes, &mut holders.lock())?;
            signal.notify(&changes);
            Ok(made)
        });
        made.await
    }

    fn holder(&self) -> &HolderId {
        &self.holder
    }

    async fn users(&self) -> Result<Vec<User>, StoreError> {
        self.read(read::users).await
    }

    async fn login_session(&self, hash: &str) -> Result<Option<(LoginSession, User)>, StoreError> {
        let hash = hash.to_owned();
        self.read(move |connection| login::session(connection, &hash))
            .await
    }

    async fn login_attempt(&self, hash: &str) -> Result<Option<LoginAttempt>, StoreError> {
        let hash = hash.to_owned();
        self.read(move |connection| login::attempt(connection, &hash))
            .await
    }

    async fn access_token(&self, hash: &str) -> Result<Option<(AccessToken, User)>, StoreError> {
        let hash = hash.to_owned();
        self.read(move |connection| login::access_token(connection, &hash))
            .await
    }

    async fn access_tokens(&self, user: &UserId) -> Result<Vec<AccessToken>, StoreError> {
        let user = user.clone();
        self.read(move |connection| login::access_tokens(connection, &user))
            .await
    }

    async fn servers(&self, user: &UserId) -> Result<Vec<Server>, StoreError> {
        let user = user.clone();
        self.read(move |connection| read::servers(connection, &user))
            .await
    }

    async fn server(&self, user: &UserId, id: &ServerId) -> Result<Option<Server>, StoreError> {
        let (user, id) = (user.clone(), id.clone());
        self.read(move |connection| read::server(connection, &user, &id))
            .await
    }

    async fn server_tools(&self, server: &ServerId) -> Result<Vec<ServerTool>, StoreError> {
        let server = server.clone();
        self.read(move |connection| read::server_tools(connection, &server))
            .await
    }

    async fn tokens(&self, server: &ServerId) -> Result<Vec<TokenRef>, StoreError> {
        let server = server.clone();
        self.read(move |connection| read::tokens(connection, &server))
            .await
    }

    async fn assistants(&self, user: &UserId) -> Result<Vec<Assistant>, StoreError> {
        let user = user.clone();
        self.read(move |connection| read::assistants(connection, &user))
            .await
    }

    async fn assistant_servers(
        &self,
        assistant: &AssistantId,
    ) -> Result<Vec<ServerId>, StoreError> {
        let assistant = assistant.clone();
        self.read(move |connection| read::assistant_servers(connection, &assistant))
            .await
    }

    async fn conversations(
        &self,
        user: &UserId,
        after: Option<&Conversation>,
        limit: u32,
    ) -> Result<Vec<Conversation>, StoreError> {
        let user = user.clone();
        let after = after.map(|last| (last.updated_at, last.id.clone()));
        let limit = self.page(limit);
        self.read(move |connection| read::conversations(connection, &user, after, limit))
            .await
    }

    async fn search(
        &self,
        user: &UserId,
        words: &SearchWords,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError> {
        let (user, words) = (user.clone(), words.clone());
        let limit = self.page(limit);
        self.read(move |connection| read::search(connection, &user, &words, limit))
            .await
    }

    async fn conversation(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Option<Conversation>, StoreError> {
        let (user, id) = (user.clone(), id.clone());
        self.read(move |connection| read::conversation(connection, &user, &id))
            .await
    }

    async fn messages(
        &self,
        conversation: &ConversationId,
        span: Span,
    ) -> Result<Vec<Message>, StoreError> {
        let conversation = conversation.clone();
        let span = span.at_most(self.limits.page);
        self.read(move |connection| read::messages(connection, &conversation, span))
            .await
    }

    async fn places(&self, conversation: &ConversationId) -> Result<Vec<MessagePlace>, StoreError> {
        let conversation = conversation.clone();
        self.read(move |connection| read::places(connection, &conversation))
            .await
    }

    async fn message(&self, id: &MessageId) -> Result<Option<Message>, StoreError> {
        let id = id.clone();
        self.read(move |connection| read::message(connection, &id))
            .await
    }

    async fn blob(
        &self,
        conversation: &ConversationId,
        id: &BlobId,
    ) -> Result<Option<Blob>, StoreError> {
        let (conversation, id) = (conversation.clone(), id.clone());
        self.read(move |connection| read::blob(connection, &conversation, &id))
            .await
    }

    async fn rules(&self, user: &UserId) -> Result<Vec<Rule>, StoreError> {
        let user = user.clone();
        self.read(move |connection| read::rules(connection, &user))
            .await
    }

    async fn approved_definitions(
        &self,
        user: &UserId,
    ) -> Result<Vec<ApprovedDefinition>, StoreError> {
        let user = user.clone();
        self.read(move |connection| read::approved_definitions(connection, &user))
            .await
    }

    async fn open_questions(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<Pending>, StoreError> {
        let conversation = conversation.clone();
        self.read(move |connection| read::open_questions(connection, &conversation))
            .await
    }

    async fn question(&self, id: &PendingId) -> Result<Option<Pending>, StoreError> {
        let id = id.clone();
        self.read(move |connection| read::question(connection, &id))
            .await
    }

    async fn snapshot(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Option<Snapshot>, StoreError> {
        let (user, id) = (user.clone(), id.clone());
        self.read(move |connection| read::snapshot(connection, &user, &id))
            .await
    }

    async fn latest_run(&self, conversation: &ConversationId) -> Result<Option<Run>, StoreError> {
        let conversation = conversation.clone();
        self.read(move |connection| read::latest_run(connection, &conversation))
            .await
    }

    async fn unfinished(&self, user: &UserId) -> Result<Vec<ConversationId>, StoreError> {
        let user = user.clone();
        self.read(move |connection| read::unfinished(connection, &user))
            .await
    }

    async fn standings(
        &self,
        conversations: &[ConversationId],
    ) -> Result<Vec<Standing>, StoreError> {
        let conversations = conversations.to_vec();
        self.read(move |connection| read::standings(connection, &conversations))
            .await
    }

    async fn usage(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        since: Option<Timestamp>,
    ) -> Result<Vec<UsageTotal>, StoreError> {
        let (user, conversation) = (user.clone(), conversation.cloned());
        self.read(move |connection| read::usage(connection, &user, conversation, since))
            .await
    }

    async fn usage_of(
        &self,
        messages: &[MessageId],
    ) -> Result<Vec<(MessageId, UsageTotal)>, StoreError> {
        let messages = messages.to_vec();
        self.read(move |connection| read::usage_of(connection, &messages))
            .await
    }

    async fn events(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let (user, conversation) = (user.clone(), conversation.cloned());
        let limit = self.page(limit);
        self.read(move |connection| read::events(connection, &user, conversation, after, limit))
            .await
    }

    async fn event_bounds(&self, user: &UserId) -> Result<EventBounds, StoreError> {
        let user = user.clone();
        self.read(move |connection| read::event_bounds(connection, &user))
            .await
    }

    fn event_cursor(&self) -> EventCursor {
        self.signal.cursor()
    }

    async fn settings(&self, user: &UserId) -> Result<Vec<Setting>, StoreError> {
        let user = user.clone();
        self.read(move |connection| read::settings(connection, &user))
            .await
    }

    async fn close(&self) -> Result<(), StoreError> {
        let holders = Arc::clone(&self.holders);
        let left = move |connection: &mut Connection| {
            holders.lock().leave(connection);
            Ok(())
        };
        self.writer.ask(left).await?;
        if let Some(reader) = &self.reader {
            reader.close().await?;
        }
        // The last connection to be closed puts the log away.
        self.writer.close().await
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
