//! Options a conversation was started with, for resuming it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::exit::{Exit, Failure};
use crate::models::{Choice, Endpoint};
use crate::servers::{is_url, shown_url};
use crate::setup::{Bounds, RunArgs, SwitchedOff, named_mode};
use crate::store::{Conversation, ModelOptions, OnLimit};

/// What a conversation was started with, as its `options` keep it. Nothing in it is a secret.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Options {
    model: Option<String>,
    /// Where the model is, if no setting remembers that.
    endpoint: Option<Endpoint>,
    /// The servers that were chosen; the assistant's, or all that are active, if none.
    servers: Option<Vec<ServerRef>>,
    /// The file of servers that was used in place of the stored ones.
    config: Option<PathBuf>,
    approval_mode: Option<String>,
    max_rounds: Option<u32>,
    on_limit: Option<OnLimit>,
    /// In dollars.
    max_cost: Option<f64>,
    /// In seconds.
    timeout: Option<u64>,
    model_options: Option<ModelOptions>,
    switched_off: Option<Vec<SwitchedOff>>,
}

/// A server that was chosen.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
enum ServerRef {
    /// By its name or address.
    Named(String),
    /// By its address or command, which may hold a secret and is not kept.
    Withheld {
        /// The address or command without what may be secret.
        withheld: String,
    },
    /// By its command.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
    },
}

impl ServerRef {
    /// The servers that were chosen.
    fn all(run_args: &RunArgs) -> Vec<Self> {
        let named = run_args.servers.iter();
        let named = named.map(|server| match run_args.ad_hoc.headers.is_empty() {
            false if is_url(server) => Self::Withheld {
                withheld: shown_url(server),
            },
            _ => Self::of(server),
        });
        let program = run_args.ad_hoc.program().ok();
        let program = program.map(|config| {
            let shown = config.endpoint().to_string();
            let command = run_args.ad_hoc.command.clone();
            let arguments = command.get(1..).unwrap_or_default();
            let is_open = match config.endpoint() {
                mcp_manager::Endpoint::Stdio(it) => it.shown_args() == arguments,
                _ => false,
            };
            match is_open && run_args.ad_hoc.env.is_empty() {
                true => Self::Program { command },
                false => Self::Withheld { withheld: shown },
            }
        });
        named.chain(program).collect()
    }

    fn of(server: &str) -> Self {
        let secret = |url: Url| {
            let signed = !url.username().is_empty() || url.password().is_some();
            signed || url.query().is_some() || url.fragment().is_some()
        };
        match is_url(server) && Url::parse(server).map_or(true, secret) {
            true => Self::Withheld {
                withheld: shown_url(server),
            },
            false => Self::Named(server.to_owned()),
        }
    }
}

impl Options {
    /// What a conversation was started with.
    pub(crate) fn of(conversation: &Conversation) -> Result<Self, Failure> {
        match &conversation.options {
            Value::Null => Ok(Self::default()),
            options => serde_json::from_value(options.clone()).map_err(|error| {
                let text = "what the conversation was started with cannot be read";
                Failure::new(Exit::Other, text).caused_by(error)
            }),
        }
    }

    /// What a conversation goes on with.
    pub(crate) fn new(run_args: &RunArgs, choice: &Choice, mode: &str, bounds: &Bounds) -> Self {
        let endpoint = choice.base_url.as_ref().filter(|_| choice.ad_hoc);
        let endpoint = endpoint.and_then(|url| Endpoint::at(url).ok());
        let endpoint = endpoint.map(|mut endpoint| {
            endpoint.wire = Some(choice.wire);
            // A key that is found by the address is found again.
            endpoint.key.clone_from(&run_args.wanted.key);
            endpoint
        });
        let servers = ServerRef::all(run_args);
        let config = run_args.config.as_ref();
        Self {
            model: Some(choice.name()),
            endpoint,
            servers: (!servers.is_empty()).then_some(servers),
            config: config.map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone())),
            approval_mode: Some(mode.to_owned()),
            max_rounds: bounds.rounds,
            on_limit: bounds.on_limit,
            max_cost: bounds.dollars,
            timeout: bounds.time.map(|time| time.as_secs()),
            model_options: run_args.model_options.given(),
            switched_off: Some(run_args.switched_off.clone()).filter(|off| !off.is_empty()),
        }
    }

    /// Keeps it in a conversation, beside what else is kept there.
    pub(crate) fn keep(&self, conversation: &mut Conversation) {
        let mut kept = match conversation.options.take() {
            Value::Object(kept) => kept,
            _ => Map::new(),
        };
        if let Ok(Value::Object(own)) = serde_json::to_value(self) {
            for (name, value) in own {
                match value {
                    Value::Null => drop(kept.remove(&name)),
                    value => drop(kept.insert(name, value)),
                }
            }
        }
        conversation.options = Value::Object(kept);
    }
}

impl RunArgs {
    /// Whether servers are chosen one by one.
    pub(crate) fn names_servers(&self) -> bool {
        !self.servers.is_empty() || self.ad_hoc.has_command()
    }

    /// Fills in what a conversation was started with, where no flag overrides it.
    ///
    /// # Errors
    /// If a part of that was not kept: it is never replaced silently.
    pub(crate) fn resume(&mut self, conversation: &Conversation) -> Result<(), Failure> {
        let started = Options::of(conversation)?;
        let wanted = &mut self.wanted;
        if wanted.model.is_none() && wanted.base_url.is_none() {
            wanted.model = started.model;
            if let Some(endpoint) = started.endpoint {
                let prefix = format!("{}/", endpoint.name);
                let model = wanted.model.take();
                wanted.model = model.map(|model| match model.strip_prefix(&prefix) {
                    Some(bare) => bare.to_owned(),
                    None => model,
                });
                wanted.base_url = Some(endpoint.base_url);
                wanted.wire = wanted.wire.or(endpoint.wire);
                wanted.key = wanted.key.take().or(endpoint.key);
            }
        } else if let (None, Some(_), Some(model)) =
            (&wanted.model, &wanted.base_url, &started.model)
        {
            // The same model at another address.
            let bare = model
                .split_once('/')
                .map_or(model.as_str(), |(_, bare)| bare);
            wanted.model = Some(bare.to_owned());
        }
        if self.assistant.is_none() {
            let assistant = conversation.assistant_id.as_ref();
            self.assistant = assistant.map(ToString::to_string);
        }
        if !self.names_servers() && self.config.is_none() {
            self.config = started.config;
            for server in started.servers.into_iter().flatten() {
                match server {
                    ServerRef::Named(name) => self.servers.push(name),
                    ServerRef::Withheld { withheld } => return Err(not_kept(&withheld)),
                    ServerRef::Program { command } => self.ad_hoc.command = command,
                }
            }
        }
        if let (None, Some(mode)) = (self.approve, started.approval_mode) {
            self.approve = Some(named_mode(&mode)?);
        }
        self.max_rounds = self.max_rounds.or(started.max_rounds);
        self.on_limit = self.on_limit.or(started.on_limit);
        self.max_cost = self.max_cost.or(started.max_cost);
        self.timeout = self.timeout.or(started.timeout.map(Duration::from_secs));
        self.model_options = self.model_options.or(started.model_options);
        self.switched_off = started.switched_off.unwrap_or_default();
        Ok(())
    }
}

fn not_kept(server: &str) -> Failure {
    let text = format!(
        "the conversation uses the server {server}, of which not all is kept because it may hold \
         a secret"
    );
    let hint = "Give it again with -s URL or -- COMMAND, or other servers.";
    Failure::new(Exit::Other, text).with_hint(hint)
}
