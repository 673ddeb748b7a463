//! The builder of a server: registrations and settings first, then one of the ways to serve it.

pub(crate) mod limits;
pub(crate) mod random;
pub(crate) mod shared;
pub(crate) mod shares;
pub(crate) mod timestamp;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::{
    CacheScope, CompleteParams, Implementation, Prompt, Resource, ResourceTemplate, Tool,
};
use mcp_jsonrpc::{IntoToolResult, RawJson};
use mcp_transport::Transport;
use serde::de::DeserializeOwned;

use crate::dispatch::era::Eras;
use crate::dispatch::fixed_list::FixedList;
use crate::dispatch::held::HeldTable;
use crate::dispatch::request_state::Sealer;
use crate::handler::Handler;
use crate::handler::context::Context;
use crate::handler::error::Error;
use crate::notifier::{Notifier, Subscribers};
use crate::pipe;
use crate::registry::Registry;
use crate::registry::prompt::{IntoPromptResult, PromptArguments, PromptEntry};
use crate::registry::resource::{IntoResourceResult, ResourceEntry, TemplateEntry, UriVariables};
use crate::registry::tool::{BoxFuture, ToolEntry};
use crate::server::limits::ServerLimits;
use crate::server::shared::{CacheHint, Shared};
use crate::server::shares::CallerShares;
use crate::task::TaskTable;

/// The builder of a server.
///
/// See the [crate's documentation](crate) for an example.
#[must_use = "a server does nothing until it is served"]
pub struct Server<H = Registry> {
    handler: H,
    limits: ServerLimits,
    eras: Eras,
    cache: CacheHint,
    state_key: Option<[u8; 32]>,
}

/// A server that is ready to serve any number of connections. Cheap to clone.
#[derive(Clone)]
pub struct Service(pub(crate) Arc<Shared>);

impl Server<Registry> {
    /// Creates an empty server.
    pub fn new(info: Implementation) -> Self {
        Self::with_handler(Registry::new(info))
    }

    /// Sets the instructions for a model.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.handler.instructions = Some(text.into());
        self
    }

    /// Adds a tool. Its input schema is derived from the closure's argument type, its output schema from its
    /// [`Json`](crate::Json) content, if it returns any.
    #[cfg(feature = "schemars")]
    pub fn tool<A, F, Fut, R>(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Self
    where
        A: DeserializeOwned + schemars::JsonSchema + Send + 'static,
        F: Fn(A, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoToolResult<Error> + 'static,
    {
        let mut tool = Tool::new(name, mcp_jsonrpc::schema_of::<A>());
        tool.description = Some(description.into());
        tool.output_schema = R::output_schema();
        self.handler.add_tool(ToolEntry::new(tool, run, false));
        self
    }

    /// Adds a tool with a custom schema. Arguments are validated against it, and structured content against the output
    /// schema, if there is one (feature `validate`).
    pub fn tool_with_schema<A, F, Fut, R>(mut self, tool: Tool, run: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        F: Fn(A, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoToolResult<Error> + 'static,
    {
        self.handler.add_tool(ToolEntry::new(tool, run, true));
        self
    }

    /// Shows each request only the tools for which `is_visible` returns `true`: depending on its caller, or on what the
    /// program has enabled. Others are neither listed nor callable. Announce a change with [`Notifier::tools_changed`].
    pub fn filter_tools(
        mut self,
        is_visible: impl Fn(&Tool, &Context) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.handler.tool_filter = Some(Arc::new(is_visible));
        self
    }

    /// Calls `changed` with a session ([`Context::session_id`]) whose client reports that its roots changed. Ask for
    /// them in the session's next call ([`Roots`](crate::Roots)).
    pub fn on_roots_changed(mut self, changed: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.handler.roots_changed = Some(Arc::new(changed));
        self
    }

    /// Adds a resource.
    pub fn resource<F, Fut, R>(mut self, resource: Resource, read: F) -> Self
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoResourceResult,
    {
        self.handler
            .resources
            .push(ResourceEntry::new(resource, read));
        self
    }

    /// Adds a resource template. `{name}` in it matches up to the next slash; `{+name}` and
    /// `{name*}` match slashes too.
    pub fn resource_template<F, Fut, R>(mut self, template: ResourceTemplate, read: F) -> Self
    where
        F: Fn(UriVariables, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoResourceResult,
    {
        self.handler
            .templates
            .push(TemplateEntry::new(template, read));
        self
    }

    /// Adds a prompt.
    pub fn prompt<F, Fut, R>(mut self, prompt: Prompt, fill: F) -> Self
    where
        F: Fn(PromptArguments, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoPromptResult,
    {
        self.handler.prompts.push(PromptEntry::new(prompt, fill));
        self
    }

    /// Completes arguments of prompts and resource templates. Clients get at most 100 values.
    pub fn completion<F, Fut>(mut self, complete: F) -> Self
    where
        F: Fn(CompleteParams, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<String>, Error>> + Send + 'static,
    {
        let complete = move |params, cx| -> BoxFuture<_> { Box::pin(complete(params, cx)) };
        self.handler.completion = Some(Arc::new(complete));
        self
    }

    /// Adds a skill.
    #[cfg(feature = "skills")]
    pub fn skill(mut self, skill: crate::SkillBundle) -> Self {
        self.handler.skills.add(skill);
        self
    }
}

impl<H: Handler> Server<H> {
    /// Creates a server that passes all requests to `handler`.
    pub fn with_handler(handler: H) -> Self {
        Self {
            handler,
            limits: ServerLimits::default(),
            eras: Eras::default(),
            cache: CacheHint {
                ttl_ms: 0,
                scope: CacheScope::Private,
            },
            state_key: None,
        }
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the supported eras. Default: both.
    pub fn eras(mut self, eras: Eras) -> Self {
        self.eras = eras;
        self
    }

    /// Sets the cache hints of lists and resources that have none of their own (modern era). Default: no caching.
    pub fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.cache.ttl_ms = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
        self.cache.scope = scope;
        self
    }

    /// Sets the key that seals `requestState` values. Processes that share a key can finish each other's calls; by
    /// default each process has a new one.
    pub fn state_key(mut self, key: [u8; 32]) -> Self {
        self.state_key = Some(key);
        self
    }

    /// Builds the service.
    pub fn build(self) -> Service {
        let info = self.handler.info();
        let info_json = RawJson::from_serialize(&info).unwrap_or_else(|_| RawJson::null());
        Service(Arc::new(Shared {
            handler: Arc::new(self.handler),
            info,
            info_json,
            shares: CallerShares::new(&self.limits),
            limits: self.limits,
            eras: self.eras,
            cache: self.cache,
            sealer: Sealer::new(self.state_key),
            subscribers: Subscribers::default(),
            tasks: TaskTable::default(),
            held: HeldTable::default(),
            fixed_tools: FixedList::default(),
        }))
    }

    /// Serves one client on this process's standard input and output, until it closes them.
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(self) {
        self.build().serve_stdio().await;
    }
}

impl Service {
    /// Serves one client at the other end of `transport`, until the connection ends.
    pub async fn serve(&self, transport: impl Transport + 'static) {
        let transport = Arc::new(transport);
        let input = pipe::TransportHalf(Arc::clone(&transport));
        pipe::serve(&self.0, None, input, pipe::TransportHalf(transport)).await;
    }

    /// Serves one client on this process's standard input and output, until it closes them.
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(&self) {
        self.serve_streams(tokio::io::stdin(), tokio::io::stdout())
            .await;
    }

    /// Serves one client over byte streams, with one message per line.
    #[cfg(feature = "stdio")]
    pub async fn serve_streams(
        &self,
        reader: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        writer: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
    ) {
        use crate::pipe::lines::{LineInput, LineOutput};
        let input = LineInput::new(reader, self.0.limits.message_bytes());
        pipe::serve(&self.0, None, input, LineOutput(writer)).await;
    }

    /// Announces changes of lists and resources.
    pub fn notifier(&self) -> Notifier {
        Notifier::new(&self.0)
    }
}

impl<H: fmt::Debug> fmt::Debug for Server<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("handler", &self.handler)
            .field("limits", &self.limits)
            .field("eras", &self.eras)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("info", &self.0.info)
            .finish_non_exhaustive()
    }
}
