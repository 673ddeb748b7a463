//! Invalid histories, and their repair.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::conversation::Conversation;
use crate::conversation::call_id::{CallId, hash};
use crate::conversation::native::Native;
use crate::conversation::part::AssistantPart;
use crate::conversation::tool_call::ToolCall;
use crate::conversation::tool_result::ToolResult;
use crate::conversation::turn::{AssistantTurn, SystemTurn, Turn, UserTurn};

/// The text of a result that is missing.
const NO_RESULT: &str = "The tool call was interrupted: its result is lost.";

/// A history of unknown origin: turns and tool results in any order.
///
/// ```
/// use provider_adapters::{Arguments, AssistantPart, History, Repair, ToolCall, UserTurn};
///
/// let mut history = History::new();
/// let call = ToolCall::new("call_1", "getTime", Arguments::empty());
/// history.assistant(vec![AssistantPart::from(call)], None);
/// let (conversation, repairs) = history.repair();
/// assert_eq!(conversation.turns().len(), 1);
/// assert!(matches!(&repairs[..], [Repair::ResultInvented { .. }]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct History {
    system: Option<String>,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
enum Entry {
    Plain(Turn),
    Assistant(Vec<AssistantPart>, Option<Native>),
    Result(ToolResult),
}

/// A problem of a history, and its repair.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "repair")]
#[non_exhaustive]
pub enum Repair {
    /// A call had no result: a placeholder was added.
    ResultInvented {
        /// The call.
        id: CallId,
    },
    /// A result had no call, or preceded it: it was dropped.
    ResultWithoutCall {
        /// The result.
        id: CallId,
    },
    /// A call already had a result: this one was dropped.
    ResultTwice {
        /// The call.
        id: CallId,
    },
    /// A result did not follow its call: it was moved there.
    ResultMoved {
        /// The call.
        id: CallId,
    },
    /// Two calls of a turn had the same id: the later one got another.
    CallRenamed {
        /// The name they shared.
        id: CallId,
        /// The later one's new name.
        new: CallId,
    },
    /// A turn was empty: it was dropped.
    TurnEmpty,
}

impl History {
    /// Creates an empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the instructions for the model.
    #[must_use]
    pub fn with_system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Appends an instruction.
    pub fn system(&mut self, turn: SystemTurn) {
        self.entries.push(Entry::Plain(turn.into()));
    }

    /// Appends a user's message.
    pub fn user(&mut self, turn: UserTurn) {
        self.entries.push(Entry::Plain(turn.into()));
    }

    /// Appends a model's reply; add the results with [`result`](Self::result).
    pub fn assistant(&mut self, parts: Vec<AssistantPart>, native: Option<Native>) {
        self.entries.push(Entry::Assistant(parts, native));
    }

    /// Appends a tool's result.
    pub fn result(&mut self, result: ToolResult) {
        self.entries.push(Entry::Result(result));
    }

    /// Converts it to a conversation, and reports the repairs.
    pub fn repair(self) -> (Conversation, Vec<Repair>) {
        let mut repairs = Vec::new();
        let mut drafts: Vec<Draft> = Vec::new();
        for entry in self.entries {
            match entry {
                Entry::Plain(Turn::User(turn)) if turn.parts.is_empty() => {
                    repairs.push(Repair::TurnEmpty);
                }
                Entry::Assistant(parts, _) if parts.is_empty() => repairs.push(Repair::TurnEmpty),
                Entry::Plain(turn) => drafts.push(Draft::Plain(turn)),
                Entry::Assistant(parts, native) => {
                    drafts.push(Draft::assistant(parts, native, &mut repairs));
                }
                Entry::Result(result) => place(result, &mut drafts, &mut repairs),
            }
        }
        let mut conversation = Conversation::new();
        if let Some(system) = self.system {
            conversation = conversation.with_system(system);
        }
        for draft in drafts {
            if let Some(turn) = draft.finish(&mut repairs) {
                conversation.push(turn);
            }
        }
        (conversation, repairs)
    }
}

/// Gives `result` to the youngest call of its name that lacks one.
fn place(result: ToolResult, drafts: &mut [Draft], repairs: &mut Vec<Repair>) {
    let mut known = false;
    let mut moved = false;
    for draft in drafts.iter_mut().rev() {
        if let Draft::Assistant { parts, results, .. } = draft
            && crate::conversation::turn::calls(parts).any(|call| call.id == result.id)
        {
            known = true;
            if !results.contains_key(&result.id) {
                if moved {
                    repairs.push(Repair::ResultMoved {
                        id: result.id.clone(),
                    });
                }
                results.insert(result.id.clone(), result);
                return;
            }
        }
        moved = true;
    }
    let id = result.id;
    repairs.push(if known {
        Repair::ResultTwice { id }
    } else {
        Repair::ResultWithoutCall { id }
    });
}

enum Draft {
    Plain(Turn),
    Assistant {
        parts: Vec<AssistantPart>,
        native: Option<Native>,
        results: BTreeMap<CallId, ToolResult>,
    },
}

impl Draft {
    fn assistant(
        mut parts: Vec<AssistantPart>,
        native: Option<Native>,
        repairs: &mut Vec<Repair>,
    ) -> Self {
        let mut seen = BTreeSet::new();
        for part in &mut parts {
            if let AssistantPart::ToolCall(ToolCall { id, .. }) = part
                && !seen.insert(id.clone())
            {
                let old = id.clone();
                let seed = hash(old.as_str().as_bytes());
                let mut number = 1;
                while !seen.insert(id.clone()) {
                    *id = CallId::generate(seed, number);
                    number += 1;
                }
                repairs.push(Repair::CallRenamed {
                    id: old,
                    new: id.clone(),
                });
            }
        }
        Self::Assistant {
            parts,
            native,
            results: BTreeMap::new(),
        }
    }

    fn finish(self, repairs: &mut Vec<Repair>) -> Option<Turn> {
        let (parts, native, mut results) = match self {
            Self::Plain(turn) => return Some(turn),
            Self::Assistant {
                parts,
                native,
                results,
            } => (parts, native, results),
        };
        let paired = crate::conversation::turn::calls(&parts)
            .map(|call| {
                results.remove(&call.id).unwrap_or_else(|| {
                    repairs.push(Repair::ResultInvented {
                        id: call.id.clone(),
                    });
                    ToolResult::error(call.id.clone(), NO_RESULT)
                })
            })
            .collect();
        AssistantTurn::build(parts, paired, native)
            .ok()
            .map(Turn::Assistant)
    }
}
