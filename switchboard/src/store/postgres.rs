//! The store in a PostgreSQL database, which several machines may share.

mod leases;
mod limits;
mod listen;
mod migrate;
mod read;
mod session;
mod tries;
mod write;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{GenericClient as _, Object, Pool, PoolError, Runtime, Timeouts};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_postgres::{Config, IsolationLevel};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::change::Change;
use crate::store::error::StoreError;
use crate::store::event_signal::{EventCursor, EventSignal};
use crate::store::id::{
    AssistantId, BlobId, ConversationId, HolderId, MessageId, PendingId, ServerId, UserId,
};
use crate::store::row::{
    ApprovedDefinition, Assistant, Blob, Conversation, Event, EventBounds, Message, Pending, Rule,
    Run, Server, ServerTool, Setting, Snapshot, Standing, TokenRef, UsageTotal, User,
};
use crate::store::timestamp::Timestamp;
use crate::store::{Span, Store, without_password};

pub use limits::PostgresLimits;
use session::{Failure, Session};
use tries::{FIRST_PAUSE, Tries};

/// The store in a PostgreSQL database.
///
/// A cheap clone. Several processes, on several machines, may use one database at once: leases are
/// timed by the database's clock, events are numbered in the order of their commits, and processes
/// notify each other of new events. A commit whose outcome was lost with its connection is looked up
/// and never applied twice. TLS is used if the server offers it, or required with
/// `?sslmode=require`.
#[derive(Clone)]
pub struct PostgresStore {
    shared: Arc<Shared>,
}

struct Shared {
    pool: Pool,
    /// The database's address, without a password.
    database: String,
    limits: PostgresLimits,
    signal: EventSignal,
    holder: HolderId,
    listener: AbortHandle,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Reads what one statement finds, or what several find at one moment.
macro_rules! read {
    ($self:ident, $method:ident($($argument:expr),*)) => {{
        let mut tries = $self.shared.tries();
        loop {
            let attempt = async {
                let client = $self.shared.client().await?;
                $self.shared.session(&client).$method($($argument),*).await
            };
            match attempt.await {
                Ok(found) => return Ok(found),
                Err(failure) => tries.after(failure).await?,
            }
        }
    }};
    ($self:ident, at once $method:ident($($argument:expr),*)) => {{
        let mut tries = $self.shared.tries();
        loop {
            let attempt = async {
                let mut client = $self.shared.client().await?;
                let moment = client
                    .build_transaction()
                    .read_only(true)
                    .isolation_level(IsolationLevel::RepeatableRead)
                    .start()
                    .await?;
                let found = $self.shared.session(&moment).$method($($argument),*).await?;
                moment.commit().await?;
                Ok(found)
            };
            match attempt.await {
                Ok(found) => return Ok(found),
                Err(failure) => tries.after(failure).await?,
            }
        }
    }};
}

impl PostgresStore {
    /// Connects to a database, `postgres://user:password@host/name`, and brings its tables up to
    /// date.
    ///
    /// # Errors
    /// [`StoreError::Open`] if it cannot be reached or the address is wrong, [`StoreError::Foreign`]
    /// if its tables are another program's, [`StoreError::Newer`] if a newer version of the program
    /// wrote them.
    pub async fn open(url: &str, limits: PostgresLimits) -> Result<Self, StoreError> {
        let database = without_password(url);
        let open = |source: crate::store::error::BoxError| StoreError::Open {
            path: database.clone().into(),
            source,
        };
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            // What was wrong may be a part of the address that is secret.
            open(error.to_string().into())
        })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        config.application_name("switchboard");
        let tls = tls().map_err(|error| open(error.into()))?;
        let manager = deadpool_postgres::Manager::new(config.clone(), tls.clone());
        let pool = Pool::builder(manager)
            .max_size(limits.connections)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts::wait_millis(limits.patience.as_millis() as u64))
            .build()
            .map_err(|error| open(error.into()))?;
        let mut client = pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => open(error.into()),
            other => open(other.into()),
        })?;
        let migrated = migrate::migrate(&mut client, &database).await;
        migrated.map_err(|failure| match failure {
            Failure::Final(StoreError::Failed(source)) => open(source),
            Failure::Final(error) => error,
            Failure::Transient(error) => open(error.into()),
        })?;
        drop(client);
        let (holder, signal) = (HolderId::fresh(), EventSignal::default());
        let listener = listen::listen(config, tls, holder.clone(), signal.clone());
        let shared = Shared {
            pool,
            database,
            limits,
            signal,
            holder,
            listener: tokio::spawn(listener).abort_handle(),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }
}

impl Shared {
    fn tries(&self) -> Tries {
        Tries::new(self.limits.patience)
    }

    async fn client(&self) -> Result<Object, Failure> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Closed => StoreError::Closed.into(),
            PoolError::Timeout(_) => StoreError::Busy.into(),
            other => StoreError::Failed(other.into()).into(),
        })
    }

    fn session<'c, C>(&self, client: &'c C) -> Session<'c, C> {
        Session {
            client,
            row_bytes: self.limits.row_bytes,
        }
    }

    fn page(&self, limit: u32) -> u32 {
        limit.min(self.limits.page)
    }

    /// Makes a commit, and signals its events.
    async fn commit(&self, changes: &[Change]) -> Result<Vec<u64>, StoreError> {
        let mut tries = self.tries();
        let numbers = loop {
            match self.try_commit(changes).await {
                Ok(numbers) => break numbers,
                Err(failure) => tries.after(failure).await?,
            }
        };
        self.signal.notify(changes);
        self.notify_others(changes).await;
        Ok(numbers)
    }

    async fn try_commit(&self, changes: &[Change]) -> Result<Vec<u64>, Failure> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let session = self.session(&transaction);
        let numbers = match session.apply_all(changes).await? {
            Ok(numbers) => numbers,
            Err(refused) => {
                // The commit is refused, but the challenge is stored.
                transaction.rollback().await?;
                self.session(&client).challenge(&refused).await?;
                return Err(StoreError::Leased.into());
            }
        };
        let sql = "SELECT pg_current_xact_id()::TEXT";
        let statement = transaction.prepare_cached(sql).await?;
        let id: String = transaction.query_one(&statement, &[]).await?.try_get(0)?;
        match transaction.commit().await {
            Ok(()) => Ok(numbers),
            Err(error) if session::is_transient(&error) && error.code().is_none() => {
                drop(client);
                match self.was_committed(&id).await? {
                    true => Ok(numbers),
                    false => Err(Failure::Transient(error)),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a transaction was committed whose connection was lost just then.
    async fn was_committed(&self, id: &str) -> Result<bool, StoreError> {
        let mut tries = self.tries();
        loop {
            let attempt = async {
                let client = self.client().await?;
                let sql = "SELECT pg_xact_status($1::TEXT::XID8)";
                let texts = self.session(&client).query(sql, &[id.into()]).await?;
                let status: Option<Option<String>> =
                    texts.first().map(|row| row.try_get(0)).transpose()?;
                Ok::<_, Failure>(status.flatten())
            };
            match attempt.await {
                Ok(Some(status)) if status == "in progress" => {
                    if Instant::now() > tries.until {
                        return Err(StoreError::Busy);
                    }
                    tokio::time::sleep(FIRST_PAUSE).await;
                }
                Ok(status) => return Ok(status.as_deref() == Some("committed")),
                Err(failure) => tries.after(failure).await?,
            }
        }
    }

    /// Wakes other processes that show the events. It may fail: they look now and then anyway.
    async fn notify_others(&self, changes: &[Change]) {
        let appended = changes.iter().filter_map(|change| match change {
            Change::AppendEvent(event) => Some(listen::payload(
                &self.holder,
                &event.user_id,
                event.conversation_id.as_ref(),
            )),
            _ => None,
        });
        let appended: BTreeSet<String> = appended.collect();
        if appended.is_empty() {
            return;
        }
        let Ok(client) = self.client().await else {
            return;
        };
        let session = self.session(&client);
        for payload in appended {
            let of = [listen::CHANNEL.into(), payload.as_str().into()];
            let _ = session.execute("SELECT pg_notify($1, $2)", &of).await;
        }
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn commit(&self, changes: Vec<Change>) -> Result<Vec<u64>, StoreError> {
        let shared = Arc::clone(&self.shared);
        // In a task of its own: it ends as it would even if the caller is gone.
        let made = tokio::spawn(async move { shared.commit(&changes).await });
        made.await
            .map_err(|error| StoreError::Failed(error.into()))?
    }

    fn holder(&self) -> &HolderId {
        &self.shared.holder
    }

    async fn users(&self) -> Result<Vec<User>, StoreError> {
        read!(self, users())
    }

    async fn servers(&self, user: &UserId) -> Result<Vec<Server>, StoreError> {
        read!(self, servers(user))
    }

    async fn server(&self, user: &UserId, id: &ServerId) -> Result<Option<Server>, StoreError> {
        read!(self, server(user, id))
    }

    async fn server_tools(&self, server: &ServerId) -> Result<Vec<ServerTool>, StoreError> {
        read!(self, server_tools(server))
    }

    async fn tokens(&self, server: &ServerId) -> Result<Vec<TokenRef>, StoreError> {
        read!(self, tokens(server))
    }

    async fn assistants(&self, user: &UserId) -> Result<Vec<Assistant>, StoreError> {
        read!(self, assistants(user))
    }

    async fn assistant_servers(
        &self,
        assistant: &AssistantId,
    ) -> Result<Vec<ServerId>, StoreError> {
        read!(self, assistant_servers(assistant))
    }

    async fn conversations(
        &self,
        user: &UserId,
        after: Option<&Conversation>,
        limit: u32,
    ) -> Result<Vec<Conversation>, StoreError> {
        let limit = self.shared.page(limit);
        read!(self, conversations(user, after, limit))
    }

    async fn conversation(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Option<Conversation>, StoreError> {
        read!(self, conversation(user, id))
    }

    async fn messages(
        &self,
        conversation: &ConversationId,
        span: Span,
    ) -> Result<Vec<Message>, StoreError> {
        let span = span.at_most(self.shared.limits.page);
        read!(self, at once messages(conversation, span))
    }

    async fn message(&self, id: &MessageId) -> Result<Option<Message>, StoreError> {
        read!(self, at once message(id))
    }

    async fn blob(
        &self,
        conversation: &ConversationId,
        id: &BlobId,
    ) -> Result<Option<Blob>, StoreError> {
        read!(self, blob(conversation, id))
    }

    async fn rules(&self, user: &UserId) -> Result<Vec<Rule>, StoreError> {
        read!(self, rules(user))
    }

    async fn approved_definitions(
        &self,
        user: &UserId,
    ) -> Result<Vec<ApprovedDefinition>, StoreError> {
        read!(self, approved_definitions(user))
    }

    async fn open_questions(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<Pending>, StoreError> {
        read!(self, open_questions(conversation))
    }

    async fn question(&self, id: &PendingId) -> Result<Option<Pending>, StoreError> {
        read!(self, question(id))
    }

    async fn snapshot(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Option<Snapshot>, StoreError> {
        read!(self, at once snapshot(user, id))
    }

    async fn latest_run(&self, conversation: &ConversationId) -> Result<Option<Run>, StoreError> {
        read!(self, latest_run(conversation))
    }

    async fn unfinished(&self, user: &UserId) -> Result<Vec<ConversationId>, StoreError> {
        read!(self, unfinished(user))
    }

    async fn standings(
        &self,
        conversations: &[ConversationId],
    ) -> Result<Vec<Standing>, StoreError> {
        read!(self, at once standings(conversations))
    }

    async fn usage(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        since: Option<Timestamp>,
    ) -> Result<Vec<UsageTotal>, StoreError> {
        read!(self, usage(user, conversation, since))
    }

    async fn events(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let limit = self.shared.page(limit);
        read!(self, events(user, conversation, after, limit))
    }

    async fn event_bounds(&self, user: &UserId) -> Result<EventBounds, StoreError> {
        read!(self, event_bounds(user))
    }

    fn event_cursor(&self) -> EventCursor {
        self.shared.signal.cursor()
    }

    async fn settings(&self, user: &UserId) -> Result<Vec<Setting>, StoreError> {
        read!(self, settings(user))
    }

    async fn close(&self) -> Result<(), StoreError> {
        let shared = &self.shared;
        shared.listener.abort();
        // No other process has to wait until the leases of this one expire.
        let released = async {
            let client = shared.client().await?;
            let sql = "DELETE FROM leases WHERE holder = $1";
            let of = [shared.holder.as_str().into()];
            shared.session(&client).execute(sql, &of).await
        };
        let released = released.await;
        shared.pool.close();
        match released {
            Ok(_) | Err(Failure::Transient(_)) => Ok(()),
            Err(Failure::Final(error)) => Err(error),
        }
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("database", &self.shared.database)
            .field("limits", &self.shared.limits)
            .finish_non_exhaustive()
    }
}

/// TLS as everywhere in the program: rustls with ring, and the system's certificates.
fn tls() -> Result<MakeRustlsConnect, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
