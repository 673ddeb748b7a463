//! The store in a PostgreSQL database, which several machines may share.

mod cluster;
mod connection;
mod direct;
mod leases;
mod limits;
mod listen;
mod login;
mod migrate;
mod read;
mod session;
mod shared;
mod tries;
mod write;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Pool, PoolError, Runtime, Timeouts};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::{Config, IsolationLevel};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::change::Change;
use crate::store::cluster::Cluster;
use crate::store::error::StoreError;
use crate::store::event_signal::EventCursor;
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
use crate::store::{Span, Store, without_password};

use connection::Statements;
pub(in crate::store) use direct::Direct;
pub use limits::PostgresLimits;
use listen::Ear;
use session::Failure;
use shared::Shared;

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

/// Reads what one statement finds, or what several find at one moment.
macro_rules! fetch {
    ($self:ident, $method:ident($($argument:expr),*)) => {{
        let shared = &$self.shared;
        let mut tries = shared.tries();
        loop {
            let attempt = shared.work(async |client| {
                shared.session(&*client).$method($($argument),*).await
            });
            match attempt.await {
                Ok(found) => return Ok(found),
                Err(failure) => tries.after(failure).await?,
            }
        }
    }};
    ($self:ident, at once $method:ident($($argument:expr),*)) => {{
        let shared = &$self.shared;
        let mut tries = shared.tries();
        loop {
            let attempt = shared.work(async |client| {
                let moment = client
                    .build_transaction()
                    .read_only(true)
                    .isolation_level(IsolationLevel::RepeatableRead)
                    .start()
                    .await?;
                let found = shared.session(&moment).$method($($argument),*).await?;
                moment.commit().await?;
                Ok(found)
            });
            match attempt.await {
                Ok(found) => return Ok(found),
                Err(failure) => tries.after(failure).await?,
            }
        }
    }};
}
use fetch;

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
        config.tcp_user_timeout(limits.answer_time);
        config.keepalives_idle(limits.answer_time);
        let tls = tls().map_err(|error| open(error.into()))?;
        let manager = deadpool_postgres::Manager::new(config.clone(), tls.clone());
        let pool = Pool::builder(manager)
            .max_size(limits.connections)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts {
                wait: Some(limits.patience),
                create: Some(limits.answer_time),
                recycle: Some(limits.answer_time),
            })
            .build()
            .map_err(|error| open(error.into()))?;
        let mut client = pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => open(error.into()),
            other => open(other.into()),
        })?;
        let statements = match listen::hears(&config, &tls, &client).await {
            Some(false) => Statements::Unnamed,
            _ => Statements::Prepared,
        };
        let migrated = migrate::migrate(&mut client, &database).await;
        migrated.map_err(|failure| match failure {
            Failure::Final(StoreError::Failed(source)) => open(source),
            Failure::Final(error) => error,
            Failure::Transient(error) => open(error.into()),
            Failure::ReadOnly => StoreError::ReadOnly,
            Failure::Silent => open("it does not answer".into()),
        })?;
        drop(client);
        let ear = Ear::new(limits.lease_timeout, statements == Statements::Unnamed);
        let listener = listen::listen(config, tls, Arc::clone(&ear));
        let shared = Shared {
            pool,
            database,
            limits,
            ear,
            statements,
            listener: tokio::spawn(listener).abort_handle(),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
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
        &self.shared.ear.holder
    }

    fn lease_timeout(&self) -> Duration {
        self.shared.limits.lease_timeout
    }

    fn cluster(&self) -> Option<&dyn Cluster> {
        Some(self)
    }

    async fn users(&self) -> Result<Vec<User>, StoreError> {
        fetch!(self, users())
    }

    async fn login_session(&self, hash: &str) -> Result<Option<(LoginSession, User)>, StoreError> {
        fetch!(self, at once login_session(hash))
    }

    async fn login_attempt(&self, hash: &str) -> Result<Option<LoginAttempt>, StoreError> {
        fetch!(self, login_attempt(hash))
    }

    async fn access_token(&self, hash: &str) -> Result<Option<(AccessToken, User)>, StoreError> {
        fetch!(self, at once access_token(hash))
    }

    async fn access_tokens(&self, user: &UserId) -> Result<Vec<AccessToken>, StoreError> {
        fetch!(self, access_tokens(user))
    }

    async fn servers(&self, user: &UserId) -> Result<Vec<Server>, StoreError> {
        fetch!(self, servers(user))
    }

    async fn server(&self, user: &UserId, id: &ServerId) -> Result<Option<Server>, StoreError> {
        fetch!(self, server(user, id))
    }

    async fn server_tools(&self, server: &ServerId) -> Result<Vec<ServerTool>, StoreError> {
        fetch!(self, server_tools(server))
    }

    async fn tokens(&self, server: &ServerId) -> Result<Vec<TokenRef>, StoreError> {
        fetch!(self, tokens(server))
    }

    async fn assistants(&self, user: &UserId) -> Result<Vec<Assistant>, StoreError> {
        fetch!(self, assistants(user))
    }

    async fn assistant_servers(
        &self,
        assistant: &AssistantId,
    ) -> Result<Vec<ServerId>, StoreError> {
        fetch!(self, assistant_servers(assistant))
    }

    async fn conversations(
        &self,
        user: &UserId,
        after: Option<&Conversation>,
        limit: u32,
    ) -> Result<Vec<Conversation>, StoreError> {
        let limit = self.shared.page(limit);
        fetch!(self, conversations(user, after, limit))
    }

    async fn search(
        &self,
        user: &UserId,
        words: &SearchWords,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError> {
        let limit = self.shared.page(limit);
        fetch!(self, search(user, words, limit))
    }

    async fn conversation(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Option<Conversation>, StoreError> {
        fetch!(self, conversation(user, id))
    }

    async fn messages(
        &self,
        conversation: &ConversationId,
        span: Span,
    ) -> Result<Vec<Message>, StoreError> {
        let span = span.at_most(self.shared.limits.page);
        fetch!(self, at once messages(conversation, span))
    }

    async fn places(&self, conversation: &ConversationId) -> Result<Vec<MessagePlace>, StoreError> {
        fetch!(self, places(conversation))
    }

    async fn message(&self, id: &MessageId) -> Result<Option<Message>, StoreError> {
        fetch!(self, at once message(id))
    }

    async fn blob(
        &self,
        conversation: &ConversationId,
        id: &BlobId,
    ) -> Result<Option<Blob>, StoreError> {
        fetch!(self, blob(conversation, id))
    }

    async fn rules(&self, user: &UserId) -> Result<Vec<Rule>, StoreError> {
        fetch!(self, rules(user))
    }

    async fn approved_definitions(
        &self,
        user: &UserId,
    ) -> Result<Vec<ApprovedDefinition>, StoreError> {
        fetch!(self, approved_definitions(user))
    }

    async fn open_questions(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<Pending>, StoreError> {
        fetch!(self, open_questions(conversation))
    }

    async fn question(&self, id: &PendingId) -> Result<Option<Pending>, StoreError> {
        fetch!(self, question(id))
    }

    async fn snapshot(
        &self,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Option<Snapshot>, StoreError> {
        fetch!(self, at once snapshot(user, id))
    }

    async fn latest_run(&self, conversation: &ConversationId) -> Result<Option<Run>, StoreError> {
        fetch!(self, latest_run(conversation))
    }

    async fn unfinished(&self, user: &UserId) -> Result<Vec<ConversationId>, StoreError> {
        fetch!(self, unfinished(user))
    }

    async fn standings(
        &self,
        conversations: &[ConversationId],
    ) -> Result<Vec<Standing>, StoreError> {
        fetch!(self, at once standings(conversations))
    }

    async fn usage(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        since: Option<Timestamp>,
    ) -> Result<Vec<UsageTotal>, StoreError> {
        fetch!(self, usage(user, conversation, since))
    }

    async fn usage_of(
        &self,
        messages: &[MessageId],
    ) -> Result<Vec<(MessageId, UsageTotal)>, StoreError> {
        fetch!(self, usage_of(messages))
    }

    async fn events(
        &self,
        user: &UserId,
        conversation: Option<&ConversationId>,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let limit = self.shared.page(limit);
        fetch!(self, events(user, conversation, after, limit))
    }

    async fn event_bounds(&self, user: &UserId) -> Result<EventBounds, StoreError> {
        fetch!(self, event_bounds(user))
    }

    fn event_cursor(&self) -> EventCursor {
        self.shared.ear.signal.cursor()
    }

    async fn settings(&self, user: &UserId) -> Result<Vec<Setting>, StoreError> {
        fetch!(self, settings(user))
    }

    async fn close(&self) -> Result<(), StoreError> {
        let shared = &self.shared;
        shared.listener.abort();
        // No other process has to wait until the leases of this one expire.
        let released = shared.transact(async |session| {
            let of = [shared.ear.holder.as_str().into()];
            for sql in [
                "DELETE FROM leases WHERE holder = $1",
                "DELETE FROM processes WHERE holder = $1",
            ] {
                session.execute(sql, &of).await?;
            }
            let of = [listen::MAIL.into(), "".into()];
            session.execute("SELECT pg_notify($1, $2)", &of).await
        });
        let released = released.await;
        shared.pool.close();
        match released {
            Err(Failure::Final(error)) => Err(error),
            // Leases that were not given back expire.
            _ => Ok(()),
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
