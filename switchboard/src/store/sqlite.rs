//! The store in one SQLite file, on a thread of its own.

mod file;
mod holder;
mod leases;
mod migrate;
mod read;
mod table;
mod write;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::store::change::Change;
use crate::store::error::StoreError;
use crate::store::id::{
    AssistantId, BlobId, ConversationId, HolderId, MessageId, PendingId, ServerId, UserId,
};
use crate::store::mark::{Marker, Marks};
use crate::store::row::{
    ApprovedDefinition, Assistant, Blob, Conversation, Event, EventBounds, Message, Pending, Rule,
    Run, Server, ServerTool, Setting, Standing, TokenRef, UsageTotal, User,
};
use crate::store::timestamp::Timestamp;
use crate::store::{Span, Store};

use holder::Holders;

/// The bounds of a [`SqliteStore`].
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    queue: usize,
    page: u32,
    row_bytes: usize,
    busy: Duration,
}

impl Default for Limits {
    /// 64 waiting orders, pages of 1000 rows, 64 MiB a row, ten seconds for another process to
    /// finish writing.
    fn default() -> Self {
        Self {
            queue: 64,
            page: 1000,
            row_bytes: 64 << 20,
            busy: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// How many orders may wait; whoever brings another one waits too.
    #[must_use]
    pub fn with_queue(mut self, orders: usize) -> Self {
        self.queue = orders.max(1);
        self
    }

    /// How many rows a page has at most.
    #[must_use]
    pub fn with_page(mut self, rows: u32) -> Self {
        self.page = rows;
        self
    }

    /// How big a row may be.
    #[must_use]
    pub fn with_row_bytes(mut self, bytes: usize) -> Self {
        self.row_bytes = bytes;
        self
    }

    /// How long to wait while another process writes.
    #[must_use]
    pub fn with_busy(mut self, patience: Duration) -> Self {
        self.busy = patience;
        self
    }
}

/// The store in one SQLite file.
///
/// A cheap clone. One thread owns the file and does everything in the order in which it was
/// asked. Every commit is flushed to the disk before it returns. The file, its write-ahead log
/// and their folder, if it has to be made, are readable by their owner only.
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
    orders: mpsc::Sender<Order>,
    path: Option<PathBuf>,
    limits: Limits,
    marker: Marker,
    holder: HolderId,
    holders: Arc<Mutex<Holders>>,
}

enum Order {
    Do(Box<dyn FnOnce(&mut Connection) + Send>),
    Close(oneshot::Sender<()>),
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
        Self::start(Some(path), limits, move || {
            let open = |source| StoreError::Open {
                path: opened.clone(),
                source,
            };
            file::prepare(&opened).map_err(|error| open(error.into()))?;
            let mut connection = Connection::open(&opened).map_err(|error| open(error.into()))?;
            migrate::configure(&connection, limits.busy).map_err(|error| open(error.into()))?;
            migrate::migrate(&mut connection, &opened)?;
            Ok(connection)
        })
        .await
    }

    /// A store that is gone with its last clone.
    ///
    /// # Errors
    /// [`StoreError::Open`] if there is no memory for it.
    pub async fn in_memory(limits: Limits) -> Result<Self, StoreError> {
        Self::start(None, limits, move || {
            let path = Path::new(":memory:");
            let open = |error: rusqlite::Error| StoreError::Open {
                path: path.to_owned(),
                source: error.into(),
            };
            let mut connection = Connection::open_in_memory().map_err(open)?;
            migrate::configure(&connection, limits.busy).map_err(open)?;
            migrate::migrate(&mut connection, path)?;
            Ok(connection)
        })
        .await
    }

    /// The file, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    async fn start(
        path: Option<PathBuf>,
        limits: Limits,
        open: impl FnOnce() -> Result<Connection, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (orders, queue) = mpsc::channel(limits.queue);
        let (opened, wait) = oneshot::channel();
        let work = move || match open() {
            Ok(connection) => {
                if opened.send(Ok(())).is_ok() {
                    serve(connection, queue);
                }
            }
            Err(error) => drop(opened.send(Err(error))),
        };
        thread::Builder::new()
            .name("switchboard-store".to_owned())
            .spawn(work)
            .map_err(|error| StoreError::Failed(error.into()))?;
        wait.await.map_err(|_| StoreError::Closed)??;
        let holders = Holders::of(path.as_deref());
        Ok(Self {
            orders,
            path,
            limits,
            marker: Marker::default(),
            holder: holders.id().clone(),
            holders: Arc::new(Mutex::new(holders)),
        })
    }

    /// Has the thread do something, and waits for it.
    async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, wait) = oneshot::channel();
        let order = Order::Do(Box::new(move |connection| {
            drop(answer.send(job(connection)))
        }));
        self.orders
            .send(order)
            .await
            .map_err(|_| StoreError::Closed)?;
        wait.await.map_err(|_| StoreError::Closed)?
    }

    fn page(&self, limit: u32) -> u32 {
        limit.min(self.limits.page)
    }
}

/// Does what is asked until nobody can ask any more.
fn serve(mut connection: Connection, mut queue: mpsc::Receiver<Order>) {
    while let Some(order) = queue.blocking_recv() {
        match order {
            Order::Do(job) => job(&mut connection),
            Order::Close(done) => {
                drop(connection);
                drop(queue);
                let _ = done.send(());
                return;
            }
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, changes: Vec<Change>) -> Result<Vec<u64>, StoreError> {
        let row_bytes = self.limits.row_bytes;
        let (marker, holders) = (self.marker.clone(), Arc::clone(&self.holders));
        self.ask(move |connection| {
            let made = write::commit(connection, &changes, row_bytes, &mut holders.lock())?;
            marker.tell(&changes);
            Ok(made)
        })
        .await
    }

    fn holder(&self) -> &HolderId {
        &self.holder
    }

    async fn users(&self) -> Result<Vec<User>, StoreError> {
        self.ask(|connection| read::users(connection)).await
    }

    async fn servers(&self, user: &UserId) -> Result<Vec<Server>, StoreError> {
        let user = user.clone();
        self.ask(move |connection| read::servers(connection, &user))
            .await
    }

    async fn server(&self, user: &UserId, id: &ServerId) -> Result<Option<Server>, StoreError> {
        let (user, id) = (user.clone(), id.clone());
        self.ask(move |connection| read::server(connection, &user, &id))
            .await
    }

    async fn server_tools(&self, server: &ServerId) -> Result<Vec<ServerTool>, StoreError> {
        let server = server.clone();
        self.ask(move |connection| read::server_tools(connection, &server))
            .await
    }

    async fn tokens(&self, server: &ServerId) -> Result<Vec<TokenRef>, StoreError> {
        let server = server.clone();
        self.ask(move |connection| read::tokens(connection, &server))
            .await
    }

    async fn assistants(&self, user: &UserId) -> Result<Vec<Assistant>, StoreError> {
        let user = user.clone();
        self.ask(move |connection| read::assistants(connection, &user))
            .await
    }

    async fn assistant_servers(
        &self,
        assistant: &AssistantId,
    ) -> Result<Vec<ServerId>, StoreError> {
        let assistant = assistant.clone();
        self.ask(move |connection| read::assistant_servers(connection, &assistant))
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
        self.ask(move |connection| read::conversations(connection, &user, after, limit))
            .await
    }

    async fn conversation(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Option<Conversation>, StoreError> {
        let (user, id) = (user.clone(), id.clone());
        self.ask(move |connection| read::conversation(connection, &user, &id))
            .await
    }

    async fn messages(
        &self,
        conversation: &ConversationId,
        span: Span,
    ) -> Result<Vec<Message>, StoreError> {
        let conversation = conversation.clone();
        let span = match span {
            Span::Last(limit) => Span::Last(self.page(limit)),
            Span::Before(seq, limit) => Span::Before(seq, self.page(limit)),
            Span::From(seq, limit) => Span::From(seq, self.page(limit)),
        };
        self.ask(move |connection| read::messages(connection, &conversation, span))
            .await
    }

    async fn message(&self, id: &MessageId) -> Result<Option<Message>, StoreError> {
        let id = id.clone();
        self.ask(move |connection| read::message(connection, &id))
            .await
    }

    async fn blob(
        &self,
        conversation: &ConversationId,
        id: &BlobId,
    ) -> Result<Option<Blob>, StoreError> {
        let (conversation, id) = (conversation.clone(), id.clone());
        self.ask(move |connection| read::blob(connection, &conversation, &id))
            .await
    }

    async fn rules(&self, user: &UserId) -> Result<Vec<Rule>, StoreError> {
        let user = user.clone();
        self.ask(move |connection| read::rules(connection, &user))
            .await
    }

    async fn approved_definitions(
        &self,
        user: &UserId,
    ) -> Result<Vec<ApprovedDefinition>, StoreError> {
        let user = user.clone();
        self.ask(move |connection| read::approved_definitions(connection, &user))
            .await
    }

    async fn open_questions(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<Pending>, StoreError> {
        let conversation = conversation.clone();
        self.ask(move |connection| read::open_questions(connection, &conversation))
            .await
    }

    async fn question(&self, id: &PendingId) -> Result<Option<Pending>, StoreError> {
        let id = id.clone();
        self.ask(move |connection| read::question(connection, &id))
            .await
    }

    async fn latest_run(&self, conversation: &ConversationId) -> Result<Option<Run>, StoreError> {
        let conversation = conversation.clone();
        self.ask(move |connection| read::latest_run(connection, &conversation))
            .await
    }

    async fn unfinished(&self, user: &UserId) -> Result<Vec<ConversationId>, StoreError> {
        let user = user.clone();
        self.ask(move |connection| read::unfinished(connection, &user))
            .await
    }

    async fn standings(
        &self,
        conversations: &[ConversationId],
    ) -> Result<Vec<Standing>, StoreError> {
        let conversations = conversations.to_vec();
        self.ask(move |connection| read::standings(connection, &conversations))
            .await
    }

    async fn usage(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        since: Option<Timestamp>,
    ) -> Result<Vec<UsageTotal>, StoreError> {
        let (user, conversation) = (user.clone(), conversation.cloned());
        self.ask(move |connection| read::usage(connection, &user, conversation, since))
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
        self.ask(move |connection| read::events(connection, &user, conversation, after, limit))
            .await
    }

    async fn event_bounds(&self, user: &UserId) -> Result<EventBounds, StoreError> {
        let user = user.clone();
        self.ask(move |connection| read::event_bounds(connection, &user))
            .await
    }

    fn marks(&self) -> Marks {
        self.marker.marks()
    }

    async fn settings(&self, user: &UserId) -> Result<Vec<Setting>, StoreError> {
        let user = user.clone();
        self.ask(move |connection| read::settings(connection, &user))
            .await
    }

    async fn close(&self) -> Result<(), StoreError> {
        let holders = Arc::clone(&self.holders);
        let left = move |connection: &mut Connection| {
            holders.lock().leave(connection);
            Ok(())
        };
        self.ask(left).await?;
        let (done, wait) = oneshot::channel();
        let sent = self.orders.send(Order::Close(done)).await;
        sent.map_err(|_| StoreError::Closed)?;
        wait.await.map_err(|_| StoreError::Closed)
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
