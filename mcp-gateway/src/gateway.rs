//! A gateway: its state, and how it changes while it runs.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_jsonrpc::model::{
    CacheScope, Implementation, LogMessageParams, Prompt, Resource, ResourceTemplate, Tool,
};
use mcp_manager::{Applied, ItemKind, Manager, ManagerError, ManagerEvent, ServerName, Shutdown};
use mcp_server::{Caller, Notifier, Service};
use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tool_policy::Policy;

use crate::audit::AuditLog;
use crate::builder::{GatewayBuilder, Upstream};
use crate::call::gate::Gate;
use crate::call::open_calls::{Channel, OpenCalls};
use crate::call::relay::CallIds;
use crate::call::tasks::EndedTasks;
use crate::catalog::lists::Lists;
use crate::catalog::meta_tools::MetaTools;
use crate::catalog::profile::{Profile, Profiles};
use crate::catalog::routes::server_prefix;
use crate::catalog::skills::Skills;
use crate::upstream::connections::Connections;
use crate::upstream::watches::Watches;

/// How long calls may run on at a server that is taken out.
const DRAIN_TIME: Duration = Duration::from_secs(60);

/// The servers, in their order; replaced as a whole.
pub(crate) type Upstreams = Arc<Vec<Named>>;

/// An upstream server and the prefix of its names.
#[derive(PartialEq)]
pub(crate) struct Named {
    pub(crate) name: ServerName,
    pub(crate) prefix: String,
}

/// Many servers behind one endpoint.
///
/// See the [crate's documentation](crate) for an example. Dropping it ends all connections.
pub struct Gateway {
    pub(crate) shared: Arc<Shared>,
    pub(crate) service: Service,
    pub(crate) tasks: [AbortHandle; 2],
}

/// What the handler and the gateway share.
pub(crate) struct Shared {
    pub(crate) info: Implementation,
    pub(crate) upstreams: Mutex<Upstreams>,
    /// The servers that cannot be served, with the reasons.
    pub(crate) missing: Mutex<Vec<(String, String)>>,
    pub(crate) manager: Manager,
    pub(crate) calls: Arc<OpenCalls>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) ids: CallIds,
    pub(crate) gate: Gate,
    pub(crate) audit: Option<Arc<dyn AuditLog>>,
    pub(crate) profiles: Option<Profiles>,
    pub(crate) meta_tools: MetaTools,
    pub(crate) tools: Lists<Tool>,
    pub(crate) prompts: Lists<Prompt>,
    pub(crate) resources: Lists<Resource>,
    pub(crate) templates: Lists<ResourceTemplate>,
    pub(crate) skills: Skills,
    pub(crate) watches: Watches,
    pub(crate) ended_tasks: EndedTasks,
    /// Items on one page of a list.
    pub(crate) page_len: usize,
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

    /// Who may cache what a server gives to anyone who may cache it: where callers differ in what they may see, only
    /// the one who asked.
    pub(crate) fn scope(&self, of_server: CacheScope) -> CacheScope {
        match self.profiles.is_some() || self.gate.policy.is_some() {
            true => CacheScope::Private,
            false => of_server,
        }
    }
}

/// The servers as the lists need them.
pub(crate) fn named(upstreams: &[Upstream]) -> Upstreams {
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
        GatewayBuilder::new(info)
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

    /// Makes these the servers behind the gateway, in this order, and has clients list everything again: new ones are
    /// started, those that are gone are ended, those that are reached in another way are connected again. The others,
    /// their calls and all sessions go on; what is ended takes no new calls, and those that run there have a minute.
    /// Returns at once.
    ///
    /// # Errors
    /// [`ManagerError::ShutDown`] if the gateway was shut down.
    pub async fn set_upstreams(
        &self,
        upstreams: impl IntoIterator<Item = Upstream>,
    ) -> Result<Applied, ManagerError> {
        let upstreams: Vec<Upstream> = upstreams.into_iter().collect();
        // From here on nothing new is called at those that are gone.
        *self.shared.upstreams.lock() = named(&upstreams);
        let configs = upstreams.into_iter().map(|upstream| upstream.config);
        let manager = &self.shared.manager;
        let applied = manager.replace(configs, DRAIN_TIME).await;
        if let Ok(applied) = &applied {
            // Calls keep the connections that they use.
            let kept = |server: &ServerName| applied.kept.contains(server);
            self.shared.connections.retain(kept);
        }
        self.shared.gate.set_secrets(manager.secrets());
        let notifier = self.service.notifier();
        notifier.tools_changed();
        notifier.prompts_changed();
        notifier.resources_changed();
        applied
    }

    /// Replaces the servers that are named as missing, and the reasons: in the instructions, and in errors.
    pub fn set_missing(&self, missing: impl IntoIterator<Item = (String, String)>) {
        *self.shared.missing.lock() = missing.into_iter().collect();
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
pub(crate) async fn announce(
    mut events: mcp_manager::Events,
    notifier: Notifier,
    shared: Weak<Shared>,
) {
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
                    let server = server.as_str();
                    notifier.log_to(message, |to| shared.profile(to).allows_server(server));
                }
            }
            _ => {}
        }
    }
}
