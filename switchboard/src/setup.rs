//! Setup of a conversation: store, model, servers and policy.

mod adopt;
mod allow;
pub(crate) mod assistant_draft;
mod bounds;
mod options;
mod secrets;
mod select;
pub(crate) mod settings;
mod starting;
mod switched_off;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_loop::{
    Agent, Compaction, Deferral, Grant, ManagedTools, Mode, Policy, Prices, RunLimits, Selection,
    Toolbox,
};
use mcp_manager::{ElicitationHandler, Manager, ServerConfig, Wait};
use provider_adapters::{EncodeError, OutputSchema, Request};
use serde_json::Value;
use tool_policy::ScanPolicy;

use crate::conversation::{Decided, StoredOutputs};
use crate::demo::{DemoModel, DemoScript, start_model};
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::lang::t;
use crate::models::{Cassette, Choice, Found, Price, PriceTable, Retries, Wanted};
use crate::models::{build, choose, find_key, ollama_context, ollama_models};
use crate::servers::roots::Roots;
use crate::servers::{AdHoc, Host, auto_approved, connector, scan};
use crate::store::{
    Assistant, Conversation, ConversationId, ModelOptions, OnLimit, Server, Store, UserId,
};

pub(crate) use adopt::adopt;
pub(crate) use bounds::Bounds;
pub(crate) use options::Options;
pub(crate) use select::{assistant as find_assistant, servers as select_servers};
pub(crate) use switched_off::{SwitchedOff, is_bounded, tools as tools_off};

/// The default approval mode, of the tour, the terminal and the page.
pub(crate) const DEFAULT_MODE: Mode = Mode::AutoRead;
/// How long to wait for servers before starting without them.
const START: Duration = Duration::from_secs(10);

/// Options of a run, from flags or a stored conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunArgs {
    pub(crate) wanted: Wanted,
    pub(crate) assistant: Option<String>,
    /// Servers by name, or URLs; all that are active if none.
    pub(crate) servers: Vec<String>,
    /// An ad hoc server: a command, and options for servers given by URL.
    pub(crate) ad_hoc: AdHoc,
    pub(crate) approve: Option<Mode>,
    /// Tools that run without asking, this once.
    pub(crate) allow: Vec<String>,
    pub(crate) max_rounds: Option<u32>,
    pub(crate) on_limit: Option<OnLimit>,
    /// In dollars.
    pub(crate) max_cost: Option<f64>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) model_options: ModelOptions,
    /// Of this conversation alone.
    pub(crate) switched_off: Vec<SwitchedOff>,
    pub(crate) cassette: Cassette,
    /// A file of servers to use in place of the stored ones.
    pub(crate) config: Option<PathBuf>,
    /// Who hears of requests to the model that are made again.
    pub(crate) retries: Option<Retries>,
    /// Roots of this run, in addition to the setting's.
    pub(crate) roots: Vec<PathBuf>,
    /// Where it is shown that servers start.
    pub(crate) shown: Option<Out>,
    /// Whether no user can be asked.
    pub(crate) unattended: bool,
}

/// A conversation's model, servers and policy.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) user: UserId,
    pub(crate) choice: Choice,
    pub(crate) manager: Manager,
    pub(crate) servers: Vec<Server>,
    pub(crate) assistant: Option<Assistant>,
    pub(crate) mode: Mode,
    /// Notices for the user.
    pub(crate) notices: Vec<String>,
    agent: Agent,
    /// What is not switched off.
    selection: Selection,
    /// Consent that was given for this run alone.
    allowed: Vec<Grant>,
    bounds: Bounds,
    run_args: RunArgs,
    settings: BTreeMap<String, Value>,
    demo: Option<DemoModel>,
}

impl Setup {
    /// Sets everything up. Servers that fail to start are reported in the notices.
    pub(crate) async fn set_up(
        store: Arc<dyn Store>,
        run_args: RunArgs,
        forms: impl ElicitationHandler + 'static,
    ) -> Result<Self, Failure> {
        let user = UserId::local();
        let settings = home::settings(&*store, &user).await?;
        let assistant = select::assistant(&*store, &user, run_args.assistant.as_deref()).await?;
        let mut wanted = run_args.wanted.clone();
        if let (None, Some(assistant)) = (&wanted.model, &assistant) {
            wanted.model.clone_from(&assistant.model);
        }
        let mut choice = choice(&wanted, &settings).await?;
        // An explicit wire overrides the assistant's mode.
        if wanted.wire.is_none() {
            choice = choice.with_mcp_mode(assistant.as_ref().and_then(|it| it.mcp_mode));
        }
        let mut notices = Vec::new();
        let selected = select::servers(
            &*store,
            &user,
            &run_args,
            assistant.as_ref(),
            &choice,
            Host::Allowed,
        )
        .await?;
        notices.extend(selected.notices);
        let manager = Manager::builder()
            .connector(connector(&user, run_args.ad_hoc.reaching().await?))
            .elicitation(forms)
            .host(
                Roots::new(Arc::clone(&store), user.clone()).with_folders(&run_args.roots),
                Roots::capabilities(),
            )
            .build();
        notices.extend(connect(&manager, selected.configs, run_args.shown.as_ref()).await);
        let allowed = allow::grants(&manager, &run_args.allow)?;
        let mode = mode(run_args.approve, assistant.as_ref(), &settings)?;
        let bounds = Bounds::of(&run_args, assistant.as_ref(), &settings);
        let demo = match choice.provider.is_demo() && choice.base_url.is_none() {
            true => Some(start_model(DemoScript::default()).await?),
            false => None,
        };
        let tools = scanned_tools(&manager, &settings);
        let (cassette, retries) = (&run_args.cassette, run_args.retries.as_ref());
        let agent = agent(&choice, demo.as_ref(), tools, cassette, retries, &settings).await?;
        let left_out = switched_off::tools(&run_args.switched_off, &selected.rows);
        let selection = left_out.fold(Selection::all(), |selection, (server, tools)| {
            selection.without(server, tools)
        });
        let options = model_options(&run_args, assistant.as_ref());
        let agent = agent.with_selection(selection.clone());
        let agent = agent.with_options(options);
        Ok(Self {
            store,
            user,
            choice,
            manager,
            servers: selected.rows,
            assistant,
            mode,
            notices,
            agent,
            selection,
            allowed,
            bounds,
            run_args,
            settings,
            demo,
        })
    }

    /// Asks for answers that match a JSON schema, if the model's wire can say it.
    pub(crate) fn require_output(&mut self, schema: Value) -> Result<(), EncodeError> {
        let schema = OutputSchema::new(schema);
        let model = self.agent.model();
        let question = self.agent.begin("?").conversation().clone();
        let request = Request::new(model.name(), question).with_output_schema(schema.clone());
        model.adapter().encode(&request)?;
        self.agent = self.agent.clone().with_output_schema(schema);
        Ok(())
    }

    /// The agent of a conversation, which keeps long outputs in the store. It holds calls that would
    /// give one server's secrets, as they are configured now, to another one.
    pub(crate) fn agent(&self, conversation: &ConversationId) -> Agent {
        let outputs = StoredOutputs::new(Arc::clone(&self.store), conversation.clone());
        let agent = guarded(self.agent.clone(), &self.manager).with_store(outputs);
        agent.with_conversation(conversation.as_str())
    }

    /// The policy and limits of a conversation.
    pub(crate) async fn governance(
        &self,
        conversation: &ConversationId,
    ) -> Result<(Policy, RunLimits), Failure> {
        let servers = self.servers.iter();
        let seen = servers.flat_map(|row| auto_approved(row, &self.manager));
        self.store.commit(seen.collect()).await?;
        let decided = Decided::read(&*self.store, &self.user).await?;
        let policy = decided
            .policy(self.mode, &self.servers, conversation)
            .with_scan(self.scan());
        let allowed = self.allowed.iter().cloned();
        let mut policy = allowed.fold(policy, Policy::with_grant);
        if self.run_args.unattended {
            policy = policy.unattended();
        }
        Ok((policy, self.bounds.limits()))
    }

    /// What the user wants done about signs of an attack.
    pub(crate) fn scan(&self) -> ScanPolicy {
        scan::policy(&self.settings)
    }

    /// The assistant's instructions.
    pub(crate) fn system(&self) -> Option<&str> {
        self.assistant.as_ref()?.system.as_deref()
    }

    /// A new conversation.
    pub(crate) fn conversation(&self) -> Conversation {
        let mut conversation = Conversation::new(self.user.clone(), "");
        self.remember(&mut conversation);
        conversation
    }

    /// Stores the options in the conversation, for resuming it.
    pub(crate) fn remember(&self, conversation: &mut Conversation) {
        conversation.assistant_id = self.assistant.as_ref().map(|it| it.id.clone());
        let mode = mode_name(self.mode);
        Options::new(&self.run_args, &self.choice, &mode, &self.bounds).keep(conversation);
    }

    /// Switches to another model.
    pub(crate) async fn change_model(&mut self, name: &str) -> Result<(), Failure> {
        let wanted = Wanted::model(Some(name.to_owned()));
        let choice = choice(&wanted, &self.settings).await?;
        if choice.provider.is_demo() && self.demo.is_none() {
            self.demo = Some(start_model(DemoScript::default()).await?);
        }
        let demo = self.demo.as_ref();
        let tools = scanned_tools(&self.manager, &self.settings);
        let retries = self.run_args.retries.as_ref();
        let agent = agent(
            &choice,
            demo,
            tools,
            &Cassette::None,
            retries,
            &self.settings,
        )
        .await?;
        let options = model_options(&self.run_args, self.assistant.as_ref());
        let agent = agent.with_selection(self.selection.clone());
        self.agent = agent.with_options(options);
        self.choice = choice;
        self.run_args.wanted = wanted;
        Ok(())
    }

    /// Shuts down, and returns once no process is left.
    pub(crate) async fn close(self) {
        let store = Arc::clone(&self.store);
        self.stop().await;
        // Everything committed is durable either way.
        let _ = store.close().await;
    }

    /// Shuts down all but the store, and returns once no process is left.
    pub(crate) async fn stop(self) {
        self.manager.shutdown().await;
        if let Some(demo) = self.demo {
            demo.stop().await;
        }
    }
}

/// An agent that holds calls that would give a secret of one of these servers to another one.
pub(crate) fn guarded(agent: Agent, manager: &Manager) -> Agent {
    let secrets = agent.secrets().clone().and(manager.secrets());
    agent.with_secrets(secrets)
}

/// How the model is asked to answer: by the flags, the conversation or the assistant.
pub(crate) fn model_options(
    run_args: &RunArgs,
    assistant: Option<&Assistant>,
) -> provider_adapters::Options {
    let of_assistant = assistant.and_then(|assistant| assistant.model_options);
    run_args.model_options.or(of_assistant).of_request()
}

/// The tools of a manager's servers, their results scanned as the settings say.
fn scanned_tools(manager: &Manager, settings: &BTreeMap<String, Value>) -> Arc<ManagedTools> {
    let tools = ManagedTools::new(manager.clone());
    tools.set_scan(scan::policy(settings));
    Arc::new(tools)
}

/// Chooses the model. A local Ollama is queried only if it could matter.
pub(crate) async fn choice(
    wanted: &Wanted,
    settings: &BTreeMap<String, Value>,
) -> Result<Choice, Failure> {
    let host = home::environment("OLLAMA_HOST");
    let found = |ollama| Found {
        settings,
        environment: &home::environment,
        ollama,
    };
    // First without Ollama, which is not needed in most cases.
    if let Ok(choice) = choose(wanted, &found(&[]))
        && choice.origin != crate::models::Origin::Demo
    {
        return Ok(choice);
    }
    let models = ollama_models(host.as_deref()).await;
    Ok(choose(wanted, &found(&models))?)
}

/// A model and tools, ready to run.
pub(crate) async fn agent(
    choice: &Choice,
    demo: Option<&DemoModel>,
    tools: Arc<dyn Toolbox>,
    cassette: &Cassette,
    retries: Option<&Retries>,
    settings: &BTreeMap<String, Value>,
) -> Result<Agent, Failure> {
    let key = match &choice.key {
        Some(reference) => Some(find_key(reference, &home::environment).await?),
        None => None,
    };
    let known = secrets::keys(choice, key.as_ref(), settings);
    let url = demo.map(|demo| demo.base_url(choice.wire));
    let model = build(choice, url.as_deref(), key, cassette, retries).map_err(|error| {
        let file = match cassette {
            Cassette::Record(file) | Cassette::Replay(file) => Some(file.display()),
            Cassette::None => None,
        };
        let text = match file {
            Some(file) => format!("the model cannot be set up with the recording {file}"),
            None => "the model cannot be set up".to_owned(),
        };
        Failure::new(Exit::Model, text).caused_by(error)
    })?;
    let mut agent = Agent::new(model)
        .with_secrets(known)
        .with_model_name(&choice.model)
        .tools(tools)
        .with_name("switchboard");
    #[cfg(feature = "telemetry")]
    {
        agent = agent.with_trace_context(crate::telemetry::traceparent);
    }
    // What only speaks the provider's wire may not search for tools.
    let mut deferral = Deferral::default().native(choice.is_at_its_provider());
    if let Some(context) = context(choice, settings).await {
        deferral = deferral.with_context_tokens(usize::try_from(context).unwrap_or(usize::MAX));
        agent = agent.with_compaction(Compaction::at(context / 10 * 8));
    }
    agent = agent.with_deferral(deferral);
    if let Some(price) = PriceTable::new(settings)?.find(&choice.model) {
        agent = agent.with_prices(prices(price));
    }
    Ok(agent)
}

/// The tokens that a request to the model may have, if known.
async fn context(choice: &Choice, settings: &BTreeMap<String, Value>) -> Option<u64> {
    let known = choice.capabilities.context;
    let is_set = settings.contains_key(&format!("models.{}.context", choice.model));
    if is_set || choice.provider.name != "ollama" {
        return known;
    }
    let given = ollama_context(&choice.model, home::environment).await;
    Some(known.map_or(given, |known| known.min(given)))
}

fn prices(price: Price) -> Prices {
    let micros = |dollars: f64| (dollars.max(0.0) * 1e6).round() as u64;
    let cache = |dollars: Option<f64>| micros(dollars.unwrap_or(price.input));
    Prices::new(micros(price.input), micros(price.output))
        .with_cache(cache(price.cache_read), cache(price.cache_write))
}

/// Connects servers and returns a notice for each that failed or is late.
async fn connect(manager: &Manager, configs: Vec<ServerConfig>, out: Option<&Out>) -> Vec<String> {
    let count = configs.len();
    let starting = manager.connect_all(configs, Wait::UpTo(START));
    let startup = match out {
        Some(out) if count > 0 => starting::shown(starting, manager, count, out).await,
        _ => starting.await,
    };
    let failed = startup.errors.into_iter().map(|(server, error)| {
        let text = t!("{server} is unavailable", server = server);
        let failure = Failure::new(Exit::Unreachable, text);
        failure.caused_by(error).chain()
    });
    let late = startup.pending.iter();
    let late = late.map(|server| {
        t!(
            "{server} is still starting; its tools come later",
            server = server
        )
    });
    failed.chain(late).collect()
}

/// The approval mode: of the flag, the assistant, or the setting.
pub(crate) fn mode(
    wished: Option<Mode>,
    assistant: Option<&Assistant>,
    settings: &BTreeMap<String, Value>,
) -> Result<Mode, Failure> {
    if let Some(mode) = wished {
        return Ok(mode);
    }
    let of_assistant = assistant.and_then(|assistant| assistant.approval_mode.clone());
    let setting = settings
        .get("approve")
        .and_then(Value::as_str)
        .map(str::to_owned);
    match of_assistant.or(setting) {
        None => Ok(DEFAULT_MODE),
        Some(name) => named_mode(&name),
    }
}

/// Parses an approval mode, or fails with a hint.
pub(crate) fn named_mode(name: &str) -> Result<Mode, Failure> {
    parse_mode(name).ok_or_else(|| {
        Failure::new(Exit::Other, format!("{name:?} is not an approval mode"))
            .with_hint("There are ask, auto-read, auto and plan.")
    })
}

/// Parses an approval mode.
pub(crate) fn parse_mode(name: &str) -> Option<Mode> {
    serde_json::from_value(Value::from(name)).ok()
}

/// The name of an approval mode.
pub(crate) fn mode_name(mode: Mode) -> String {
    let name = serde_json::to_value(mode).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}
