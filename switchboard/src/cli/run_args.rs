//! Flags of every verb that runs a model.

use std::path::PathBuf;
use std::time::Duration;

use agent_loop::Mode;
use clap::{Args, ValueEnum};
use provider_adapters::Wire;

use crate::cli::Global;
use crate::cli::model_flags::ModelFlags;
use crate::models::Cassette;
use crate::servers::AdHoc;
use crate::setup::RunArgs;
use crate::store::{OnLimit, StoredValue};

/// Flags of a run.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunFlags {
    /// The model, as in gpt-5, anthropic/claude-sonnet-5, ollama/qwen3 or demo
    #[arg(long, short, value_name = "NAME")]
    model: Option<String>,
    /// Base URL of the model; a provider's key is not sent there
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Where the key for this address is: env:NAME or keyring:ID
    #[arg(long, value_name = "REFERENCE", requires = "base_url", value_parser = reference)]
    key: Option<StoredValue>,
    /// Wire format: openai-chat, openai-responses, anthropic, gemini or prompt
    #[arg(long, value_name = "WIRE")]
    wire: Option<Wire>,
    /// Use this assistant
    #[arg(long, short, value_name = "NAME")]
    assistant: Option<String>,
    /// Use this server only: a name, a URL, or demo; may be given several times, and a command
    /// after `--` is one more
    #[arg(long = "server", short, value_name = "SERVER")]
    servers: Vec<String>,
    #[command(flatten)]
    ad_hoc: AdHoc,
    /// Which tool calls run without asking
    #[arg(long, value_enum, value_name = "MODE")]
    approve: Option<Approve>,
    /// Let this tool run without asking, this once and as it is defined now: TOOL or SERVER/TOOL; may
    /// be repeated
    #[arg(long, value_name = "TOOL")]
    allow: Vec<String>,
    /// Offer this folder to servers as a root; may be repeated
    #[arg(long = "root", value_name = "FOLDER", value_parser = absolute)]
    roots: Vec<PathBuf>,
    /// Maximum number of model requests per message; 0 is no limit
    #[arg(long, value_name = "N")]
    max_rounds: Option<u32>,
    /// What the model does at a limit
    #[arg(long, value_enum, value_name = "WHAT")]
    on_limit: Option<OnLimit>,
    /// Maximum cost per message in dollars, where prices are known
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<f64>,
    /// Deadline per message in seconds, excluding the time spent waiting for you
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    #[command(flatten)]
    options: ModelFlags,
    /// Record the model's HTTP exchange in this file, without keys
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Replay this recording instead of sending requests
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
}

/// Parses a reference to a key: command lines are visible to other users.
pub(crate) fn reference(text: &str) -> Result<StoredValue, String> {
    match text.parse() {
        Ok(StoredValue::Plain(_)) | Err(_) => Err("write env:NAME or keyring:ID".to_owned()),
        Ok(value) => Ok(value),
    }
}

/// A folder that exists, as an absolute path.
fn absolute(text: &str) -> Result<PathBuf, String> {
    let path = std::path::absolute(text).map_err(|error| error.to_string())?;
    match path.is_dir() {
        true => Ok(path),
        false => Err("there is no such folder".to_owned()),
    }
}

/// An amount of money.
fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok();
    let amount = amount.filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "write a number of dollars, as in 0.5".to_owned())
}

/// Approval modes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Approve {
    /// Ask before every call
    Ask,
    /// Read-only calls run
    AutoRead,
    /// Every call runs
    Auto,
    /// Run nothing
    Plan,
}

impl Approve {
    pub(crate) fn mode(self) -> Mode {
        match self {
            Self::Ask => Mode::Ask,
            Self::AutoRead => Mode::AutoRead,
            Self::Auto => Mode::Auto,
            Self::Plan => Mode::Plan,
        }
    }
}

impl RunFlags {
    pub(crate) fn run_args(&self, global: &Global) -> RunArgs {
        let mut run_args = RunArgs::default();
        run_args.wanted.model.clone_from(&self.model);
        run_args.wanted.base_url.clone_from(&self.base_url);
        run_args.wanted.wire = self.wire;
        run_args.wanted.key.clone_from(&self.key);
        run_args.assistant.clone_from(&self.assistant);
        run_args.servers.clone_from(&self.servers);
        run_args.ad_hoc.clone_from(&self.ad_hoc);
        run_args.on_limit = self.on_limit;
        run_args.approve = self.approve.map(Approve::mode);
        run_args.allow.clone_from(&self.allow);
        run_args.roots.clone_from(&self.roots);
        run_args.max_rounds = self.max_rounds;
        run_args.max_cost = self.max_cost;
        run_args.timeout = self.timeout.map(Duration::from_secs);
        run_args.model_options = self.options.options();
        run_args.cassette = match (&self.record, &self.replay) {
            (Some(file), _) => Cassette::Record(file.clone()),
            (None, Some(file)) => Cassette::Replay(file.clone()),
            (None, None) => Cassette::None,
        };
        run_args.config.clone_from(&global.config);
        run_args
    }
}
