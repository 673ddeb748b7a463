//! Several toolboxes as one.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tool_policy::ToolInfo;

use crate::toolbox::context::CallContext;
use crate::toolbox::{FailureKind, Invocation, Outcome, Toolbox};

/// Several toolboxes as one, for instance servers' tools and functions of the program.
///
/// Of tools with the same name the first one wins. A toolbox that fails does not affect the others.
#[derive(Default)]
pub struct JoinedTools {
    boxes: Vec<Arc<dyn Toolbox>>,
    joined: Mutex<Joined>,
}

#[derive(Default)]
struct Joined {
    parts: Vec<Arc<[ToolInfo]>>,
    tools: Arc<[ToolInfo]>,
    /// Which box a server's tool is in.
    places: HashMap<(String, String), usize>,
}

impl JoinedTools {
    /// Creates an empty toolbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a toolbox.
    #[must_use]
    pub fn with(self, toolbox: impl Toolbox + 'static) -> Self {
        self.with_shared(Arc::new(toolbox))
    }

    /// Adds a shared toolbox.
    #[must_use]
    pub fn with_shared(mut self, toolbox: Arc<dyn Toolbox>) -> Self {
        self.boxes.push(toolbox);
        self
    }
}

impl Joined {
    fn is_of(&self, parts: &[Arc<[ToolInfo]>]) -> bool {
        let same = |(old, new): (&Arc<[ToolInfo]>, &Arc<[ToolInfo]>)| Arc::ptr_eq(old, new);
        self.parts.len() == parts.len() && self.parts.iter().zip(parts).all(same)
    }

    fn of(parts: Vec<Arc<[ToolInfo]>>) -> Self {
        let mut places = HashMap::new();
        for (at, part) in parts.iter().enumerate() {
            for tool in part.iter() {
                let place = (tool.server.clone(), tool.tool.clone());
                places.entry(place).or_insert(at);
            }
        }
        let tools = parts.iter().flat_map(|part| part.iter().cloned());
        Self {
            tools: tools.collect(),
            places,
            parts,
        }
    }
}

#[async_trait]
impl Toolbox for JoinedTools {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        let mut parts = Vec::with_capacity(self.boxes.len());
        for toolbox in &self.boxes {
            parts.push(toolbox.tools().await);
        }
        let mut joined = self.joined.lock();
        if !joined.is_of(&parts) {
            *joined = Joined::of(parts);
        }
        Arc::clone(&joined.tools)
    }

    async fn refresh(&self) {
        let mut refreshing = JoinSet::new();
        for toolbox in self.boxes.iter().map(Arc::clone) {
            refreshing.spawn(async move { toolbox.refresh().await });
        }
        while refreshing.join_next().await.is_some() {}
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        let place = (call.server.clone(), call.tool.clone());
        let at = self.joined.lock().places.get(&place).copied();
        match at.and_then(|at| self.boxes.get(at)) {
            Some(toolbox) => toolbox.call(call, context).await,
            None => Outcome::failed(
                FailureKind::NoTool,
                format!("server {:?} has no tool {:?}", call.server, call.tool),
            ),
        }
    }
}

impl fmt::Debug for JoinedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinedTools")
            .field("boxes", &self.boxes.len())
            .finish_non_exhaustive()
    }
}
