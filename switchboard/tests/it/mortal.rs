//! A store whose process can be killed: at once, or around one of its next commits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use switchboard::store::*;
use tokio::sync::watch;

/// Where in a commit a process dies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    Before,
    After,
}

/// The store as one process has it. Once it is killed, nothing it does has any effect, and what it
/// had locked is free.
pub(crate) struct Mortal {
    holder: HolderId,
    signal: EventSignal,
    inner: Mutex<Option<SqliteStore>>,
    /// After how many more commits it dies.
    fuse: Mutex<Option<(usize, Moment)>>,
    /// Whether it takes leases from living processes, as if they had not renewed in time.
    impatient: AtomicBool,
    written: AtomicUsize,
    /// How often each kind of row was read.
    reads: Mutex<BTreeMap<&'static str, usize>>,
    dead: watch::Sender<bool>,
}

impl Mortal {
    pub(crate) async fn open(path: &Path) -> Arc<Self> {
        let inner = SqliteStore::open(path, Limits::default()).await.unwrap();
        Arc::new(Self {
            holder: inner.holder().clone(),
            signal: EventSignal::default(),
            inner: Mutex::new(Some(inner)),
            fuse: Mutex::new(None),
            impatient: AtomicBool::new(false),
            written: AtomicUsize::new(0),
            reads: Mutex::default(),
            dead: watch::Sender::new(false),
        })
    }

    pub(crate) fn light(&self, commits: usize, moment: Moment) {
        *self.fuse.lock() = Some((commits, moment));
    }

    pub(crate) fn hasten(&self, impatient: bool) {
        self.impatient.store(impatient, Ordering::Relaxed);
    }

    /// How many bytes were handed over to be stored, near enough.
    pub(crate) fn written(&self) -> usize {
        self.written.load(Ordering::Relaxed)
    }

    /// How often this was read.
    pub(crate) fn read(&self, what: &str) -> usize {
        self.reads.lock().get(what).copied().unwrap_or(0)
    }

    /// Nothing is begun from here on; what was begun is over when this returns.
    pub(crate) async fn kill(&self) {
        let inner = self.inner.lock().take();
        if let Some(inner) = inner {
            // Commits are made one after the other.
            let _ = inner.commit(Vec::new()).await;
        }
        self.dead.send_replace(true);
    }

    /// Waits until it is dead.
    pub(crate) async fn died(&self) {
        let _ = self.dead.subscribe().wait_for(|dead| *dead).await;
    }

    fn inner(&self) -> Result<SqliteStore, StoreError> {
        self.inner.lock().clone().ok_or(StoreError::Closed)
    }

    /// Whether this commit is the one it dies at.
    fn burnt(&self) -> Option<Moment> {
        let mut fuse = self.fuse.lock();
        match &mut *fuse {
            Some((0, moment)) => Some(*moment),
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        }
    }

    async fn make(&self, mut changes: Vec<Change>) -> Result<Vec<u64>, StoreError> {
        let inner = self.inner()?;
        let bytes = format!("{changes:?}").len();
        self.written.fetch_add(bytes, Ordering::Relaxed);
        if self.impatient.load(Ordering::Relaxed) {
            for change in &mut changes {
                if let Change::AcquireLease { timeout, .. } = change {
                    *timeout = Duration::ZERO;
                }
            }
        }
        let moment = self.burnt();
        if matches!(moment, None | Some(Moment::After)) {
            let made = inner.commit(changes).await;
            if moment.is_none() {
                return made;
            }
        }
        drop(inner);
        self.kill().await;
        std::future::pending().await
    }
}

impl fmt::Debug for Mortal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mortal").finish_non_exhaustive()
    }
}

macro_rules! reads {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        #[async_trait]
        impl Store for Mortal {
            async fn commit(&self, changes: Vec<Change>) -> Result<Vec<u64>, StoreError> {
                self.make(changes).await
            }

            fn holder(&self) -> &HolderId {
                &self.holder
            }

            fn event_cursor(&self) -> EventCursor {
                match self.inner() {
                    Ok(inner) => inner.event_cursor(),
                    Err(_) => self.signal.cursor(),
                }
            }

            $(async fn $name(&self, $($arg: $type),*) -> Result<$out, StoreError> {
                *self.reads.lock().entry(stringify!($name)).or_default() += 1;
                self.inner()?.$name($($arg),*).await
            })*
        }
    };
}

reads! {
    users() -> Vec<User>;
    login_session(hash: &str) -> Option<(LoginSession, User)>;
    login_attempt(hash: &str) -> Option<LoginAttempt>;
    access_token(hash: &str) -> Option<(AccessToken, User)>;
    access_tokens(user: &UserId) -> Vec<AccessToken>;
    servers(user: &UserId) -> Vec<Server>;
    server(user: &UserId, id: &ServerId) -> Option<Server>;
    server_tools(server: &ServerId) -> Vec<ServerTool>;
    tokens(server: &ServerId) -> Vec<TokenRef>;
    assistants(user: &UserId) -> Vec<Assistant>;
    assistant_servers(assistant: &AssistantId) -> Vec<ServerId>;
    conversations(user: &UserId, after: Option<&Conversation>, limit: u32) -> Vec<Conversation>;
    conversation(user: &UserId, id: &ConversationId) -> Option<Conversation>;
    messages(conversation: &ConversationId, span: Span) -> Vec<Message>;
    places(conversation: &ConversationId) -> Vec<MessagePlace>;
    message(id: &MessageId) -> Option<Message>;
    search(user: &UserId, words: &SearchWords, limit: u32) -> Vec<Message>;
    blob(conversation: &ConversationId, id: &BlobId) -> Option<Blob>;
    rules(user: &UserId) -> Vec<Rule>;
    approved_definitions(user: &UserId) -> Vec<ApprovedDefinition>;
    open_questions(conversation: &ConversationId) -> Vec<Pending>;
    question(id: &PendingId) -> Option<Pending>;
    snapshot(user: &UserId, id: &ConversationId) -> Option<Snapshot>;
    latest_run(conversation: &ConversationId) -> Option<Run>;
    unfinished(user: &UserId) -> Vec<ConversationId>;
    standings(conversations: &[ConversationId]) -> Vec<Standing>;
    usage(user: &UserId, conversation: Option<&ConversationId>, since: Option<Timestamp>) -> Vec<UsageTotal>;
    usage_of(messages: &[MessageId]) -> Vec<(MessageId, UsageTotal)>;
    events(user: &UserId, conversation: Option<&ConversationId>, after: u64, limit: u32) -> Vec<Event>;
    event_bounds(user: &UserId) -> EventBounds;
    settings(user: &UserId) -> Vec<Setting>;
    close() -> ();
}
