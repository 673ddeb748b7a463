//! Everything a conversation needs, set up: the store, the model, the servers, the rules.

mod options;
mod select;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_loop::{Agent, Deferral, ManagedTools, Mode, Policy, Prices, RunLimits, Toolbox};
use clap::ValueEnum;
use mcp_manager::{ElicitationHandler, Manager, ServerConfig, Wait};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::demo::{DemoModel, DemoScript, start_model};
use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::{Choice, Found, Price, PriceTable, Tape, Wanted};
use crate::models::{build, choose, find_key, ollama_models};
use crate::servers::{AdHoc, Host, auto_approved, connector};
use crate::session::{Decided, StoredOutputs};
use crate::store::{Assistant, Conversation, ConversationId, Server, Store, UserId};

pub(crate) use options::Options;
pub(crate) use select::servers as select_servers;

/// The approval mode where none is chosen: in the tour, in the terminal and in the page.
pub(crate) const DEFAULT_MODE: Mode = Mode::AutoRead;
/// How long to wait for servers before the conversation begins without them.
const START: Duration = Duration::from_secs(10);

/// What the user wants of a conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) wanted: Wanted,
    pub(crate) assistant: Option<String>,
    /// Servers by name, or URLs; all that are active if none.
    pub(crate) servers: Vec<String>,
    /// A program that is a server, and how servers given by their URL are spoken to.
    pub(crate) ad_hoc: AdHoc,
    pub(crate) approve: Option<Mode>,
    pub(crate) max_rounds: Option<u32>,
    pub(crate) on_limit: Option<OnLimit>,
    /// In dollars.
    pub(crate) max_cost: Option<f64>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) tape: Tape,
    /// A file of servers to use in place of the stored ones.
    pub(crate) config: Option<PathBuf>,
    /// Whether nobody is there to be asked.
    pub(crate) unattended: bool,
}

/// Everything a conversation needs.
#[derive(Debug)]
pub(crate) struct Workbench {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) user: UserId,
    pub(crate) choice: Choice,
    pub(crate) manager: Manager,
    pub(crate) servers: Vec<Server>,
    pub(crate) assistant: Option<Assistant>,
    pub(crate) mode: Mode,
    /// What people should know before they begin.
    pub(crate) notices: Vec<String>,
    agent: Agent,
    bounds: Bounds,
    wishes: Wishes,
    settings: BTreeMap<String, Value>,
    demo: Option<DemoModel>,
}

impl Workbench {
    /// Sets everything up. Servers that do not come up are told of, not waited for.
    pub(crate) async fn set_up(
        store: Arc<dyn Store>,
        wishes: Wishes,
        forms: impl ElicitationHandler + 'static,
    ) -> Result<Self, Failure> {
        let user = UserId::local();
        let settings = home::settings(&*store, &user).await?;
        let assistant = select::assistant(&*store, &user, wishes.assistant.as_deref()).await?;
        let mut wanted = wishes.wanted.clone();
        if let (None, Some(assistant)) = (&wanted.model, &assistant) {
            wanted.model.clone_from(&assistant.model);
        }
        let mut choice = choice(&wanted, &settings).await?;
        // A wire that is asked for is more than an assistant's way.
        if wanted.wire.is_none() {
            choice = choice.with_mcp_mode(assistant.as_ref().and_then(|it| it.mcp_mode));
        }
        let mut notices = Vec::new();
        let selected = select::servers(
            &*store,
            &user,
            &wishes,
            assistant.as_ref(),
            &choice,
            Host::Allowed,
        )
        .await?;
        notices.extend(selected.notices);
        let manager = Manager::builder()
            .connector(connector(&user, None))
            .elicitation(forms)
            .build();
        notices.extend(connect(&manager, selected.configs).await);
        let mode = mode(wishes.approve, assistant.as_ref(), &settings)?;
        let bounds = Bounds::of(&wishes, assistant.as_ref(), &settings);
        let demo = match choice.provider.is_demo() && choice.base_url.is_none() {
            true => Some(start_model(DemoScript::default()).await?),
            false => None,
        };
        let tools = Arc::new(ManagedTools::new(manager.clone()));
        let agent = agent(&choice, demo.as_ref(), tools, &wishes.tape, &settings).await?;
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
            bounds,
            wishes,
            settings,
            demo,
        })
    }

    /// The model and the tools, for a conversation that keeps its long outputs in the store.
    pub(crate) fn agent(&self, conversation: &ConversationId) -> Agent {
        let outputs = StoredOutputs::new(Arc::clone(&self.store), conversation.clone());
        let agent = self.agent.clone().with_store(outputs);
        agent.with_conversation(conversation.as_str())
    }

    /// The judge and the bounds of a conversation.
    pub(crate) async fn governance(
        &self,
        conversation: &ConversationId,
    ) -> Result<(Policy, RunLimits), Failure> {
        let servers = self.servers.iter();
        let seen = servers.flat_map(|row| auto_approved(row, &self.manager));
        self.store.commit(seen.collect()).await?;
        let decided = Decided::read(&*self.store, &self.user).await?;
        let mut policy = decided.policy(self.mode, &self.servers, conversation);
        if self.wishes.unattended {
            policy = policy.unattended();
        }
        Ok((policy, self.bounds.limits()))
    }

    /// The assistant's instructions.
    pub(crate) fn system(&self) -> Option<&str> {
        self.assistant.as_ref()?.system.as_deref()
    }

    /// A conversation to begin.
    pub(crate) fn conversation(&self) -> Conversation {
        let mut conversation = Conversation::new(self.user.clone(), "");
        self.remember(&mut conversation);
        conversation
    }

    /// Keeps in a conversation what it goes on with.
    pub(crate) fn remember(&self, conversation: &mut Conversation) {
        conversation.assistant_id = self.assistant.as_ref().map(|it| it.id.clone());
        let mode = mode_name(self.mode);
        Options::new(&self.wishes, &self.choice, &mode, &self.bounds).keep(conversation);
    }

    /// Uses another model from here on.
    pub(crate) async fn change_model(&mut self, name: &str) -> Result<(), Failure> {
        let wanted = Wanted::model(Some(name.to_owned()));
        let choice = choice(&wanted, &self.settings).await?;
        if choice.provider.is_demo() && self.demo.is_none() {
            self.demo = Some(start_model(DemoScript::default()).await?);
        }
        let demo = self.demo.as_ref();
        let tools = Arc::new(ManagedTools::new(self.manager.clone()));
        self.agent = agent(&choice, demo, tools, &Tape::None, &self.settings).await?;
        self.choice = choice;
        self.wishes.wanted = wanted;
        Ok(())
    }

    /// Ends everything, and returns when no process is left.
    pub(crate) async fn close(self) {
        self.manager.shutdown().await;
        if let Some(demo) = self.demo {
            demo.stop().await;
        }
        // What was committed is safe either way.
        let _ = self.store.close().await;
    }
}

/// Chooses the model. A local Ollama is asked for only where it could matter.
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
    // Without asking, what does not need it is found as well.
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
    tape: &Tape,
    settings: &BTreeMap<String, Value>,
) -> Result<Agent, Failure> {
    let key = match &choice.key {
        Some(reference) => Some(find_key(reference, &home::environment).await?),
        None => None,
    };
    let url = demo.map(|demo| demo.base_url(choice.wire));
    let model = build(choice, url.as_deref(), key, tape).map_err(|error| {
        Failure::new(Exit::Model, "the model cannot be set up").caused_by(error)
    })?;
    let mut agent = Agent::shared(model, &choice.model, tools).with_name("switchboard");
    if let Some(context) = choice.capabilities.context {
        let context = usize::try_from(context).unwrap_or(usize::MAX);
        agent = agent.with_deferral(Deferral::default().with_context_tokens(context));
    }
    if let Some(price) = PriceTable::new(settings)?.find(&choice.model) {
        agent = agent.with_prices(prices(price));
    }
    Ok(agent)
}

fn prices(price: Price) -> Prices {
    let micros = |dollars: f64| (dollars.max(0.0) * 1e6).round() as u64;
    let cache = |dollars: Option<f64>| micros(dollars.unwrap_or(price.input));
    Prices::new(micros(price.input), micros(price.output))
        .with_cache(cache(price.cache_read), cache(price.cache_write))
}

/// Connects servers, and tells of those that did not come up.
async fn connect(manager: &Manager, configs: Vec<ServerConfig>) -> Vec<String> {
    let startup = manager.connect_all(configs, Wait::UpTo(START)).await;
    let failed = startup.errors.into_iter().map(|(server, error)| {
        let failure = Failure::new(Exit::Unreachable, format!("{server} is not there"));
        failure.caused_by(error).chain()
    });
    let late = startup.pending.iter();
    let late = late.map(|server| format!("{server} is still starting; its tools come later"));
    failed.chain(late).collect()
}

/// The approval mode that is wished for, or the assistant's, or the one that is set.
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

/// As [`parse_mode`], or what is wrong with the name.
pub(crate) fn named_mode(name: &str) -> Result<Mode, Failure> {
    parse_mode(name).ok_or_else(|| {
        Failure::new(Exit::Other, format!("{name:?} is no approval mode"))
            .with_hint("There are ask, auto-read, auto and plan.")
    })
}

/// The approval mode of this name.
pub(crate) fn parse_mode(name: &str) -> Option<Mode> {
    serde_json::from_value(Value::from(name)).ok()
}

/// The name of an approval mode.
pub(crate) fn mode_name(mode: Mode) -> String {
    let name = serde_json::to_value(mode).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// What happens when an answer has reached a limit.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnLimit {
    /// The answer ends there
    #[default]
    Stop,
    /// The model is asked once more, without tools, to sum up
    Summarize,
}

impl OnLimit {
    /// What is meant by this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        serde_json::from_value(Value::from(name)).ok()
    }
}

/// What an answer may take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) rounds: Option<u32>,
    pub(crate) on_limit: Option<OnLimit>,
    pub(crate) dollars: Option<f64>,
    pub(crate) time: Option<Duration>,
}

impl Bounds {
    /// The bounds that are wished for, or the assistant's, or those that are set.
    pub(crate) fn of(
        wishes: &Wishes,
        assistant: Option<&Assistant>,
        settings: &BTreeMap<String, Value>,
    ) -> Self {
        let setting = settings.get("max_rounds").and_then(Value::as_u64);
        let setting = setting.and_then(|rounds| u32::try_from(rounds).ok());
        let of_assistant = assistant.and_then(|assistant| assistant.max_rounds);
        let dollars = settings.get("max_cost").and_then(Value::as_f64);
        let on_limit = settings.get("on_limit").and_then(Value::as_str);
        let on_limit = on_limit.and_then(OnLimit::named);
        Self {
            rounds: wishes.max_rounds.or(of_assistant).or(setting),
            on_limit: wishes.on_limit.or(on_limit),
            dollars: wishes.max_cost.or(dollars),
            time: wishes.timeout,
        }
    }

    /// The same for the loop.
    pub(crate) fn limits(&self) -> RunLimits {
        let mut limits = RunLimits::default();
        if let Some(rounds) = self.rounds {
            limits = limits.with_rounds(rounds);
        }
        if let Some(dollars) = self.dollars {
            limits = limits.with_cost_micros((dollars.max(0.0) * 1e6).round() as u64);
        }
        if let Some(time) = self.time {
            limits = limits.with_time(time);
        }
        if self.on_limit == Some(OnLimit::Summarize) {
            limits = limits.with_summary();
        }
        limits
    }
}
