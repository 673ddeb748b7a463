//! Tools with scripted results.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use tool_policy::ToolInfo;

use crate::toolbox::context::CallContext;
use crate::toolbox::{FailureKind, Invocation, Outcome, Toolbox};

type Answer = Arc<dyn Fn(&Invocation) -> Outcome + Send + Sync>;

/// Tools that return prepared results, and record their calls. Clones share both.
#[derive(Clone, Default)]
pub struct ScriptedTools {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    tools: Arc<[ToolInfo]>,
    scripts: Vec<(String, Script)>,
    calls: Vec<Invocation>,
}

enum Script {
    Lines(VecDeque<Outcome>),
    Answer(Answer),
    Hangs,
}

impl ScriptedTools {
    /// Creates an empty toolbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool that returns these results, one after the other.
    #[must_use]
    pub fn with(self, tool: ToolInfo, answers: impl IntoIterator<Item = Outcome>) -> Self {
        self.add(tool, Script::Lines(answers.into_iter().collect()))
    }

    /// Adds a tool that computes its results.
    #[must_use]
    pub fn with_answer(
        self,
        tool: ToolInfo,
        answer: impl Fn(&Invocation) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        self.add(tool, Script::Answer(Arc::new(answer)))
    }

    /// Adds a tool that never answers.
    #[must_use]
    pub fn with_hanging(self, tool: ToolInfo) -> Self {
        self.add(tool, Script::Hangs)
    }

    fn add(self, tool: ToolInfo, script: Script) -> Self {
        {
            let mut shared = self.shared.lock();
            shared.scripts.push((tool.tool.clone(), script));
            shared.tools = shared.tools.iter().cloned().chain([tool]).collect();
        }
        self
    }

    /// Replaces the tools; the results stay.
    pub fn replace(&self, tools: impl IntoIterator<Item = ToolInfo>) {
        self.shared.lock().tools = tools.into_iter().collect();
    }

    /// The calls so far, in the order they started.
    pub fn calls(&self) -> Vec<Invocation> {
        self.shared.lock().calls.clone()
    }
}

#[async_trait]
impl Toolbox for ScriptedTools {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        Arc::clone(&self.shared.lock().tools)
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        let answer = {
            let mut shared = self.shared.lock();
            shared.calls.push(call.clone());
            let script = shared
                .scripts
                .iter_mut()
                .find(|(name, _)| *name == call.tool);
            match script {
                Some((_, Script::Lines(lines))) => lines.pop_front().map(Ok),
                Some((_, Script::Answer(answer))) => Some(Err(Arc::clone(answer))),
                Some((_, Script::Hangs)) => None,
                None => Some(Ok(Outcome::failed(FailureKind::NoTool, "no such tool"))),
            }
        };
        match answer {
            Some(Ok(outcome)) => outcome,
            Some(Err(answer)) => answer(&call),
            None => {
                let hanging = std::future::pending();
                context
                    .enforce_timeouts(&call.server, &call.tool, hanging)
                    .await
            }
        }
    }
}

impl fmt::Debug for ScriptedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedTools").finish_non_exhaustive()
    }
}
