//! The handle of a connection, and its untyped requests.

pub(crate) mod builder;
#[cfg(any(feature = "stdio", feature = "http"))]
pub(crate) mod constructors;
pub(crate) mod limits;
pub(crate) mod options;
pub(crate) mod settings;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_jsonrpc::model::{
    Discover, EmptyParams, EmptyResult, LoggingLevel, Ping, RootsListChanged, SetLevel,
    SetLevelParams,
};
use mcp_jsonrpc::{
    Method, NotificationMethod, RawJson, RawMap, RawObject, Revision, encode_notification,
};
use mcp_transport::{BoxError, Connect, Outgoing, ProcessExit, TransportError, TransportKind};
use serde::Serialize;

use crate::call::error::CallError;
use crate::call::request::{Call, no_headers};
use crate::client::builder::ClientBuilder;
use crate::client::options::CallOptions;
use crate::client::settings::Settings;
use crate::connect::error::ConnectError;
use crate::connect::negotiation::connect;
use crate::connection::Connection;
use crate::connection::session::ServerDetails;

/// A connection to one MCP server.
///
/// A client is cheap to clone and to share between tasks. All clones are the same connection, which is closed by
/// [`close`](Self::close) or when the last clone is dropped. Methods, types and events are the same for every era and
/// transport.
///
/// Dropping the future of a call cancels the call at the server, too.
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
    options: Option<Arc<CallOptions>>,
}

/// Closes the connection when the last handle is dropped.
#[derive(Debug)]
struct Inner {
    connection: Arc<Connection>,
    runtime: tokio::runtime::Handle,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.connection.is_over() {
            let transport = Arc::clone(&self.connection.transport);
            self.runtime.spawn(async move { transport.close().await });
        }
    }
}

impl Client {
    /// Creates a builder for the server that `connect` reaches: a
    /// [`ServerCommand`](mcp_transport::Connect#implementors), an `HttpConfig`, or your own connector.
    pub fn builder(connect: impl Connect + 'static) -> ClientBuilder {
        ClientBuilder::new(Arc::new(connect))
    }

    pub(crate) async fn open(settings: Arc<Settings>) -> Result<Self, ConnectError> {
        let connection = connect(&settings).await?;
        let inner = Inner {
            connection,
            runtime: tokio::runtime::Handle::current(),
        };
        Ok(Self {
            inner: Arc::new(inner),
            options: None,
        })
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.inner.connection
    }

    pub(crate) fn options(&self) -> Option<&CallOptions> {
        self.options.as_deref()
    }

    /// Returns a handle to the same connection with these options for its calls.
    ///
    /// The options replace those of this handle; they are not merged.
    #[must_use]
    pub fn with(&self, options: CallOptions) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            options: Some(Arc::new(options)),
        }
    }

    /// Opens a new connection to the same server with the same settings. This one is not affected.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::connect`].
    pub async fn reconnect(&self) -> Result<Self, ConnectError> {
        let fresh = Self::open(Arc::clone(&self.connection().settings)).await?;
        Ok(Self {
            options: self.options.clone(),
            ..fresh
        })
    }

    /// Runs `call`, and again if the first attempt failed in a way that makes this safe.
    ///
    /// Nothing is ever retried unless the caller asks for it. [`CallError::is_safe_to_reissue`] decides what is safe.
    /// The second attempt uses this connection if it is still open, otherwise a new one for this call only.
    ///
    /// # Errors
    ///
    /// The error of the second attempt, or of the first if there was no second.
    pub async fn reissue<T, F>(&self, call: impl Fn(Self) -> F) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let error = match call(self.clone()).await {
            Err(error) if error.is_safe_to_reissue() => error,
            done => return done,
        };
        if self.is_alive() {
            return call(self.clone()).await;
        }
        match self.reconnect().await {
            Ok(fresh) => {
                let done = call(fresh.clone()).await;
                fresh.close().await;
                done
            }
            Err(_) => Err(error),
        }
    }

    /// Our name for the server.
    pub fn name(&self) -> &str {
        &self.connection().settings.name
    }

    /// What the server declared about itself.
    pub fn server(&self) -> ServerDetails {
        self.connection().session().facts.clone()
    }

    /// The protocol revision in use, for display.
    pub fn revision(&self) -> Revision {
        self.connection()
            .session()
            .dialect
            .revision()
            .unwrap_or(Revision::LATEST_LEGACY)
    }

    /// The kind of connection, for display.
    pub fn transport_kind(&self) -> TransportKind {
        self.connection().shape
    }

    /// Whether calls can still be made, as far as known.
    pub fn is_alive(&self) -> bool {
        !self.connection().is_over() && self.connection().transport.is_alive()
    }

    /// The time since the last call started; zero while one is in flight. Use it to close idle connections.
    pub fn idle_time(&self) -> Duration {
        self.connection().idle()
    }

    /// The number of changes of its tool list the server has announced on this connection. They are counted as messages
    /// are read: over stdio, a change announced before a response counts before that response's call returns, even if
    /// `on_event` has not been called with it yet.
    pub fn tool_list_changes(&self) -> u64 {
        self.connection().tool_changes.load(Ordering::Acquire)
    }

    /// How the server's process exited, if it has; `None` if there is no process.
    pub fn process_exit(&self) -> Option<ProcessExit> {
        self.connection().transport.exit()
    }

    /// Sets the idle timeout of calls without their own: the time without a response or progress. Their total deadline
    /// is ten times that.
    pub fn set_idle_timeout(&self, timeout: Duration) {
        self.connection().update(|snapshot| {
            snapshot.tuning.idle_timeout = timeout;
            snapshot.tuning.deadline = timeout.saturating_mul(10);
        });
    }

    /// Calls `listener` when the connection has ended, on a separate task; immediately if it has already ended. The
    /// argument is the reason, unless we closed it or it ended cleanly.
    pub fn on_close(&self, listener: impl Fn(Option<Arc<TransportError>>) + Send + Sync + 'static) {
        self.connection().on_close(Arc::new(listener));
    }

    /// Closes the connection for all clones and returns when everything it held has ended: the server's process,
    /// sockets, tasks. Calls in flight fail. Bounded in time; idempotent.
    pub async fn close(&self) {
        self.connection().close().await;
    }

    /// Checks that the server responds.
    ///
    /// # Errors
    ///
    /// As for any call; see [`CallError`].
    pub async fn ping(&self) -> Result<(), CallError> {
        let method = if self.revision().has_ping() {
            Ping::NAME
        } else {
            Discover::NAME
        };
        let params = EmptyParams::default();
        self.call::<RawJson>(&Call::new(method, &params))
            .await
            .map(drop)
    }

    /// Sets the minimum level of the server's log messages.
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] if the server does not log; else as for any call.
    pub async fn set_log_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        self.require(SetLevel::NAME, "logging", |can| can.logging.is_some())?;
        if self.revision().has_set_level() {
            let params = SetLevelParams::new(level);
            self.call::<EmptyResult>(&Call::new(SetLevel::NAME, &params))
                .await?;
        }
        self.connection()
            .update(|snapshot| snapshot.tuning.log_level = Some(level));
        Ok(())
    }

    /// Ensures that log messages of `level` and above are sent, without suppressing any already being sent: for a
    /// connection shared by several users. Sends at most one request to the server for each level. For modern servers,
    /// set the level with each call ([`CallOptions::with_log_level`]).
    ///
    /// # Errors
    ///
    /// As [`set_log_level`](Self::set_log_level).
    pub async fn lower_log_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        let known = self.connection().snapshot().tuning.log_level;
        if !self.revision().has_set_level() || known.is_some_and(|known| known <= level) {
            return Ok(());
        }
        // Recorded first, so that a server that rejects the request is not asked again.
        self.connection()
            .update(|snapshot| snapshot.tuning.log_level = Some(level));
        self.set_log_level(level).await
    }

    /// Notifies the server that the roots changed. Modern servers request them as required and are not notified.
    ///
    /// # Errors
    ///
    /// As for any call.
    pub async fn roots_changed(&self) -> Result<(), CallError> {
        let declared = self.connection().settings.capabilities.roots();
        if declared && self.revision().has_roots_list_changed() {
            self.notify_raw(RootsListChanged::NAME, &()).await?;
        }
        Ok(())
    }

    /// Calls any method, such as a method of an extension.
    ///
    /// # Errors
    ///
    /// See [`CallError`].
    pub async fn request<M: Method>(&self, params: &M::Params) -> Result<M::Output, CallError>
    where
        M::Params: Sync,
    {
        let (params, meta) = self.take_meta(M::NAME, params)?;
        let call = Call {
            meta: meta.as_ref(),
            ..Call::new(M::NAME, &params)
        };
        self.call(&call).await
    }

    /// Like [`request`](Self::request), with the method as a string and without types.
    ///
    /// # Errors
    ///
    /// See [`CallError`].
    pub async fn request_raw(
        &self,
        method: &str,
        params: &(impl Serialize + Sync + ?Sized),
    ) -> Result<RawJson, CallError> {
        let (params, meta) = self.take_meta(method, params)?;
        let call = Call {
            method: Cow::Owned(method.to_owned()),
            params: &params,
            name: None,
            headers: &no_headers,
            meta: meta.as_ref(),
        };
        self.call(&call).await
    }

    /// Sends a notification, within a call's time limit.
    ///
    /// # Errors
    ///
    /// [`CallError::NotSent`] or [`CallError::OutcomeUnknown`] if it could not be sent.
    pub async fn notify<N: NotificationMethod>(&self, params: &N::Params) -> Result<(), CallError>
    where
        N::Params: Sync,
    {
        self.notify_raw(N::NAME, params).await
    }

    /// Like [`notify`](Self::notify), with the method as a string and without types.
    ///
    /// # Errors
    ///
    /// As [`notify`](Self::notify).
    pub async fn notify_raw(
        &self,
        method: &str,
        params: &(impl Serialize + Sync + ?Sized),
    ) -> Result<(), CallError> {
        let call = || self.call_name(method);
        let mut body = Vec::new();
        encode_notification(&mut body, method, params).map_err(|error| {
            CallError::InvalidRequest {
                call: call(),
                source: error.into(),
            }
        })?;
        let mut message = Outgoing::notification(method, body);
        let snapshot = self.connection().snapshot();
        message.revision = snapshot.session.dialect.revision();
        let limit = self.deadlines(&snapshot.tuning).idle;
        self.connection()
            .send_within(limit, message)
            .await
            .map_err(|failure| {
                let failure = crate::call::exchange::RequestFailure::Lost {
                    error: failure.error.into(),
                    delivery: failure.delivery,
                };
                failure.into_error(call())
            })
    }

    /// Splits params into the method's own members and the caller's `_meta`.
    fn take_meta(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<(RawObject, Option<RawMap>), CallError> {
        RawJson::from_serialize(params)
            .map_err(BoxError::from)
            .and_then(|params| {
                if params.is_null() {
                    return Ok((RawObject::empty(), None));
                }
                let mut members: RawMap = params.parse()?;
                let meta = members
                    .remove("_meta")
                    .map(|meta| meta.parse())
                    .transpose()?;
                Ok((RawObject::from_serialize(&members)?, meta))
            })
            .map_err(|source| CallError::InvalidRequest {
                call: self.call_name(method),
                source,
            })
    }
}
