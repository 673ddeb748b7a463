//! A gateway and how it is put together.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_jsonrpc::model::{Implementation, Prompt, Resource, ResourceTemplate, Tool};
use mcp_manager::{
    Applied, Manager, ManagerBuilder, ManagerError, ManagerEvent, ManagerLimits, ServerConfig,
    ServerName, Shutdown, Startup, Wait,
};
use mcp_server::{Caller, Eras, Limits, Notifier, Server, Service};
use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tool_policy::Policy;

use crate::approver::Approver;
use crate::audit::AuditLog;
use crate::gate::{CallLimits, Gate};
use crate::handler::GatewayHandler;
use crate::lists::Lists;
use crate::profile::{Profile, Profiles};
use crate::questions::{OpenCalls, QuestionRelay, capabilities};
use crate::relay::CallIds;
use crate::routes::server_prefix;
use crate::watches::Watches;

/// Time that upstream servers get to connect before the gateway is ready.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Questions of servers that may be open at once.
const MAX_QUESTIONS: usize = 1_000;

/// A server behind the gateway.
#[derive(Clone, Debug)]
pub struct Upstream {
    config: ServerConfig,
    prefix: Option<String>,
}

impl Upstream {
    /// A server whose tools and prompts are exposed as `{server}__{name}`.
    pub fn new(config: ServerConfig) -> Self {
        Self {
            config,
            prefix: None,
        }
    }

    /// Exposes tools and prompts as `{prefix}{name}`; with an empty prefix, under their own names.
    /// Of two items of one name the one of the earlier server is exposed.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }
}

/// An upstream server and the prefix of its names.
pub(crate) struct Named {
    pub(crate) name: ServerName,
    pub(crate) prefix: String,
}

/// Builds a [`Gateway`].
#[must_use = "a builder does nothing until `start`"]
pub struct GatewayBuilder {
    info: Implementation,
    manager: ManagerBuilder,
    upstreams: Vec<Upstream>,
    eras: Eras,
    limits: Limits,
    call_limits: CallLimits,
    policy: Option<Policy>,
    owner: Option<String>,
    audit: Option<Arc<dyn AuditLog>>,
    approver: Option<Arc<dyn Approver>>,
    profiles: Option<Profiles>,
    start_timeout: Duration,
}

impl GatewayBuilder {
    /// Adds a server. Lists show servers in the order in which they were added.
    pub fn upstream(mut self, upstream: Upstream) -> Self {
        self.upstreams.push(upstream);
        self
    }

    /// Sets how servers are connected and supervised. The gateway sets its host.
    pub fn manager(mut self, manager: ManagerBuilder) -> Self {
        self.manager = manager;
        self
    }

    /// Sets the eras that downstream clients may speak. Default: both.
    pub fn eras(mut self, eras: Eras) -> Self {
        self.eras = eras;
        self
    }

    /// Sets the limits of the downstream side.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Has this policy decide about every call of a tool. What it denies by a rule is not listed; for
    /// what it asks, the caller is asked by elicitation. By default every call runs.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Names the authenticated caller whom the policy's rules and grants for the default caller are
    /// for. Callers without authentication are always that one.
    pub fn owner(mut self, caller: impl Into<String>) -> Self {
        self.owner = Some(caller.into());
        self
    }

    /// Records every call of a tool.
    pub fn audit(mut self, log: impl AuditLog) -> Self {
        self.audit = Some(Arc::new(log));
        self
    }

    /// Sets who approves calls of clients that cannot be asked. By default such calls do not run.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets how many calls may run at once.
    pub fn call_limits(mut self, limits: CallLimits) -> Self {
        self.call_limits = limits;
        self
    }

    /// Gives each caller a profile: the servers and tools that it sees and can call. The argument is
    /// `None` for callers that are not authenticated. By default everyone has everything.
    pub fn profiles(
        mut self,
        profiles: impl Fn(Option<&Caller>) -> Arc<Profile> + Send + Sync + 'static,
    ) -> Self {
        self.profiles = Some(Arc::new(profiles));
        self
    }

    /// Sets how long [`start`](Self::start) waits for servers to connect. Default: 10 seconds.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// Connects the servers and returns the gateway, with those that are not connected yet. They
    /// are tried further, and clients are notified once they are there.
    pub async fn start(self) -> (Gateway, Startup) {
        let calls = Arc::new(OpenCalls::default());
        let relay = QuestionRelay(Arc::clone(&calls));
        // A question waits for its own client only, so there may be many.
        let limits = |limits: ManagerLimits| {
            limits
                .with_questions_per_server(MAX_QUESTIONS)
                .with_queued_questions(MAX_QUESTIONS)
        };
        let manager = self.manager.host(relay, capabilities());
        let manager = manager.adjust_limits(limits).build();
        let shared = Arc::new(Shared {
            info: self.info,
            upstreams: Mutex::new(named(&self.upstreams)),
            manager: manager.clone(),
            calls,
            ids: CallIds::default(),
            gate: Gate::new(self.policy, self.owner, self.call_limits, self.approver),
            audit: self.audit,
            profiles: self.profiles,
            tools: Lists::default(),
            prompts: Lists::default(),
            resources: Lists::default(),
            templates: Lists::default(),
            watches: Watches::default(),
        });
        let events = manager.events();
        let configs = self.upstreams.into_iter().map(|upstream| upstream.config);
        let wait = Wait::UpTo(self.start_timeout);
        let startup = manager.connect_all(configs, wait).await;
        let service = Server::with_handler(GatewayHandler(Arc::clone(&shared)))
            .eras(self.eras)
            .limits(self.limits)
            .build();
        let announcing = announce(events, service.notifier(), Arc::downgrade(&shared));
        let gateway = Gateway {
            shared,
            service,
            announcing: tokio::spawn(announcing).abort_handle(),
        };
        (gateway, startup)
    }
}

impl fmt::Debug for GatewayBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayBuilder")
            .field("upstreams", &self.upstreams)
            .field("eras", &self.eras)
            .finish_non_exhaustive()
    }
}

/// Many servers behind one endpoint.
///
/// See the [crate's documentation](crate) for an example. Dropping it ends all connections.
pub struct Gateway {
    shared: Arc<Shared>,
    service: Service,
    announcing: AbortHandle,
}

/// What the handler and the gateway share.
pub(crate) struct Shared {
    pub(crate) info: Implementation,
    pub(crate) upstreams: Mutex<Arc<[Named]>>,
    pub(crate) manager: Manager,
    pub(crate) calls: Arc<OpenCalls>,
    pub(crate) ids: CallIds,
    pub(crate) gate: Gate,
    pub(crate) audit: Option<Arc<dyn AuditLog>>,
    pub(crate) profiles: Option<Profiles>,
    pub(crate) tools: Lists<Tool>,
    pub(crate) prompts: Lists<Prompt>,
    pub(crate) resources: Lists<Resource>,
    pub(crate) templates: Lists<ResourceTemplate>,
    pub(crate) watches: Watches,
}

impl Shared {
    pub(crate) fn upstreams(&self) -> Arc<[Named]> {
        Arc::clone(&self.upstreams.lock())
    }

    pub(crate) fn profile(&self, caller: Option<&Caller>) -> Arc<Profile> {
        let profiles = self.profiles.as_ref();
        profiles.map_or_else(Arc::default, |profiles| profiles(caller))
    }
}

fn named(upstreams: &[Upstream]) -> Arc<[Named]> {
    let named = upstreams.iter().map(|upstream| {
        let name = upstream.config.name().clone();
        let prefix = upstream.prefix.clone();
        let prefix = prefix.unwrap_or_else(|| server_prefix(&name));
        Named { name, prefix }
    });
    named.collect()
}

impl Gateway {
    /// A gateway of no servers yet, which calls itself `info`.
    pub fn builder(info: Implementation) -> GatewayBuilder {
        GatewayBuilder {
            info,
            manager: Manager::builder(),
            upstreams: Vec::new(),
            eras: Eras::default(),
            limits: Limits::default(),
            call_limits: CallLimits::default(),
            policy: None,
            owner: None,
            audit: None,
            approver: None,
            profiles: None,
            start_timeout: START_TIMEOUT,
        }
    }

    /// The server to serve: over stdio, HTTP or any transport.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// The manager of the upstream servers.
    pub fn manager(&self) -> &Manager {
        &self.shared.manager
    }

    /// Replaces the policy, if there is one, and has clients list their tools again. Running calls
    /// go on.
    pub fn set_policy(&self, policy: Policy) {
        self.shared.gate.set_policy(policy);
        self.service.notifier().tools_changed();
    }

    /// Makes these the servers behind the gateway, in this order, and has clients list everything
    /// again: new ones are started, those that are gone are ended, those that are reached in another
    /// way are connected again. The others, their calls and all sessions go on.
    ///
    /// # Errors
    /// [`ManagerError::ShutDown`] if the gateway is.
    pub async fn set_upstreams(
        &self,
        upstreams: impl IntoIterator<Item = Upstream>,
    ) -> Result<Applied, ManagerError> {
        let upstreams: Vec<Upstream> = upstreams.into_iter().collect();
        *self.shared.upstreams.lock() = named(&upstreams);
        let configs = upstreams.into_iter().map(|upstream| upstream.config);
        let applied = self.shared.manager.apply(configs).await;
        let notifier = self.service.notifier();
        notifier.tools_changed();
        notifier.prompts_changed();
        notifier.resources_changed();
        applied
    }

    /// Ends all upstream connections.
    pub async fn shutdown(self) -> Shutdown {
        self.announcing.abort();
        self.shared.manager.shutdown().await
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.announcing.abort();
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("info", &self.shared.info)
            .field("manager", &self.shared.manager)
            .finish_non_exhaustive()
    }
}

/// Announces upstream changes to downstream clients.
async fn announce(mut events: mcp_manager::Events, notifier: Notifier, shared: Weak<Shared>) {
    while let Some(event) = events.next().await {
        if shared.strong_count() == 0 {
            return;
        }
        if let ManagerEvent::CatalogChanged { .. } | ManagerEvent::Lagged { .. } = event {
            notifier.tools_changed();
            notifier.prompts_changed();
            notifier.resources_changed();
        }
    }
}
