//! The agent: a model and tools, ready to run.

pub(crate) mod ask;
pub(crate) mod drive;
#[cfg(feature = "manager")]
pub(crate) mod servers;
pub(crate) mod spawn;
pub(crate) mod step;
pub(crate) mod sub_agent;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

#[cfg(feature = "manager")]
use mcp_manager::ServerConfig;
use provider_adapters::{Cache, Conversation, Model, Options, OutputSchema, ToolChoice};
use tool_policy::{Policy, Secrets};

#[cfg(feature = "manager")]
use self::servers::ServerTools;
use self::step::NextRequest;
use crate::approval::{Approval, Decision};
use crate::compaction::{Compaction, ToSummarise};
use crate::cost::Prices;
use crate::offer::deferral::Deferral;
use crate::offer::selection::Selection;
use crate::run::Run;
use crate::run::limits::RunLimits;
use crate::session::Session;
use crate::session::result::{MemoryStore, ResultStore};
use crate::toolbox::Toolbox;
use crate::toolbox::joined::JoinedTools;
use crate::toolbox::local::LocalTools;

type Asker = Arc<dyn Fn(Approval) -> Pin<Box<dyn Future<Output = Decision> + Send>> + Send + Sync>;
type Summariser = Arc<
    dyn Fn(ToSummarise) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send>>
        + Send
        + Sync,
>;
/// Reads the W3C `traceparent` of the current span.
pub(crate) type TraceContext = fn() -> Option<String>;
type StepHook = Arc<dyn Fn(&mut NextRequest<'_>) + Send + Sync>;

/// A model, tools, and settings for runs. An agent drives any number of runs, in sequence or concurrently. Cheap to
/// clone.
///
/// ```
/// use agent_loop::Agent;
/// use agent_loop::testing::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), agent_loop::AskError> {
/// let agent = Agent::new(ScriptedModel::new().says("Hello."));
/// assert_eq!(agent.ask("Hi!").await?.text(), "Hello.");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) model_name: String,
    /// What [`tools`](Self::tools) and [`servers`](Self::servers) added.
    boxes: Vec<Arc<dyn Toolbox>>,
    /// All of them as one.
    pub(crate) toolbox: Arc<dyn Toolbox>,
    #[cfg(feature = "manager")]
    servers: Option<Arc<ServerTools>>,
    pub(crate) store: Arc<dyn ResultStore>,
    pub(crate) options: Options,
    pub(crate) choice: ToolChoice,
    pub(crate) cache: Cache,
    pub(crate) output: Option<OutputSchema>,
    pub(crate) selection: Selection,
    pub(crate) deferral: Deferral,
    pub(crate) prices: Option<Prices>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) name: String,
    pub(crate) conversation: Option<String>,
    pub(crate) parking: bool,
    pub(crate) traces_content: bool,
    pub(crate) trace_context: Option<TraceContext>,
    instructions: Option<String>,
    policy: Policy,
    limits: RunLimits,
    compaction: Option<Compaction>,
    on_approval: Option<Asker>,
    pub(crate) on_compaction: Option<Summariser>,
    pub(crate) on_step: Option<StepHook>,
}

impl Agent {
    /// Creates an agent with this model and no tools. The model's [name](Model::name) goes into the requests.
    pub fn new(model: impl Model + 'static) -> Self {
        Self {
            model_name: model.name().to_owned(),
            model: Arc::new(model),
            boxes: Vec::new(),
            toolbox: Arc::new(LocalTools::new("local")),
            #[cfg(feature = "manager")]
            servers: None,
            store: Arc::new(MemoryStore::default()),
            options: Options::new(),
            choice: ToolChoice::Auto,
            cache: Cache::default(),
            output: None,
            selection: Selection::all(),
            deferral: Deferral::default(),
            prices: None,
            secrets: Arc::default(),
            name: "agent".to_owned(),
            conversation: None,
            parking: false,
            traces_content: false,
            trace_context: None,
            instructions: None,
            policy: Policy::default(),
            limits: RunLimits::default(),
            compaction: None,
            on_approval: None,
            on_compaction: None,
            on_step: None,
        }
    }

    /// Adds tools. Of tools with the same name the first one wins.
    #[must_use]
    pub fn tools(mut self, toolbox: impl Toolbox + 'static) -> Self {
        self.boxes.push(Arc::new(toolbox));
        self.toolbox = match self.boxes.as_slice() {
            [only] => Arc::clone(only),
            several => {
                let joined = several.iter().map(Arc::clone);
                Arc::new(joined.fold(JoinedTools::new(), JoinedTools::with_shared))
            }
        };
        self
    }

    /// Adds the tools of servers, which are connected on first use, supervised, and closed with the last clone of the
    /// agent. Replaces the servers of earlier calls.
    ///
    /// For other connectors, elicitation or a shared manager, pass
    /// [`ManagedTools`](crate::ManagedTools) to [`tools`](Self::tools).
    ///
    /// ```no_run
    /// use agent_loop::{Agent, Answer, Approval};
    /// use mcp_manager::ServerConfig;
    /// use provider_adapters::Model;
    ///
    /// # async fn example(model: impl Model + 'static) -> Result<(), Box<dyn std::error::Error>> {
    /// async fn ask_me(approval: Approval) -> Answer {
    ///     println!("{} {}?", approval.record.display_name, approval.record.arguments.text());
    ///     Answer::Once
    /// }
    ///
    /// let git = ServerConfig::command("git", "uvx", ["mcp-server-git"])?;
    /// let agent = Agent::new(model).servers([git]).on_approval(ask_me);
    /// println!("{}", agent.ask("What did we commit today?").await?.text());
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "manager")]
    #[must_use]
    pub fn servers(mut self, servers: impl IntoIterator<Item = ServerConfig>) -> Self {
        let servers = Arc::new(ServerTools::new(servers.into_iter().collect()));
        self.servers = Some(Arc::clone(&servers));
        self.tools(servers)
    }

    /// Sets the function that decides about every call that needs approval, one at a time, in [`ask`](Self::ask),
    /// [`finish`](Self::finish) and [`spawn`](Self::spawn).
    #[must_use]
    pub fn on_approval<F, D>(mut self, ask: impl Fn(Approval) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = D> + Send + 'static,
        D: Into<Decision>,
    {
        self.on_approval = Some(Arc::new(move |approval| {
            let asked = ask(approval);
            Box::pin(async move { asked.await.into() })
        }));
        self
    }

    /// Sets a function that summarises old turns instead of the model.
    #[must_use]
    pub fn on_compaction<F, E>(
        mut self,
        summarise: impl Fn(ToSummarise) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<String, E>> + Send + 'static,
        E: fmt::Display,
    {
        self.on_compaction = Some(Arc::new(move |turns| {
            let summary = summarise(turns);
            Box::pin(async move { summary.await.map_err(|error| error.to_string()) })
        }));
        self
    }

    /// Calls `hook` before every request to the model.
    ///
    /// ```
    /// use agent_loop::Agent;
    /// use agent_loop::testing::ScriptedModel;
    /// use provider_adapters::Options;
    ///
    /// let agent = Agent::new(ScriptedModel::new()).on_step(|next| {
    ///     if next.round > 10 {
    ///         next.options = Options::new().with_max_output_tokens(500);
    ///     }
    /// });
    /// ```
    #[must_use]
    pub fn on_step(mut self, hook: impl Fn(&mut NextRequest<'_>) + Send + Sync + 'static) -> Self {
        self.on_step = Some(Arc::new(hook));
        self
    }

    /// The agent's model.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// Replaces the model, for instance by the same one in a wrapper; the name in the requests stays.
    #[must_use]
    pub fn with_model(mut self, model: impl Model + 'static) -> Self {
        self.model = Arc::new(model);
        self
    }

    /// Sets the model's name at its provider, if the model itself does not know it.
    #[must_use]
    pub fn with_model_name(mut self, name: impl Into<String>) -> Self {
        self.model_name = name.into();
        self
    }

    /// Sets the instructions of the runs that the agent begins.
    #[must_use]
    pub fn with_instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets the policy of the runs that the agent begins.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the limits of the runs that the agent begins.
    #[must_use]
    pub fn with_limits(mut self, limits: RunLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the compaction of the runs that the agent begins.
    #[must_use]
    pub fn with_compaction(mut self, compaction: Compaction) -> Self {
        self.compaction = Some(compaction);
        self
    }

    /// The compaction of the runs that the agent begins.
    pub fn compaction(&self) -> Option<&Compaction> {
        self.compaction.as_ref()
    }

    /// Sets options for the model.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets which tools the model may or must call in its first reply to a user turn. In later replies the model
    /// decides, so that the run can end.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Sets the prompt caching of the requests.
    #[must_use]
    pub fn with_cache(mut self, cache: Cache) -> Self {
        self.cache = cache;
        self
    }

    /// Requests a last reply that matches a JSON schema: [`Run::output`](crate::Run::output) has it. A model whose
    /// reply does not match gets the violations and one more chance.
    #[cfg(feature = "validate")]
    #[must_use]
    pub fn with_output_schema(mut self, schema: impl Into<OutputSchema>) -> Self {
        self.output = Some(schema.into());
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

    /// Sets the secrets that calls may not give to other servers: a call whose arguments hold one is asked
    /// for, whatever the policy allows. `Manager::secrets` has those of a manager's servers.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = Arc::new(secrets);
        self
    }

    /// The secrets that calls may not give to other servers.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
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

    /// Sets the conversation, by a name chosen by the program: servers' questions about its calls are asked only in it.
    /// At most one run of a conversation may be driven at a time.
    #[must_use]
    pub fn with_conversation(mut self, conversation: impl Into<String>) -> Self {
        self.conversation = Some(conversation.into());
        self
    }

    /// Allows calls to be parked: a server's question is kept with the run
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

    /// Sets the source of the W3C `traceparent` that servers get with a call, such as the span exporter: the function
    /// is called inside the call's span. Without it, or where it returns `None`, each session has its own trace id.
    #[must_use]
    pub fn with_trace_context(mut self, context: fn() -> Option<String>) -> Self {
        self.trace_context = Some(context);
        self
    }

    /// A new run with the agent's instructions, policy and limits, which begins with this question.
    pub fn begin(&self, question: impl Into<String>) -> Run {
        let mut conversation = Conversation::new();
        if let Some(instructions) = &self.instructions {
            conversation = conversation.with_system(instructions);
        }
        let mut run = Run::new(conversation)
            .with_policy(self.policy.clone())
            .with_limits(self.limits);
        if let Some(compaction) = self.compaction {
            run = run.with_compaction(compaction);
        }
        run.ask(question);
        run
    }

    /// Drives a run: ask the session for one event after the other.
    pub fn session<'r>(&self, run: &'r mut Run) -> Session<'r> {
        Session::new(self.clone(), run)
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
