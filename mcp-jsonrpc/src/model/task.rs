//! Tasks as the extension `io.modelcontextprotocol/tasks` has them (SEP-2663, with 2026-07-28).
//! For those of 2025-11-25 see [`experimental_task`](super::experimental_task).

use serde::ser::{Serialize, Serializer};

use super::base::EmptyResult;
use super::input::{InputRequests, InputResponses};
use super::meta::Meta;
use crate::json::raw::RawObject;
use crate::json::read_error::ReadError;
use crate::json::reader::Reader;
use crate::message::error_object::ErrorObject;
use crate::message::method::{methods, notifications};
use crate::message::result_body::{ResultType, results};
use crate::wire::field::{Field, deserialize_fields, serialize_plainly};
use crate::wire::object::object;
use crate::wire::string_enum::string_enum;

object! {
    /// Where a task stands, and, once it has them, its result, its error or what it needs.
    pub struct Task {
        required {
            /// What it is called from now on.
            task_id: String = "taskId",
            /// Its status.
            status: TaskStatus = "status",
            /// When it was created, in ISO 8601.
            created_at: String = "createdAt",
            /// When it last changed, in ISO 8601.
            last_updated_at: String = "lastUpdatedAt",
        }
        defaulted {
            /// How long the server keeps it.
            ttl: Ttl = "ttlMs",
        }
        optional {
            /// The poll interval in milliseconds.
            poll_interval_ms: i64 = "pollIntervalMs",
            /// A status message for display.
            status_message: String = "statusMessage",
            /// Of a completed task: what the request itself would have answered.
            result: RawObject = "result",
            /// Of a failed task: what went wrong.
            error: ErrorObject = "error",
            /// Of a task that needs input: what it needs. Answer each key once.
            input_requests: InputRequests = "inputRequests",
            /// `task` in the answer that creates it, `complete` after.
            result_type: ResultType = "resultType",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

results!(Task);

/// The answer that makes a task of a request.
pub type CreateTaskResult = Task;

string_enum! {
    /// What a task is doing.
    pub closed TaskStatus {
        /// It goes on.
        Working = "working",
        /// It waits for input.
        InputRequired = "input_required",
        /// It is done and has its result.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether nothing will change any more.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// How long a server keeps a task: `null` on the wire means as long as it likes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "a JSON number or null")]
pub enum Ttl {
    /// Without limit.
    #[default]
    Unlimited,
    /// For this many milliseconds since it began.
    Millis(i64),
}

impl Serialize for Ttl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unlimited => serializer.serialize_none(),
            Self::Millis(millis) => serializer.serialize_i64(*millis),
        }
    }
}

impl Field for Ttl {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Ok(Option::read(reader)?.map_or(Self::Unlimited, Self::Millis))
    }

    serialize_plainly!();
}

deserialize_fields!(Ttl);

object! {
    /// Names a task.
    pub struct TaskIdParams {
        required {
            /// Which task.
            task_id: String = "taskId",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// Supplies a task's input.
    pub struct TaskUpdateParams {
        required {
            /// Which task.
            task_id: String = "taskId",
            /// What it asked for, by its keys.
            input_responses: InputResponses = "inputResponses",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

methods! {
    /// Polls the state of a task.
    TaskGet = "tasks/get": TaskIdParams => Task;
    /// Supplies a task's input.
    TaskUpdate = "tasks/update": TaskUpdateParams => EmptyResult;
    /// Asks for a task to be cancelled; it may still end otherwise.
    TaskCancel = "tasks/cancel": TaskIdParams => EmptyResult;
}

notifications! {
    /// A task changed; carries all of it.
    TaskChanged = "notifications/tasks": Task;
}
