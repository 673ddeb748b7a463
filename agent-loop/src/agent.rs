//! A model and tools, ready to run.

use std::fmt;
use std::sync::Arc;

use provider_adapters::{Model, Options};

use crate::cost::Prices;
use crate::event::RunEvent;
use crate::offer::deferral::Deferral;
use crate::offer::selection::Selection;
use crate::run::Run;
use crate::run::step::Reason;
use crate::session::Session;
use crate::session::result::{MemoryStore, ResultStore};
use crate::toolbox::Toolbox;

/// A model and tools. Drives any number of runs, in sequence or concurrently. Cheap to clone.
///
/// ```
/// use agent_loop::testing::ScriptedModel;
/// use agent_loop::{Agent, LocalTools, Reason, Run};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let model = ScriptedModel::new().says("Hello.");
/// let agent = Agent::new(model, "some-model", LocalTools::new("local"));
/// let mut run = Run::default();
/// run.ask("Hi!");
/// let reason = agent.finish(&mut run).await;
/// assert_eq!(reason, Some(Reason::Finished));
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) model_name: String,
    pub(crate) toolbox: Arc<dyn Toolbox>,
    pub(crate) store: Arc<dyn ResultStore>,
    pub(crate) options: Options,
    pub(crate) selection: Selection,
    pub(crate) deferral: Deferral,
    pub(crate) prices: Option<Prices>,
    pub(crate) name: String,
    pub(crate) conversation: Option<String>,
    pub(crate) parking: bool,
    pub(crate) traces_content: bool,
}

impl Agent {
    /// An agent with a model, by the name its provider knows it by, and tools.
    pub fn new(
        model: impl Model + 'static,
        model_name: impl Into<String>,
        toolbox: impl Toolbox + 'static,
    ) -> Self {
        Self::shared(Arc::new(model), model_name, Arc::new(toolbox))
    }

    /// An agent with a shared model and shared tools.
    pub fn shared(
        model: Arc<dyn Model>,
        model_name: impl Into<String>,
        toolbox: Arc<dyn Toolbox>,
    ) -> Self {
        Self {
            model,
            model_name: model_name.into(),
            toolbox,
            store: Arc::new(MemoryStore::default()),
            options: Options::new(),
            selection: Selection::all(),
            deferral: Deferral::default(),
            prices: None,
            name: "agent".to_owned(),
            conversation: None,
            parking: false,
            traces_content: false,
        }
    }

    /// Sets options for the model.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Restricts the tools to some servers.
    #[must_use]
    pub fn with_selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Sets when tools are searched instead of listed.
    #[must_use]
    pub fn with_deferral(mut self, deferral: Deferral) -> Self {
        self.deferral = deferral;
        self
    }

    /// Sets the store for big results.
    #[must_use]
    pub fn with_store(mut self, store: impl ResultStore + 'static) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sets prices, so that runs know their cost.
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Sets the name in traces.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// For a conversation, by a name of the program's own: what servers ask because of its calls is
    /// asked in it alone. Of one conversation one run is driven at a time.
    #[must_use]
    pub fn with_conversation(mut self, conversation: impl Into<String>) -> Self {
        self.conversation = Some(conversation.into());
        self
    }

    /// Allows calls to be parked: a server's question is then kept with the run
    /// ([`RunEvent::Elicitation`](crate::RunEvent::Elicitation)) if the host answers it later.
    #[must_use]
    pub fn with_parking(mut self) -> Self {
        self.parking = true;
        self
    }

    /// Records arguments, results and replies in traces, not only their sizes.
    #[must_use]
    pub fn with_traced_content(mut self) -> Self {
        self.traces_content = true;
        self
    }

    /// Drives a run: ask the session for one event after the other.
    pub fn session<'r>(&self, run: &'r mut Run) -> Session<'r> {
        Session::new(self.clone(), run)
    }

    /// Drives a run until it ends and returns the reason, or until it waits for a person (for an
    /// approval, or for an answer to a server) and returns `None`. A run that waits is left as it is:
    /// answer it in a [`session`](Self::session), or use an
    /// [unattended](crate::Policy::unattended) policy.
    pub async fn finish(&self, run: &mut Run) -> Option<Reason> {
        let mut session = self.session(run);
        while let Some(event) = session.next().await {
            match event {
                RunEvent::Done { reason } => return Some(reason),
                RunEvent::Waiting { .. } => break,
                _ => {}
            }
        }
        None
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("model", &self.model)
            .field("model_name", &self.model_name)
            .finish_non_exhaustive()
    }
}
