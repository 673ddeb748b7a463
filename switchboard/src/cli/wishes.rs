//! The flags of everything that talks to a model.

use std::path::PathBuf;
use std::time::Duration;

use agent_loop::Mode;
use clap::{Args, ValueEnum};
use provider_adapters::Wire;

use crate::cli::Global;
use crate::models::Tape;
use crate::servers::AdHoc;
use crate::store::StoredValue;
use crate::workbench::{OnLimit, Wishes};

/// What a conversation is to be like.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TalkArgs {
    /// The model, as in gpt-5, anthropic/claude-sonnet-5, ollama/qwen3 or demo
    #[arg(long, short, value_name = "NAME")]
    model: Option<String>,
    /// Ask the model at this address; a provider's key is not sent there
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Where the key for this address is: env:NAME or keyring:ID
    #[arg(long, value_name = "REFERENCE", requires = "base_url", value_parser = reference)]
    key: Option<StoredValue>,
    /// Speak this wire: openai-chat, openai-responses, anthropic, gemini or prompt
    #[arg(long, value_name = "WIRE")]
    wire: Option<Wire>,
    /// Talk as this assistant
    #[arg(long, short, value_name = "NAME")]
    assistant: Option<String>,
    /// Use this server only: a name, a URL, or demo; may be given several times, and a command
    /// after `--` is one more
    #[arg(long = "server", short, value_name = "SERVER")]
    servers: Vec<String>,
    #[command(flatten)]
    ad_hoc: AdHoc,
    /// Which tool calls run without a question
    #[arg(long, value_enum, value_name = "MODE")]
    approve: Option<Approve>,
    /// Ask the model at most so many times per message; 0 is no limit
    #[arg(long, value_name = "N")]
    max_rounds: Option<u32>,
    /// What the model does at a limit
    #[arg(long, value_enum, value_name = "WHAT")]
    on_limit: Option<OnLimit>,
    /// Spend at most so many dollars per message, where prices are known
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<f64>,
    /// Deadline per message in seconds: in total, without the time you take to answer
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Write everything that passes to the model and back to this file, without keys
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Send nothing to the model: play this file back
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
}

/// A key by reference: what is on a command line is seen by others.
fn reference(text: &str) -> Result<StoredValue, String> {
    match text.parse() {
        Ok(StoredValue::Plain(_)) | Err(_) => Err("write env:NAME or keyring:ID".to_owned()),
        Ok(value) => Ok(value),
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
enum Approve {
    /// Every call is asked for
    Ask,
    /// Calls that change nothing run
    AutoRead,
    /// Every call runs
    Auto,
    /// No call runs
    Plan,
}

impl TalkArgs {
    pub(crate) fn wishes(&self, global: &Global) -> Wishes {
        let mut wishes = Wishes::default();
        wishes.wanted.model.clone_from(&self.model);
        wishes.wanted.base_url.clone_from(&self.base_url);
        wishes.wanted.wire = self.wire;
        wishes.wanted.key.clone_from(&self.key);
        wishes.assistant.clone_from(&self.assistant);
        wishes.servers.clone_from(&self.servers);
        wishes.ad_hoc.clone_from(&self.ad_hoc);
        wishes.on_limit = self.on_limit;
        wishes.approve = self.approve.map(|mode| match mode {
            Approve::Ask => Mode::Ask,
            Approve::AutoRead => Mode::AutoRead,
            Approve::Auto => Mode::Auto,
            Approve::Plan => Mode::Plan,
        });
        wishes.max_rounds = self.max_rounds;
        wishes.max_cost = self.max_cost;
        wishes.timeout = self.timeout.map(Duration::from_secs);
        wishes.tape = match (&self.record, &self.replay) {
            (Some(file), _) => Tape::Record(file.clone()),
            (None, Some(file)) => Tape::Replay(file.clone()),
            (None, None) => Tape::None,
        };
        wishes.config.clone_from(&global.config);
        wishes
    }
}
