//! A gateway and its builder.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_jsonrpc::model::{
    Implementation, LogMessageParams, Prompt, Resource, ResourceTemplate, Skill, Tool,
};
use mcp_manager::{
    Applied, ItemKind, Manager, ManagerBuilder, ManagerError, ManagerEvent, ManagerLimits,
    ServerConfig, ServerName, Shutdown, Startup, Wait,
};
use mcp_server::{Caller, Eras, Notifier, Server, ServerLimits, Service};
use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tool_policy::{Policy, Secrets};

use crate::approver::Approver;
use crate::audit::AuditLog;
use crate::completions::Completions;
use crate::connections::{ConnectionLimits, Connections};
use crate::gate::{CallLimits, Gate};
use crate::handler::GatewayHandler;
use crate::lists::Lists;
use crate::meta_tools::MetaTools;
use crate::open_calls::{Channel, OpenCalls};
use crate::profile::{Profile, Profiles};
use crate::questions::{AskingServers, QuestionRelay, everything};
use crate::relay::CallIds;
use crate::routes::server_prefix;
use crate::watches::Watches;

/// How long calls may run on at a server that is taken out.
const DRAIN_TIME: Duration = Duration::from_secs(60);

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
    /// Creates a server whose tools and prompts are exposed as `{server}__{name}`.
    pub fn new(config: ServerConfig) -> Self {
        Self {
            config,
            prefix: None,
        }
    }

    /// Exposes tools and prompts as `{prefix}{name}`; with an empty prefix, under their own names. Of two items with
    /// the same name the one of the earlier server is exposed.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }
}

/// The servers, in their order; replaced as a whole.
pub(crate) type Upstreams = Arc<Vec<Named>>;

/// An upstream server and the prefix of its names.
#[derive(PartialEq)]
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
    limits: ServerLimits,
    call_limits: CallLimits,
    policy: Option<Policy>,
    owner: Option<String>,
    audit: Option<Arc<dyn AuditLog>>,
    approver: Option<Arc<dyn Approver>>,
    connections: ConnectionLimits,
    profiles: Option<Profiles>,
    lazy_above: Option<usize>,
    result_cap: Option<usize>,
    state_key: Option<[u8; 32]>,
    start_timeout: Duration,
}

impl GatewayBuilder {
    /// Adds a server. Lists show servers in the order they were added.
    pub fn upstream(mut self, upstream: Upstream) -> Self {
        self.upstreams.push(upstream);
        self
    }

    /// Sets the manager's builder, which connects and supervises servers. The gateway sets its host.
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
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the policy for tool calls. Tools that a rule denies are not listed; where the policy asks, the caller is
    /// asked by elicitation. By default every call runs.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Sets the authenticated caller to whom the policy's rules and grants for the default caller apply. Callers
    /// without authentication are always the default caller.
    pub fn owner(mut self, caller: impl Into<String>) -> Self {
        self.owner = Some(caller.into());
        self
    }

    /// Records every call of a tool.
    pub fn audit(mut self, log: impl AuditLog) -> Self {
        self.audit = Some(Arc::new(log));
        self
    }

    /// Sets the approver for calls of clients that cannot be asked. By default such calls do not run.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets the limits on concurrent calls.
    pub fn call_limits(mut self, limits: CallLimits) -> Self {
        self.call_limits = limits;
        self
    }

    /// Sets a function that returns each caller's profile: the servers and tools it sees and can call. The argument is
    /// `None` for callers that are not authenticated. By default every caller has access to everything.
    pub fn profiles(
        mut self,
        profiles: impl Fn(Option<&Caller>) -> Arc<Profile> + Send + Sync + 'static,
    ) -> Self {
        self.profiles = Some(Arc::new(profiles));
        self
    }

    /// Lists `tool_search` and `tool_call` instead of a caller's tools, if those exceed this many bytes of JSON. The
    /// tools can still be called by their own names. Off by default: a model needs more steps with it, and for a list
    /// of moderate length more tokens, too.
    pub fn lazy_tools(mut self, above: usize) -> Self {
        self.lazy_above = Some(above);
        self
    }

    /// Shortens results of tools that exceed this many bytes of JSON, and adds the tool `read_output`, which reads the
    /// remainder. Up to 64 MiB are kept for it, in memory. By default results are passed on whole.
    pub fn result_cap(mut self, bytes: usize) -> Self {
        self.result_cap = Some(bytes);
        self
    }

    /// Sets the limits of per-client connections.
    pub fn connection_limits(mut self, limits: ConnectionLimits) -> Self {
        self.connections = limits;
        self
    }

    /// Sets the key that seals what clients keep between requests: the state of calls that asked a question, and the
    /// handles of tasks. Processes with the same key and the same servers accept each other's; by default each process
    /// has a new key.
    pub fn state_key(mut self, key: [u8; 32]) -> Self {
        self.state_key = Some(key);
        self
    }

    /// Sets how long [`start`](Self::start) waits for servers to connect. Default: 10 seconds.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// Connects the servers and returns the gateway, with the servers that are not connected yet. The gateway keeps
    /// trying them, and notifies clients once they are connected.
    pub async fn start(self) -> (Gateway, Startup) {
        let calls = Arc::new(OpenCalls::default());
        let asking = Arc::new(AskingServers::default());
        let completions = Arc::new(Completions::default());
        let relay = QuestionRelay {
            calls: Arc::clone(&calls),
            own: None,
            asking: Arc::clone(&asking),
            completions: Arc::clone(&completions),
        };
        // A question waits for its own client only, so there may be many.
        let limits = |limits: ManagerLimits| {
            limits
                .with_questions_per_server(MAX_QUESTIONS)
                .with_queued_questions(MAX_QUESTIONS)
        };
        let manager = self.manager.host(relay, everything());
        let manager = manager.adjust_limits(limits).build();
        let connections = Connections::new(
            manager.clone(),
            Arc::clone(&calls),
            asking,
            Arc::clone(&completions),
            self.connections,
        );
        let keeping = Connections::keep(Arc::downgrade(&connections), connections.period());
        let shared = Arc::new(Shared {
            info: self.info,
            upstreams: Mutex::new(named(&self.upstreams)),
            manager: manager.clone(),
            calls,
            connections,
            ids: CallIds::default(),
            gate: Gate::new(self.policy, self.owner, self.call_limits, self.approver),
            audit: self.audit,
            profiles: self.profiles,
            meta_tools: MetaTools::new(self.lazy_above, self.result_cap),
            tools: Lists::default(),
            prompts: Lists::default(),
            resources: Lists::default(),
            templates: Lists::default(),
            skills: Lists::default(),
            watches: Watches::default(),
        });
        let events = manager.events();
        let configs = self.upstreams.into_iter().map(|upstream| upstream.config);
        let wait = Wait::UpTo(self.start_timeout);
        let startup = manager.connect_all(configs, wait).await;
        let mut server = Server::with_handler(GatewayHandler(Arc::clone(&shared)))
            .eras(self.eras)
            .limits(self.limits);
        if let Some(key) = self.state_key {
            server = server.state_key(key);
        }
        let service = server.build();
        completions.notify_by(service.notifier());
        let announcing = announce(events, service.notifier(), Arc::downgrade(&shared));
        let gateway = Gateway {
            shared,
            service,
            tasks: [
                tokio::spawn(announcing).abort_handle(),
                tokio::spawn(keeping).abort_handle(),
            ],
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
    tasks: [AbortHandle; 2],
}

/// What the handler and the gateway share.
pub(crate) struct Shared {
    pub(crate) info: Implementation,
    upstreams: Mutex<Upstreams>,
    pub(crate) manager: Manager,
    pub(crate) calls: Arc<OpenCalls>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) ids: CallIds,
    pub(crate) gate: Gate,
    pub(crate) audit: Option<Arc<dyn AuditLog>>,
    profiles: Option<Profiles>,
    pub(crate) meta_tools: MetaTools,
    pub(crate) tools: Lists<Tool>,
    pub(crate) prompts: Lists<Prompt>,
    pub(crate) resources: Lists<Resource>,
    pub(crate) templates: Lists<ResourceTemplate>,
    pub(crate) skills: Lists<Skill>,
    pub(crate) watches: Watches,
}

impl Shared {
    pub(crate) fn upstreams(&self) -> Upstreams {
        Arc::clone(&self.upstreams.lock())
    }

    /// What this caller may see and call.
    pub(crate) fn profile(&self, caller: Option<&Caller>) -> Arc<Profile> {
        let profiles = self.profiles.as_ref();
        profiles.map_or_else(Arc::default, |profiles| profiles(caller))
    }
}

fn named(upstreams: &[Upstream]) -> Upstreams {
    let named = upstreams.iter().map(|upstream| {
        let name = upstream.config.name().clone();
        let prefix = upstream.prefix.clone();
        let prefix = prefix.unwrap_or_else(|| server_prefix(&name));
        Named { name, prefix }
    });
    Arc::new(named.collect())
}

impl Gateway {
    /// Creates a builder without servers, for a gateway that identifies itself with `info`.
    pub fn builder(info: Implementation) -> GatewayBuilder {
        GatewayBuilder {
            info,
            manager: Manager::builder(),
            upstreams: Vec::new(),
            eras: Eras::default(),
            limits: ServerLimits::default(),
            call_limits: CallLimits::default(),
            policy: None,
            owner: None,
            audit: None,
            approver: None,
            connections: ConnectionLimits::default(),
            profiles: None,
            lazy_above: None,
            result_cap: None,
            state_key: None,
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

    /// Replaces the policy, if there is one, and has clients list their tools again. Running calls continue.
    pub fn set_policy(&self, policy: Policy) {
        self.shared.gate.set_policy(policy);
        self.service.notifier().tools_changed();
    }

    /// Has the policy hold calls whose arguments have one of these secrets and whose server has it not.
    /// [`Manager::secrets`] has those of the servers behind the gateway.
    pub fn set_secrets(&self, secrets: Secrets) {
        *self.shared.gate.secrets.lock() = Arc::new(secrets);
    }

    /// Makes these the servers behind the gateway, in this order, and has clients list everything
    /// again: new ones are started, those that are gone are ended, those that are reached in another
    /// way are connected again. The others, their calls and all sessions go on; a server is ended or
    /// connected again once the calls that run there are done, or after a minute.
    ///
    /// # Errors
    /// [`ManagerError::ShutDown`] if the gateway was shut down.
    pub async fn set_upstreams(
        &self,
        upstreams: impl IntoIterator<Item = Upstream>,
    ) -> Result<Applied, ManagerError> {
        let upstreams: Vec<Upstream> = upstreams.into_iter().collect();
        let named = named(&upstreams);
        // From here on nothing new is called there.
        *self.shared.upstreams.lock() = Arc::clone(&named);
        // Those that go on as they are.
        let kept = |server: &str| {
            let known = self.shared.manager.server(server);
            let mut wanted = upstreams.iter().map(|upstream| &upstream.config);
            let wanted = wanted.find(|config| config.name().as_str() == server);
            let pair = known.as_ref().zip(wanted);
            pair.is_some_and(|(known, wanted)| known.config.identity() == wanted.identity())
        };
        self.shared
            .calls
            .drained(|server| !kept(server), DRAIN_TIME)
            .await;
        self.shared
            .connections
            .retain(|server| kept(server.as_str()));
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
        self.shared.connections.retain(|_| false);
        self.shared.manager.shutdown().await
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
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

/// Announces upstream changes to downstream clients, and passes on what servers log outside of calls.
async fn announce(mut events: mcp_manager::Events, notifier: Notifier, shared: Weak<Shared>) {
    while let Some(event) = events.next().await {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        match event {
            ManagerEvent::CatalogChanged { diff, .. } => {
                let tools = diff.added.len() + diff.removed.len() + diff.changed.len();
                if tools > 0 {
                    notifier.tools_changed();
                }
                if !diff.prompts.is_empty() {
                    notifier.prompts_changed();
                }
                if !diff.resources.is_empty() {
                    notifier.resources_changed();
                }
            }
            ManagerEvent::ListAnnounced { list, .. } => match list {
                ItemKind::Tool => notifier.tools_changed(),
                ItemKind::Prompt => notifier.prompts_changed(),
                _ => notifier.resources_changed(),
            },
            ManagerEvent::Lagged { .. } => {
                notifier.tools_changed();
                notifier.prompts_changed();
                notifier.resources_changed();
            }
            ManagerEvent::ElicitationComplete {
                server,
                elicitation_id,
            } => shared
                .connections
                .completions
                .completed(server.as_str(), &elicitation_id),
            ManagerEvent::Log { server, message } => {
                let channel = Channel::Managed(server.as_str().to_owned());
                let message = LogMessageParams::clone(&message);
                if let Some(message) = shared.calls.log(&channel, message) {
                    notifier.log(message);
                }
            }
            _ => {}
        }
    }
}
