//! The tools of many servers.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{CallError, Started};
use mcp_jsonrpc::model::{CallTool, CallToolResult};
use mcp_manager::{CallOptions, Catalog, Entry, Manager, ManagerError, ServerConfig};
use parking_lot::Mutex;
use tool_policy::{Alarm, Effect, Rule, ScanPolicy, SearchIndex, ToolInfo};
use tracing::Instrument as _;

use crate::session::reply::chain;
use crate::session::trace;
use crate::toolbox::context::{CallContext, CallProgress};
use crate::toolbox::{FailureKind, Invocation, Outcome, Start, Toolbox};

/// The tools of a manager's servers, from its catalogue.
///
/// A call that its server turns into a task, or that requires an answer first, is returned as such: the run keeps it,
/// and continues it later.
pub struct ManagedTools {
    manager: Manager,
    last: Mutex<Option<Snapshot>>,
    scan: Mutex<ScanPolicy>,
}

/// The tools of a catalogue.
#[derive(Clone)]
struct Snapshot {
    catalog: Arc<Catalog>,
    /// How the servers were configured: what is trusted, for instance.
    configs: Vec<Arc<ServerConfig>>,
    tools: Arc<[ToolInfo]>,
    index: Option<Arc<SearchIndex>>,
}

impl ManagedTools {
    /// Creates a toolbox for this manager's servers.
    pub fn new(manager: Manager) -> Self {
        Self {
            manager,
            last: Mutex::new(None),
            scan: Mutex::default(),
        }
    }

    /// Sets the response to results that look like an attack, from the next result on.
    pub fn set_scan(&self, scan: ScanPolicy) {
        *self.scan.lock() = scan;
    }

    /// The manager.
    pub fn manager(&self) -> &Manager {
        &self.manager
    }

    /// A rule for every tool that the servers' configuration approves: add them to a [`Policy`](crate::Policy) to apply
    /// them. They are never applied silently.
    pub fn auto_approved(&self) -> Vec<Rule> {
        let catalog = self.manager.catalog();
        let approved = catalog
            .enabled_tools()
            .filter(|entry| entry.is_auto_approve());
        approved
            .map(|entry| Rule::new(Effect::Allow, entry.server().as_str(), entry.name()))
            .collect()
    }

    fn snapshot(&self) -> Snapshot {
        let catalog = self.manager.catalog();
        let servers = self.manager.servers().into_iter();
        let configs: Vec<Arc<ServerConfig>> = servers.map(|server| server.config).collect();
        let mut last = self.last.lock();
        if let Some(last) = &*last
            && Arc::ptr_eq(&last.catalog, &catalog)
            && last.configs.len() == configs.len()
            && last
                .configs
                .iter()
                .zip(&configs)
                .all(|(a, b)| Arc::ptr_eq(a, b))
        {
            return last.clone();
        }
        let tools = catalog
            .enabled_tools()
            .map(|entry| {
                let server = self.manager.server(entry.server().as_str());
                info(entry, server.as_ref().map(|server| server.config.as_ref()))
                    .with_alarm(Alarm::of(catalog.findings(entry)))
            })
            .collect();
        let snapshot = Snapshot {
            catalog,
            configs,
            tools,
            index: None,
        };
        *last = Some(snapshot.clone());
        snapshot
    }

    async fn perform(
        &self,
        call: Invocation,
        context: CallContext,
    ) -> Result<Outcome, ManagerError> {
        let queue = context.clone();
        let mut options = CallOptions::default();
        if let Some(caller) = context.caller() {
            options = options.with_caller(caller.clone());
        }
        if context.may_park() {
            options = options.with_parking();
        }
        let options = options
            .with_queued(move |queued| queue.queued(queued))
            .with_idle_timeout(context.idle_timeout())
            .with_fingerprint(&call.definition.fingerprint)
            .with_deadline(context.deadline())
            .with_meta(context.meta().clone())
            .with_progress(move |report| {
                let progress = CallProgress::new(report.progress, report.total, report.message);
                context.progress(progress);
            });
        let (server, tool) = (call.server.as_str(), call.tool.as_str());
        let result: CallToolResult = match &call.start {
            Start::Call => {
                let (manager, arguments) = (&self.manager, &call.arguments);
                let called = manager.call_tool_or_task(server, tool, arguments, options);
                match called.await? {
                    Started::Done(result) => result,
                    Started::Task(task) => return Ok(Outcome::Task(task.ticket().clone())),
                }
            }
            Start::Resume { parked, answers } => {
                let manager = &self.manager;
                manager
                    .resume_with::<CallTool>(parked.as_ref().clone(), answers.clone(), options)
                    .await?
            }
            Start::Await(ticket) => self.manager.wait_for_task(ticket, options).await?,
            Start::Continue { .. } => return Ok(Outcome::no_run()),
        };
        Ok(Outcome::Result(result))
    }
}

#[async_trait]
impl Toolbox for ManagedTools {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        self.snapshot().tools
    }

    async fn refresh(&self) {
        self.manager.fresh_catalog().await;
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        let span = trace::mcp_call(&call);
        let performed = self.perform(call, context).instrument(span).await;
        let scan = *self.scan.lock();
        performed.unwrap_or_else(outcome).screened(&scan)
    }

    fn search(&self, tools: &[ToolInfo], query: &str, limit: usize) -> Vec<usize> {
        let snapshot = self.snapshot();
        let index = snapshot.index.unwrap_or_else(|| {
            let entries = snapshot.catalog.enabled_tools();
            let index: Arc<SearchIndex> = Arc::new(entries.map(AsRef::as_ref).collect());
            if let Some(last) = &mut *self.last.lock()
                && Arc::ptr_eq(&last.catalog, &snapshot.catalog)
            {
                last.index = Some(Arc::clone(&index));
            }
            index
        });
        let places: HashMap<&str, usize> = tools
            .iter()
            .enumerate()
            .map(|(at, tool)| (tool.name.as_str(), at))
            .collect();
        // Some hits may not take part in this run: look at more.
        let hits = index.search(query, tools.len().max(limit));
        let entries: Vec<&Arc<Entry>> = snapshot.catalog.enabled_tools().collect();
        hits.iter()
            .filter_map(|hit| entries.get(hit.position))
            .filter_map(|entry| places.get(entry.exposed_name().as_str()).copied())
            .take(limit)
            .collect()
    }
}

/// A catalogue's entry with the settings of its server.
pub(crate) fn info(entry: &Entry, config: Option<&ServerConfig>) -> ToolInfo {
    let server = entry.server().as_str();
    let mut info = ToolInfo::new(server, entry.name(), entry.input_schema().clone())
        .with_name(entry.exposed_name().as_str())
        .with_description(entry.description_with_origin())
        .with_annotations(entry.annotations().cloned().unwrap_or_default())
        .with_fingerprint(entry.fingerprint().to_string())
        .with_source(Arc::clone(entry.tool()));
    if let Some(config) = config {
        if let Some(id) = config.id() {
            id.clone_into(&mut info.server_id);
        }
        info.server_identity = config.identity();
        info.trusted = config.is_trusted();
        info.parallel = config.is_parallel();
        info.always_load = config.is_always_loaded();
        info.idle_timeout = config.call_idle_timeout(entry.name());
    }
    info
}

/// What the loop makes of a manager's error.
fn outcome(error: ManagerError) -> Outcome {
    let kind = match error {
        ManagerError::Call(error) => return call_failed(error),
        ManagerError::UnknownServer { .. }
        | ManagerError::UnknownTool { .. }
        | ManagerError::ToolDisabled { .. } => FailureKind::NoTool,
        _ => FailureKind::NotSent,
    };
    Outcome::failed(kind, chain(&error))
}

/// What the loop makes of a call that failed.
pub(crate) fn call_failed(error: CallError) -> Outcome {
    let message = chain(&error);
    let kind = match error {
        CallError::Parked(parked) => return Outcome::Parked(parked),
        CallError::Timeout { .. } => FailureKind::Timeout,
        CallError::NotSent { .. } | CallError::Closed { .. } => FailureKind::NotSent,
        CallError::OutcomeUnknown { .. } | CallError::Lost { .. } => FailureKind::Unknown,
        _ => FailureKind::Protocol,
    };
    Outcome::failed(kind, message)
}

impl fmt::Debug for ManagedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedTools").finish_non_exhaustive()
    }
}
