//! Tools with scripted answers.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use tool_policy::ToolInfo;

use crate::toolbox::context::CallContext;
use crate::toolbox::{FailureKind, Invocation, Outcome, Toolbox};

type Answer = Arc<dyn Fn(&Invocation) -> Outcome + Send + Sync>;

/// Tools that give prepared answers, and remember what they were called with. A clone shares both.
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
    /// No tools yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a tool that gives these answers, one after the other.
    #[must_use]
    pub fn with(self, tool: ToolInfo, answers: impl IntoIterator<Item = Outcome>) -> Self {
        self.add(tool, Script::Lines(answers.into_iter().collect()))
    }

    /// With a tool that makes up its answers.
    #[must_use]
    pub fn with_answer(
        self,
        tool: ToolInfo,
        answer: impl Fn(&Invocation) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        self.add(tool, Script::Answer(Arc::new(answer)))
    }

    /// With a tool that never answers.
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

    /// Other tools from now on; the answers stay.
    pub fn replace(&self, tools: impl IntoIterator<Item = ToolInfo>) {
        self.shared.lock().tools = tools.into_iter().collect();
    }

    /// The calls so far, in the order in which they began.
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
