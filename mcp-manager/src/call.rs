//! Tool calls and other calls: each is routed to the live connection of its server and has exactly one outcome.

mod admission;
mod continued;
pub(crate) mod options;
pub(crate) mod queue;
#[cfg(feature = "skills")]
mod skills;

use std::sync::Arc;
use std::time::Duration;

use mcp_client::{CallError, Client, Interests, Started, Subscription};
use mcp_jsonrpc::model::{
    CallToolResult, CompleteParams, CompleteResult, GetPromptResult, ReadResourceResult,
};
use serde::Serialize;

use crate::call::admission::Concurrency;
use crate::call::options::CallOptions;
use crate::error::ManagerError;
use crate::manager::Manager;
use crate::resource_cache::ReadThroughError;
use crate::server::handle::ServerHandle;

impl Manager {
    /// Calls a server's tool. `arguments` must serialize to a JSON object.
    ///
    /// An idle server is started; a server that is connecting is waited for. Calls to different servers run
    /// concurrently, and so do calls of different conversations ([`CallOptions::with_caller`]). A conversation's calls
    /// to one server run sequentially, in the order they were made, unless the server is configured to accept several
    /// at once, or it is trusted and the calls are read-only. Dropping the future cancels the call.
    ///
    /// If a server asks a question without identifying the call (on stdio, or on the shared stream of HTTP), it serves
    /// one conversation at a time from then on: calls of other conversations are queued ([`CallOptions::with_queued`]).
    ///
    /// A call the server may have acted on is never repeated: it ends with [`CallError::OutcomeUnknown`]. A call that
    /// was provably never sent is made once more on the next connection.
    ///
    /// # Errors
    ///
    /// [`ManagerError::Call`] if the call was made; any other if it was not.
    pub async fn call_tool(
        &self,
        server: &str,
        tool: &str,
        arguments: impl Serialize + Sync,
    ) -> Result<CallToolResult, ManagerError> {
        self.call_tool_with(server, tool, arguments, CallOptions::default())
            .await
    }

    /// Like [`call_tool`](Self::call_tool), with its own time limit, progress handler or `_meta`.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn call_tool_with(
        &self,
        server: &str,
        tool: &str,
        arguments: impl Serialize + Sync,
        options: CallOptions,
    ) -> Result<CallToolResult, ManagerError> {
        let (arguments, options) = (&arguments, &options);
        self.tool_call(server, tool, options, |client| async move {
            client.call_tool(tool, arguments).await
        })
        .await
    }

    /// Calls a tool by its exposed name, `mcp__server__tool`, as in the current catalogue. No other form is accepted.
    ///
    /// # Errors
    ///
    /// [`ManagerError::UnknownTool`] if it is not in the catalogue; else as [`call_tool`](Self::call_tool).
    pub async fn call_by_name(
        &self,
        exposed_name: &str,
        arguments: impl Serialize + Sync,
        options: CallOptions,
    ) -> Result<CallToolResult, ManagerError> {
        let entry = self.tool(exposed_name)?;
        self.call_tool_with(entry.server().as_str(), entry.name(), arguments, options)
            .await
    }

    /// Calls a tool and returns as soon as the server has either answered or turned the call into a task. `keep` is the
    /// time the server should keep the result, where the protocol can express it.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn start_tool(
        &self,
        server: &str,
        tool: &str,
        arguments: impl Serialize + Sync,
        keep: Option<Duration>,
        options: CallOptions,
    ) -> Result<Started, ManagerError> {
        let (arguments, options) = (&arguments, &options);
        self.tool_call(server, tool, options, |client| async move {
            client.start_tool(tool, arguments, keep).await
        })
        .await
    }

    /// Calls a tool and returns its result, or its task if the server creates one. A server that creates a task for
    /// every call that requests one is asked only if the tool requires it.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn call_tool_or_task(
        &self,
        server: &str,
        tool: &str,
        arguments: impl Serialize + Sync,
        options: CallOptions,
    ) -> Result<Started, ManagerError> {
        let (arguments, options) = (&arguments, &options);
        self.tool_call(server, tool, options, |client| async move {
            if client.may_become_task(tool) {
                return client.start_tool(tool, arguments, None).await;
            }
            let result = client.call_tool(tool, arguments).await;
            result.map(Started::Done)
        })
        .await
    }

    /// Reads a resource from the cache, or else from the server. Concurrent reads share one request to the server.
    ///
    /// # Errors
    ///
    /// [`ManagerError::Read`] with the error of the read.
    pub async fn read_resource(
        &self,
        server: &str,
        uri: &str,
    ) -> Result<Arc<ReadResourceResult>, ManagerError> {
        let limit = self.limits().connect_time() + self.limits().call_idle_timeout();
        self.read_resource_within(server, uri, limit).await
    }

    /// Like [`read_resource`](Self::read_resource), with a time limit.
    ///
    /// # Errors
    ///
    /// [`ManagerError::ReadTimeout`] if it took longer; else as
    /// [`read_resource`](Self::read_resource).
    pub async fn read_resource_within(
        &self,
        server: &str,
        uri: &str,
        limit: Duration,
    ) -> Result<Arc<ReadResourceResult>, ManagerError> {
        let handle = self.shared().handle(server)?;
        let fetch = || {
            self.call(
                server,
                |client| async move { client.read_resource(uri).await },
            )
        };
        let read = self
            .shared()
            .cache
            .read_through(&handle.name, uri, limit, fetch)
            .await;
        read.map_err(|error| match error {
            ReadThroughError::Fetch(error) => ManagerError::Read(error),
            ReadThroughError::TimedOut { limit } => ManagerError::ReadTimeout {
                server: handle.name.clone(),
                uri: uri.to_owned(),
                limit,
            },
        })
    }

    /// Gets a prompt from a server, filled in with `arguments`.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn get_prompt<K: Into<String>, V: Into<String>>(
        &self,
        server: &str,
        prompt: &str,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Result<GetPromptResult, ManagerError> {
        let arguments = arguments.into_iter().map(|(k, v)| (k.into(), v.into()));
        let arguments: Vec<(String, String)> = arguments.collect();
        let arguments = &arguments;
        self.call(server, |client| async move {
            client.get_prompt(prompt, arguments.iter().cloned()).await
        })
        .await
    }

    /// Subscribes to a server's announcements on its live connection. The subscription ends with the connection: the
    /// manager reports changes of lists and resources as [events](crate::ManagerEvent) across reconnects.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn subscribe(
        &self,
        server: &str,
        interests: Interests,
    ) -> Result<Subscription, ManagerError> {
        let interests = &interests;
        self.call(server, |client| async move {
            client.subscribe(interests.clone()).await
        })
        .await
    }

    /// Asks a server to complete an argument of a prompt or resource template.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn complete(
        &self,
        server: &str,
        params: &CompleteParams,
    ) -> Result<CompleteResult, ManagerError> {
        self.call(
            server,
            |client| async move { client.complete(params).await },
        )
        .await
    }

    /// Makes any call on a server's live connection. The server is started or waited for as in
    /// [`call_tool`](Self::call_tool), and the call is made once more if it was provably never sent.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn call<T, F>(
        &self,
        server: &str,
        call: impl Fn(Client) -> F,
    ) -> Result<T, ManagerError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let handle = self.shared().handle(server)?;
        let _in_use = handle.usage.call();
        self.call_on(&handle, call).await
    }

    /// Like [`call`](Self::call), with options. It is not queued.
    ///
    /// # Errors
    ///
    /// As [`call_tool`](Self::call_tool).
    pub async fn call_with<T, F>(
        &self,
        server: &str,
        options: &CallOptions,
        call: impl Fn(Client) -> F,
    ) -> Result<T, ManagerError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let handle = self.shared().handle(server)?;
        self.call_in_turn(&handle, None, options, None, call).await
    }

    /// A tool call: permitted, in its queue, with its time limit.
    async fn tool_call<T, F>(
        &self,
        server: &str,
        tool: &str,
        options: &CallOptions,
        call: impl Fn(Client) -> F,
    ) -> Result<T, ManagerError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let handle = self.shared().handle(server)?;
        if !handle.config().tools().is_enabled(tool) {
            return Err(ManagerError::ToolDisabled {
                server: handle.name.clone(),
                tool: tool.to_owned(),
            });
        }
        let concurrency = match may_share(&handle, tool) {
            true => Concurrency::Shared,
            false => Concurrency::Exclusive,
        };
        self.call_in_turn(&handle, Some(tool), options, Some(concurrency), call)
            .await
    }

    /// A call with its time limit: on its own connection, or on the shared one, where it waits in the server's queue if
    /// it takes part in it. The definition of `tool` must be the one the caller expects.
    pub(crate) async fn call_in_turn<T, F>(
        &self,
        handle: &ServerHandle,
        tool: Option<&str>,
        options: &CallOptions,
        concurrency: Option<Concurrency>,
        call: impl Fn(Client) -> F,
    ) -> Result<T, ManagerError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let configured = handle.config().call_idle_timeout(tool.unwrap_or_default());
        let in_client = options.for_client(configured, self.limits().call_idle_timeout());
        let shared = options.connection.is_none();
        let _in_use = shared.then(|| handle.usage.call());
        let _turn = match concurrency.filter(|_| shared) {
            Some(concurrency) => {
                let (caller, on_queued) = (options.caller.as_ref(), options.on_queued.as_ref());
                Some(handle.queue.enter(caller, concurrency, on_queued).await)
            }
            None => None,
        };
        if let (Some(tool), Some(fingerprint)) = (tool, &options.fingerprint) {
            self.check_fingerprint(handle, tool, fingerprint).await?;
        }
        match &options.connection {
            Some(own) => Ok(call(own.with(in_client)).await?),
            None => {
                self.call_on(handle, |client| call(client.with(in_client.clone())))
                    .await
            }
        }
    }

    /// Rejects a call of a tool whose definition is not, or no longer, the expected one. The server is connected first,
    /// and changes it announced are fetched.
    async fn check_fingerprint(
        &self,
        handle: &ServerHandle,
        tool: &str,
        expected: &str,
    ) -> Result<(), ManagerError> {
        handle.ready(self.connect_timeout(handle)).await?;
        // A server that does not send its list keeps the last one it sent.
        let _ = tokio::time::timeout(self.limits().list_wait(), handle.fresh()).await;
        match handle.tool(tool) {
            Some(entry) if entry.fingerprint().to_string() == expected => Ok(()),
            _ => Err(ManagerError::ToolChanged {
                server: handle.name.clone(),
                tool: tool.to_owned(),
            }),
        }
    }

    async fn call_on<T, F>(
        &self,
        handle: &ServerHandle,
        call: impl Fn(Client) -> F,
    ) -> Result<T, ManagerError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let timeout = self.connect_timeout(handle);
        let client = handle.ready(timeout).await?;
        let error = match call(client.clone()).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if error.is_safe_to_reissue() && !client.is_alive() {
            drop(client);
            let client = handle.ready(timeout).await?;
            return Ok(call(client).await?);
        }
        if is_worrying(&error) {
            // The next request for the lists shows whether the server or the call is at fault.
            handle
                .signals
                .changed(&[crate::server::list_refresh::ListKind::Tools]);
        }
        Err(error.into())
    }

    /// The time a call waits for its server to be connected.
    pub(crate) fn connect_timeout(&self, handle: &ServerHandle) -> Duration {
        let own = handle.config().connect_timeout();
        own.unwrap_or(self.limits().connect_time())
    }
}

/// Whether a call may run concurrently with others to its server.
fn may_share(handle: &ServerHandle, tool: &str) -> bool {
    let config = handle.config();
    if config.is_parallel() {
        return true;
    }
    let entry = handle.tool(tool);
    config.is_trusted() && entry.is_some_and(|entry| entry.is_read_only())
}

/// Whether a failure concerns the server, not only the call.
fn is_worrying(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Timeout { .. }
            | CallError::NotSent { .. }
            | CallError::OutcomeUnknown { .. }
            | CallError::Lost { .. }
            | CallError::Unauthorized { .. }
    )
}
