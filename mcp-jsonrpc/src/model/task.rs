//! The tasks of the extension `io.modelcontextprotocol/tasks` (SEP-2663, with 2026-07-28). For those of 2025-11-25 see
//! [`experimental_task`](super::experimental_task).

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
    /// The state of a task, with its result, its error or its input requests once it has them.
    pub struct Task {
        required {
            /// Its id.
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
            /// The result of the original request, once completed.
            result: RawObject = "result",
            /// The error, once failed.
            error: ErrorObject = "error",
            /// The input requests, while the task needs input. Answer each key once.
            input_requests: InputRequests = "inputRequests",
            /// `task` in the response that creates it, `complete` afterwards.
            result_type: ResultType = "resultType",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

results!(Task);

/// The response that turns a request into a task.
pub type CreateTaskResult = Task;

string_enum! {
    /// The status of a task.
    pub closed TaskStatus {
        /// It is running.
        Working = "working",
        /// It waits for input.
        InputRequired = "input_required",
        /// It is completed and has its result.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether the status is final.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// The time a server keeps a task: `null` on the wire means indefinitely.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "a JSON number or null")]
pub enum Ttl {
    /// Without limit.
    #[default]
    Unlimited,
    /// This many milliseconds since the task's creation.
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
            /// The task's id.
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
            /// The task's id.
            task_id: String = "taskId",
            /// The responses, by the keys of the input requests.
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
    /// Requests cancellation of a task, which may still end otherwise.
    TaskCancel = "tasks/cancel": TaskIdParams => EmptyResult;
}

notifications! {
    /// A task changed; the notification carries the whole task.
    TaskChanged = "notifications/tasks": Task;
}
