//! The state of a run as a value: everything required to continue, possibly in another process.

use std::collections::BTreeSet;

use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::ContentBlock;
use provider_adapters::{Conversation, Reply, Turn};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tool_policy::Policy;

use crate::compaction::Compaction;
use crate::compaction::plan::Plan;
use crate::compaction::size::Scale;
use crate::event::RunEvent;
use crate::run::call::{CallState, OpenCall};
use crate::run::limits::{LimitKind, RunLimits, Spent};
use crate::run::log::Logged;
use crate::run::loop_detector::LoopDetector;
use crate::run::record::Status;
use crate::run::step::Reason;
use crate::run::{Run, messages};

/// The form in which runs are written. Raise it when an old form can no longer be read.
const VERSION: u32 = 1;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct State {
    #[serde(deserialize_with = "known_version")]
    pub(crate) version: u32,
    pub(crate) conversation: Conversation,
    pub(crate) policy: Policy,
    pub(crate) limits: RunLimits,
    #[serde(alias = "guard")]
    pub(crate) loop_detector: LoopDetector,
    pub(crate) phase: Phase,
    pub(crate) spent: Spent,
    /// Where in the conversation this run began.
    pub(crate) first_turn: usize,
    pub(crate) next_number: u64,
    /// Calls that are over, in order.
    pub(crate) log: Vec<Logged>,
    /// Replies in a row whose calls could not be read.
    pub(crate) spoilt: u32,
    /// The limit that calls of this round ran into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) over: Option<LimitKind>,
    /// The limit after which the model sums up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) summing_up: Option<LimitKind>,
    /// Whether results were stored that the model may read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stored: bool,
    /// The structured output of the last reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<RawJson>,
    /// Replies to this user turn that did not match the output schema.
    #[serde(default)]
    pub(crate) invalid_outputs: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compaction: Option<Compaction>,
    /// The turns that a compaction keeps as they are, by position.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) pinned: BTreeSet<usize>,
    /// The provider's last count of a request's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) measured: Option<Measured>,
    /// About how many tokens the definitions of the tools have that the model was offered last.
    #[serde(default)]
    pub(crate) tool_tokens: u64,
    /// A compaction that waits for its summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compacting: Option<Plan>,
    /// How often the conversation was replaced.
    #[serde(default)]
    pub(crate) replaced: u32,
    /// The number of turns that the last compaction left.
    #[serde(default)]
    pub(crate) compacted_turns: usize,
    /// Whether the provider refused the last request as too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) full: bool,
}

/// The tokens of a request with the first turns of the conversation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Measured {
    pub(crate) tokens: u64,
    pub(crate) turns: usize,
    /// What the count says of our estimates of turns.
    #[serde(default)]
    pub(crate) scale: Scale,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    /// The model's reply is next.
    Model,
    /// Its calls are in progress.
    Acting(Box<Round>),
    /// There is nothing to do.
    Done(Reason),
}

/// A reply whose calls are under way.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Round {
    pub(crate) reply: Reply,
    pub(crate) calls: Vec<OpenCall>,
}

impl State {
    pub(crate) fn new(conversation: Conversation) -> Self {
        Self {
            version: VERSION,
            stored: has_stored_result(&conversation),
            first_turn: conversation.turns().len(),
            conversation,
            policy: Policy::default(),
            limits: RunLimits::default(),
            loop_detector: LoopDetector::default(),
            phase: Phase::Model,
            spent: Spent::default(),
            next_number: 1,
            log: Vec::new(),
            spoilt: 0,
            over: None,
            summing_up: None,
            output: None,
            invalid_outputs: 0,
            compaction: None,
            pinned: BTreeSet::new(),
            measured: None,
            tool_tokens: 0,
            compacting: None,
            replaced: 0,
            compacted_turns: 0,
            full: false,
        }
    }
}

/// Whether a result in the conversation was stored, so that the model may read the rest.
fn has_stored_result(conversation: &Conversation) -> bool {
    let mut turns = conversation.turns().iter();
    turns.any(|turn| match turn {
        Turn::Assistant(turn) => {
            let blocks = turn.results().iter().flat_map(|result| &result.content);
            let mut texts = blocks.filter_map(ContentBlock::as_text);
            texts.any(|text| messages::stored_id(text).is_some())
        }
        _ => false,
    })
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format_args!(
            "the run was written in form {other}, and only form {VERSION} can be read"
        ))),
    }
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.state.serialize(serializer)
    }
}

/// A call that was started and did not end is interrupted: it may have taken effect, so it is never
/// started again.
impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut run = Self {
            state: State::deserialize(deserializer)?,
            events: Vec::new(),
        };
        run.interrupt();
        Ok(run)
    }
}

impl Run {
    /// Interrupts the calls that another process had started.
    pub(crate) fn interrupt(&mut self) {
        if let Phase::Acting(round) = &mut self.state.phase {
            for call in &mut round.calls {
                match &mut call.state {
                    CallState::Invoking => {
                        call.settle(Status::Error, messages::interrupted());
                        self.events.push(RunEvent::Call(Box::new(call.record())));
                    }
                    CallState::Task { awaited, .. } => *awaited = false,
                    CallState::Delegated { run, driven, .. } => {
                        *driven = false;
                        run.interrupt();
                    }
                    _ => {}
                }
            }
        }
    }
}
