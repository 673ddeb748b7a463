//! Commands to a conversation's task.

use agent_loop::CallNumber;
use mcp_jsonrpc::model::ElicitResult;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::conversation::{LiveQuestion, UserMessage};
use crate::serve::error::ApiError;
use crate::serve::input::present;
use crate::serve::runs::confirm::{Confirm, Verdict};
use crate::setup::SwitchedOff;
use crate::store::{AssistantId, Conversation, Message, MessageId, ModelOptions, PendingId, RunId};

/// Reply channel of a command.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, ApiError>>;

/// A command to a conversation's task.
#[derive(Debug)]
pub(crate) enum Command {
    /// Adds a user message and starts the answer.
    Say {
        message: Box<UserMessage>,
        /// The message that it stands for, if it does.
        instead: Option<MessageId>,
        reply: Reply<Box<Said>>,
    },
    /// Starts another answer in place of this message, or to it.
    Regenerate {
        message: MessageId,
        reply: Reply<Box<Begun>>,
    },
    /// Shows another version of a message.
    Show {
        message: MessageId,
        reply: Reply<()>,
    },
    /// Answers an approval.
    Confirm {
        confirm: Box<Confirm>,
        reply: Reply<Value>,
    },
    /// Answers a server's question about a parked call.
    Supply {
        question: PendingId,
        result: Box<ElicitResult>,
        reply: Reply<()>,
    },
    /// Asks a server's question while its call runs.
    Ask {
        question: Box<LiveQuestion>,
        reply: Reply<()>,
    },
    /// Settles such a question: answered, or no longer needed.
    Settle {
        question: PendingId,
        answer: Option<Value>,
        reply: Reply<()>,
    },
    /// Posts a notice.
    Notice { message: String, reply: Reply<()> },
    /// Stops the answer. Replies once it has stopped.
    Cancel { reply: Reply<()> },
    /// Goes on after a limit, a cancellation or an interruption.
    Continue { reply: Reply<()> },
    /// Compacts what the model gets. Replies whether there is something to remove.
    Compact { reply: Reply<bool> },
    /// Changes the conversation itself.
    Edit {
        edit: Edit,
        reply: Reply<Box<Conversation>>,
    },
    /// Goes on where its process ended, as `deaths` processes in a row did; or ends the answer.
    Recover { deaths: u32, reply: Reply<()> },
}

impl Command {
    /// The call that it approves, if any.
    pub(crate) fn approves(&self) -> Option<CallNumber> {
        match self {
            Self::Confirm { confirm, .. } if confirm.verdict == Verdict::Approve => {
                Some(confirm.number)
            }
            _ => None,
        }
    }

    /// Rejects the command.
    pub(crate) fn refuse(self, error: ApiError) {
        // The caller may be gone.
        match self {
            Self::Say { reply, .. } => drop(reply.send(Err(error))),
            Self::Regenerate { reply, .. } => drop(reply.send(Err(error))),
            Self::Confirm { reply, .. } => drop(reply.send(Err(error))),
            Self::Supply { reply, .. }
            | Self::Ask { reply, .. }
            | Self::Settle { reply, .. }
            | Self::Notice { reply, .. }
            | Self::Cancel { reply }
            | Self::Continue { reply }
            | Self::Show { reply, .. }
            | Self::Recover { reply, .. } => drop(reply.send(Err(error))),
            Self::Edit { reply, .. } => drop(reply.send(Err(error))),
            Self::Compact { reply } => drop(reply.send(Err(error))),
        }
    }
}

/// The user's message, and the answer that was started.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) said: Message,
    pub(crate) begun: Begun,
}

/// An answer that was started.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) answer: Message,
    pub(crate) run: RunId,
}

/// Changes of a conversation itself; what is absent stays.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Edit {
    pub(crate) title: Option<String>,
    pub(crate) pinned: Option<bool>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) assistant: Option<Option<AssistantId>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) approval_mode: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) model_options: Option<Option<ModelOptions>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) switched_off: Option<Option<Vec<SwitchedOff>>>,
}

impl Edit {
    pub(crate) fn make(self, conversation: &mut Conversation) {
        if let Some(title) = self.title {
            conversation.title = title;
        }
        if let Some(assistant) = self.assistant {
            conversation.assistant_id = assistant;
        }
        let text = |value: Option<Option<String>>| value.map(|text| text.map(Value::from));
        let options = [
            ("model", text(self.model)),
            ("approvalMode", text(self.approval_mode)),
            (
                "modelOptions",
                self.model_options.map(|it| it.map(|it| json!(it))),
            ),
            (
                "switchedOff",
                self.switched_off.map(|it| it.map(|it| json!(it))),
            ),
            (
                "pinned",
                self.pinned
                    .map(|pinned| pinned.then_some(Value::Bool(true))),
            ),
        ];
        for (name, value) in options {
            let Some(value) = value else { continue };
            if !conversation.options.is_object() {
                conversation.options = Value::Object(serde_json::Map::new());
            }
            if let Some(options) = conversation.options.as_object_mut() {
                match value {
                    Some(value) => drop(options.insert(name.to_owned(), value)),
                    None => drop(options.remove(name)),
                }
            }
        }
    }
}
