//! What client and server can do. Open sets: entries no one declared here are kept.

use crate::json::ordered_map::{OrderedMap, RawMap};
use crate::json::raw::RawObject;
use crate::wire::object::object;

object! {
    /// What a client can do for servers.
    pub struct ClientCapabilities {
        optional {
            /// It can tell its roots.
            roots: RootsCapability = "roots",
            /// It can ask a model on the server's behalf.
            sampling: SamplingCapability = "sampling",
            /// It can ask the user (2025-06-18 and later).
            elicitation: ElicitationCapability = "elicitation",
            /// It hosts tasks itself (2025-11-25 only).
            tasks: TasksCapability = "tasks",
            /// Outside the standard, by name.
            experimental: OrderedMap<RawObject> = "experimental",
            /// Extensions, by id (2026-07-28).
            extensions: OrderedMap<RawObject> = "extensions",
        }
    }
}

object! {
    /// What a server can do.
    pub struct ServerCapabilities {
        optional {
            /// It has tools.
            tools: ListCapability = "tools",
            /// It has resources.
            resources: ResourcesCapability = "resources",
            /// It has prompts.
            prompts: ListCapability = "prompts",
            /// It completes arguments (2025-03-26 and later).
            completions: FlagCapability = "completions",
            /// It sends log messages.
            logging: FlagCapability = "logging",
            /// It runs requests as tasks (2025-11-25 only).
            tasks: TasksCapability = "tasks",
            /// Outside the standard, by name: objects, though nothing depends on it.
            experimental: RawMap = "experimental",
            /// Extensions, by id (2026-07-28): their settings, objects by the standard.
            extensions: RawMap = "extensions",
        }
    }
}

/// Ids of the extensions this crate has types for.
pub mod extension {
    /// Tasks: [`model::task`](crate::model::task).
    pub const TASKS: &str = "io.modelcontextprotocol/tasks";
    /// Skills: [`SkillsList`](crate::model::SkillsList).
    pub const SKILLS: &str = "io.modelcontextprotocol/skills";
    /// User interfaces in resources.
    pub const UI: &str = "io.modelcontextprotocol/ui";
}

object! {
    /// A capability that is there or not, without details.
    pub struct FlagCapability {}
}

object! {
    /// A capability of having a list.
    pub struct ListCapability {
        optional {
            /// It announces changes of the list.
            list_changed: bool = "listChanged",
        }
    }
}

object! {
    /// A server's capability of having resources.
    pub struct ResourcesCapability {
        optional {
            /// It announces changes of the list.
            list_changed: bool = "listChanged",
            /// It tells when a resource changes.
            subscribe: bool = "subscribe",
        }
    }
}

object! {
    /// A client's capability of telling its roots.
    pub struct RootsCapability {
        optional {
            /// It tells when they change (up to 2025-11-25).
            list_changed: bool = "listChanged",
        }
    }
}

object! {
    /// A client's capability of asking a model.
    pub struct SamplingCapability {
        optional {
            /// It can include context of servers.
            context: FlagCapability = "context",
            /// It lets the model use tools.
            tools: FlagCapability = "tools",
        }
    }
}

object! {
    /// A client's capability of asking the user. Without details it means forms only.
    pub struct ElicitationCapability {
        optional {
            /// It shows forms.
            form: FlagCapability = "form",
            /// It sends the user to URLs.
            url: FlagCapability = "url",
        }
    }
}

impl ElicitationCapability {
    /// Whether forms are declared: by name, or by naming nothing.
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Whether URLs are declared.
    pub fn has_url(&self) -> bool {
        self.url.is_some()
    }
}

object! {
    /// The capability of running requests as tasks (2025-11-25).
    pub struct TasksCapability {
        optional {
            /// `tasks/list` is there.
            list: FlagCapability = "list",
            /// `tasks/cancel` is there.
            cancel: FlagCapability = "cancel",
            /// Which requests may become tasks.
            requests: TaskRequests = "requests",
        }
    }
}

object! {
    /// Which requests may become tasks (2025-11-25).
    pub struct TaskRequests {
        optional {
            /// Of a server: requests about tools.
            tools: TaskToolRequests = "tools",
            /// Of a client: requests about sampling.
            sampling: TaskSamplingRequests = "sampling",
            /// Of a client: requests about elicitation.
            elicitation: TaskElicitationRequests = "elicitation",
        }
    }
}

object! {
    /// Which requests about tools may become tasks.
    pub struct TaskToolRequests {
        optional {
            /// `tools/call` may.
            call: FlagCapability = "call",
        }
    }
}

object! {
    /// Which requests about sampling may become tasks.
    pub struct TaskSamplingRequests {
        optional {
            /// `sampling/createMessage` may.
            create_message: FlagCapability = "createMessage",
        }
    }
}

object! {
    /// Which requests about elicitation may become tasks.
    pub struct TaskElicitationRequests {
        optional {
            /// `elicitation/create` may.
            create: FlagCapability = "create",
        }
    }
}
