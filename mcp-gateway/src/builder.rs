//! A gateway's builder.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::Implementation;
use mcp_manager::{Manager, ManagerBuilder, ManagerLimits, ServerConfig, Startup, Wait};
use mcp_server::{Caller, Eras, Server, ServerLimits};
use parking_lot::Mutex;
use tool_policy::Policy;

use crate::approver::Approver;
use crate::audit::AuditLog;
use crate::call::completions::Completions;
use crate::call::gate::{CallLimits, Gate};
use crate::call::open_calls::OpenCalls;
use crate::call::questions::{AskingServers, QuestionRelay, everything};
use crate::call::relay::{CallIds, RELAY_TIME};
use crate::call::tasks::EndedTasks;
use crate::catalog::lists::Lists;
use crate::catalog::meta_tools::MetaTools;
use crate::catalog::profile::{Profile, Profiles};
use crate::catalog::skills::Skills;
use crate::gateway::{Gateway, Shared, announce, named};
use crate::handler::GatewayHandler;
use crate::upstream::connections::{ConnectionLimits, Connections};
use crate::upstream::watches::Watches;

/// Time that upstream servers get to connect before the gateway is ready.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Questions of servers that may be open at once.
const MAX_QUESTIONS: usize = 1_000;

/// A server behind the gateway.
#[derive(Clone, Debug)]
pub struct Upstream {
    pub(crate) config: ServerConfig,
    pub(crate) prefix: Option<String>,
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

/// Builds a [`Gateway`].
#[must_use = "a builder does nothing until `start`"]
pub struct GatewayBuilder {
    info: Implementation,
    manager: ManagerBuilder,
    upstreams: Vec<Upstream>,
    missing: Vec<(String, String)>,
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
    pub(crate) fn new(info: Implementation) -> Self {
        Self {
            info,
            manager: Manager::builder(),
            upstreams: Vec::new(),
            missing: Vec::new(),
            eras: Eras::default(),
            limits: ServerLimits::default().with_request_time(RELAY_TIME),
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

    /// Adds a server. Lists show servers in the order they were added.
    pub fn upstream(mut self, upstream: Upstream) -> Self {
        self.upstreams.push(upstream);
        self
    }

    /// Names a server that cannot be served, and the reason: in the instructions, and in errors.
    pub fn missing(mut self, server: impl Into<String>, reason: impl Into<String>) -> Self {
        self.missing.push((server.into(), reason.into()));
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

    /// Sets the limits of the downstream side. By default a request may take a day, and the others are those of
    /// [`ServerLimits::default`]: the client decides how long it waits.
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
            missing: Mutex::new(self.missing),
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
            skills: Skills::default(),
            watches: Watches::default(),
            ended_tasks: EndedTasks::default(),
            page_len: self.limits.page_len(),
        });
        let events = manager.events();
        let configs = self.upstreams.into_iter().map(|upstream| upstream.config);
        let wait = Wait::UpTo(self.start_timeout);
        let startup = manager.connect_all(configs, wait).await;
        shared.gate.set_secrets(manager.secrets());
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
