//! The experimental tasks of 2025-11-25. Not compatible with [`task`](super::task).

use super::base::PageParams;
use super::meta::Meta;
pub use super::task::{TaskIdParams, TaskStatus, Ttl};
use crate::json::raw::RawJson;
use crate::message::method::{methods, notifications};
use crate::message::result_body::{ResultBody, ResultType, results};
use crate::wire::object::object;
use crate::wire::string_enum::string_enum;

object! {
    /// Requests a task instead of an immediate result.
    pub struct TaskMetadata {
        optional {
            /// The time to keep the task, in milliseconds.
            ttl: i64 = "ttl",
        }
    }
}

object! {
    /// The task a message belongs to: [`Meta::related_task`].
    pub struct RelatedTask {
        required {
            /// The task.
            task_id: String = "taskId",
        }
    }
}

object! {
    /// How a tool may be run.
    pub struct ToolExecution {
        optional {
            /// Whether it may run as a task; forbidden if absent.
            task_support: TaskSupport = "taskSupport",
        }
    }
}

string_enum! {
    /// Whether a tool may be run as a task.
    pub open TaskSupport {
        /// It must not.
        Forbidden = "forbidden",
        /// It may.
        Optional = "optional",
        /// It must.
        Required = "required",
    }
}

object! {
    /// The state of a task.
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
            ttl: Ttl = "ttl",
        }
        optional {
            /// The poll interval in milliseconds.
            poll_interval: i64 = "pollInterval",
            /// A status message for display.
            status_message: String = "statusMessage",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

impl ResultBody for Task {}

object! {
    /// The result of a request that became a task.
    pub struct CreateTaskResult {
        required {
            /// The task.
            task: Task = "task",
        }
        optional {
            /// Not part of this result; kept if a peer sends it.
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(CreateTaskResult);

object! {
    /// A page of tasks.
    pub struct ListTasksResult {
        listed {
            /// The tasks.
            tasks: Task = "tasks",
        }
        optional {
            /// The cursor of the next page, if there is one.
            next_cursor: String = "nextCursor",
            /// Not part of this result; kept if a peer sends it.
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(ListTasksResult);

methods! {
    /// Polls the state of a task.
    TaskGet = "tasks/get": TaskIdParams => Task;
    /// Waits for a task's result: the result of the original request.
    TaskResult = "tasks/result": TaskIdParams => RawJson;
    /// Lists the tasks.
    TaskList = "tasks/list": PageParams => ListTasksResult;
    /// Cancels a task.
    TaskCancel = "tasks/cancel": TaskIdParams => Task;
}

notifications! {
    /// A task changed. This notification is not guaranteed: poll.
    TaskStatusChanged = "notifications/tasks/status": Task;
}
