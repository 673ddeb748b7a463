//! Events of a run.

use mcp_client::{Parked, Queued};
use mcp_jsonrpc::model::Tool;
use mcp_jsonrpc::{RawJson, RawObject};
use provider_adapters::{Media, Usage};
use serde::Serialize;
use serde_json::Value;
use tool_policy::{Definition, Grant, Rule};

use crate::approval::Approval;
use crate::run::limits::Spent;
use crate::run::number::CallNumber;
use crate::run::record::{Status, ToolCallRecord};
use crate::run::step::Reason;
use crate::toolbox::context::CallProgress;

/// An event of a run.
///
/// An event is emitted before what it announces takes place: when a call is reported as [`Invoking`](Status::Invoking),
/// it has not started yet, so that the run can be stored first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum RunEvent {
    /// A request to the model starts.
    Round {
        /// The number of the round since the last user turn, from 1.
        round: u32,
    },
    /// More text.
    Text {
        /// The new piece.
        text: String,
    },
    /// More of the model's reasoning.
    Reasoning {
        /// The new piece.
        text: String,
    },
    /// More of the model's reason for declining.
    Refusal {
        /// The new piece.
        text: String,
    },
    /// The structured output so far: strings may be incomplete, and members missing.
    PartialOutput {
        /// The value so far.
        value: Value,
    },
    /// The model generated an image, audio or a file.
    Media(Media),
    /// A call changed: the complete record.
    Call(Box<ToolCallRecord>),
    /// Progress of a call.
    Progress {
        /// Which call.
        number: CallNumber,
        /// How far.
        progress: CallProgress,
    },
    /// A call waits in its server's queue, for this reason, or no longer waits. Until then it was not sent.
    Queued {
        /// Which call.
        number: CallNumber,
        /// Why; nothing when it is its turn.
        queued: Option<Queued>,
    },
    /// A call's result is shown in part and stored whole. Emitted before the call has ended.
    ResultStored {
        /// Which call.
        number: CallNumber,
        /// What the [`ResultStore`](crate::ResultStore) calls the whole result.
        id: String,
    },
    /// An event in the run of a sub-agent.
    Delegated {
        /// The call that the sub-agent's run belongs to.
        number: CallNumber,
        /// What happened there; its numbers are those of that run.
        event: Box<RunEvent>,
    },
    /// A call needs approval.
    Approval(Box<Approval>),
    /// A server needs an answer from a person before a call can continue.
    Elicitation {
        /// Which call.
        number: CallNumber,
        /// What the server asks.
        parked: Box<Parked>,
    },
    /// A person approved a call of a tool as it is defined now: store it if a later change of the
    /// definition is to be noticed.
    Pinned {
        /// The fingerprint of the definition.
        #[serde(flatten)]
        definition: Definition,
        /// The whole definition, if available: store it to show later changes.
        #[serde(skip)]
        tool: Option<Box<Tool>>,
    },
    /// A lasting approval was given: store it if it must outlive the run.
    Granted(Grant),
    /// A lasting denial was given: store it if it must outlive the run.
    Forbidden(Rule),
    /// All calls of a round have ended.
    Settled {
        /// Their records, in the order of the calls.
        records: Vec<ToolCallRecord>,
    },
    /// The usage of the last reply, and the total since the last user turn.
    Usage {
        /// Of the last reply.
        usage: Usage,
        /// What the last reply cost, in millionths; nothing where no prices are known.
        cost_micros: Option<u64>,
        /// All in all.
        spent: Spent,
    },
    /// The conversation is too long for the model's context: old turns are summarised.
    Compacting {
        /// About how many tokens the next request would have.
        tokens: u64,
    },
    /// The conversation was compacted.
    Compacted {
        /// How many turns were removed, and summarised if that is configured.
        turns: usize,
        /// Of how many other turns the results were dropped.
        results: usize,
        /// About how many tokens the next request would have had.
        before: u64,
        /// About how many tokens it has now.
        after: u64,
    },
    /// An irregularity; the run continues.
    Warning {
        /// What, for people.
        message: String,
    },
    /// The run cannot continue before a person answers. The session may be dropped here.
    Waiting {
        /// The calls that wait.
        numbers: Vec<CallNumber>,
    },
    /// The run has ended.
    Done {
        /// Why.
        reason: Reason,
    },
}

impl RunEvent {
    /// Whether the run must be stored before the next event is taken, to survive this process: the next step cannot be
    /// undone, or the question could not be asked again.
    pub fn is_milestone(&self) -> bool {
        if let Self::Delegated { event, .. } = self {
            return event.is_milestone();
        }
        matches!(
            self,
            Self::Call(_)
                | Self::Approval(_)
                | Self::Elicitation { .. }
                | Self::Settled { .. }
                | Self::Compacted { .. }
                | Self::Done { .. }
        )
    }

    /// A line about the event for people: a warning, or a compaction. `None` for other events.
    pub fn notice(&self) -> Option<String> {
        match self {
            Self::Warning { message } => Some(message.clone()),
            Self::Compacting { tokens } => Some(format!(
                "the conversation is long (about {tokens} tokens): earlier turns are summarised"
            )),
            Self::Compacted { before, after, .. } => Some(format!(
                "the conversation was compacted from about {before} to {after} tokens"
            )),
            Self::Delegated { event, .. } => event.notice(),
            _ => None,
        }
    }

    /// The event as a chunk of middleware chains: `mcp_tool_in_progress`,
    /// `mcp_tool_call_begin`, `mcp_tool_call_response`, `mcp_tool_call_error`,
    /// `mcp_tool_complete`, `text_delta`. `None` for events without a chunk.
    pub fn chunk(&self) -> Option<Chunk> {
        Some(match self {
            Self::Text { text } => Chunk::TextDelta { text: text.clone() },
            Self::Call(record) => Chunk::of(record),
            Self::Settled { records } => Chunk::Complete {
                responses: records.iter().map(ChunkResponse::of).collect(),
            },
            _ => return None,
        })
    }
}

/// An event in the format of middleware chains.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Chunk {
    /// More text.
    #[serde(rename = "text_delta")]
    TextDelta {
        /// The new piece.
        text: String,
    },
    /// The model requested a tool call.
    #[serde(rename = "mcp_tool_in_progress")]
    InProgress {
        /// The call.
        tool: ChunkTool,
    },
    /// The call begins.
    #[serde(rename = "mcp_tool_call_begin")]
    Begin {
        /// The call.
        tool: ChunkTool,
    },
    /// The tool returned a result.
    #[serde(rename = "mcp_tool_call_response")]
    Response {
        /// The call.
        tool: ChunkTool,
        /// What the tool answered.
        result: Option<RawJson>,
    },
    /// The call failed.
    #[serde(rename = "mcp_tool_call_error")]
    Error {
        /// The call.
        tool: ChunkTool,
        /// The error message.
        error: String,
    },
    /// All calls of a round have ended.
    #[serde(rename = "mcp_tool_complete")]
    Complete {
        /// The calls with their results.
        responses: Vec<ChunkResponse>,
    },
}

/// A call in a [`Chunk`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChunkTool {
    /// The model's name for the call.
    pub id: String,
    /// The tool's name as the model sees it.
    pub name: String,
    /// The arguments of the call.
    pub arguments: RawObject,
}

/// A call with its result in a [`Chunk`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChunkResponse {
    /// The call.
    pub tool: ChunkTool,
    /// Its result.
    pub result: Option<RawJson>,
    /// Whether it succeeded.
    pub success: bool,
}

impl Chunk {
    fn of(record: &ToolCallRecord) -> Self {
        let tool = ChunkTool::of(record);
        match record.status {
            Status::Pending => Self::InProgress { tool },
            Status::Invoking => Self::Begin { tool },
            Status::Done if record.is_error != Some(true) => Self::Response {
                tool,
                result: record.response.clone(),
            },
            _ => Self::Error {
                tool,
                error: record.response_text().unwrap_or_default(),
            },
        }
    }
}

impl ChunkTool {
    fn of(record: &ToolCallRecord) -> Self {
        let arguments = record.arguments.object().cloned();
        Self {
            id: record.id.to_string(),
            name: record.display_name.clone(),
            arguments: arguments.unwrap_or_else(RawObject::empty),
        }
    }
}

impl ChunkResponse {
    fn of(record: &ToolCallRecord) -> Self {
        Self {
            tool: ChunkTool::of(record),
            result: record.response.clone(),
            success: record.status == Status::Done && record.is_error != Some(true),
        }
    }
}
