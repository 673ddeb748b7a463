//! Capabilities of clients and servers. The sets are open: undeclared entries are kept.

use crate::json::ordered_map::{OrderedMap, RawMap};
use crate::json::raw::RawObject;
use crate::wire::object::object;

object! {
    /// What a client can do for servers.
    pub struct ClientCapabilities {
        optional {
            /// It can list its roots.
            roots: RootsCapability = "roots",
            /// It can call a model on the server's behalf.
            sampling: SamplingCapability = "sampling",
            /// It can ask the user (2025-06-18 and later).
            elicitation: ElicitationCapability = "elicitation",
            /// It hosts tasks itself (2025-11-25 only).
            tasks: TasksCapability = "tasks",
            /// Non-standard capabilities, by name.
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
            /// Non-standard capabilities, by name: objects, though nothing depends on it.
            experimental: RawMap = "experimental",
            /// Extensions, by id (2026-07-28), with their settings: objects according to the standard.
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
    /// A capability without details.
    pub struct FlagCapability {}
}

object! {
    /// The capability to list something.
    pub struct ListCapability {
        optional {
            /// It announces changes of the list.
            list_changed: bool = "listChanged",
        }
    }
}

object! {
    /// A server's resources capability.
    pub struct ResourcesCapability {
        optional {
            /// It announces changes of the list.
            list_changed: bool = "listChanged",
            /// It announces when a resource changes.
            subscribe: bool = "subscribe",
        }
    }
}

object! {
    /// A client's roots capability.
    pub struct RootsCapability {
        optional {
            /// It announces when they change (up to 2025-11-25).
            list_changed: bool = "listChanged",
        }
    }
}

object! {
    /// A client's sampling capability.
    pub struct SamplingCapability {
        optional {
            /// It can include context from servers.
            context: FlagCapability = "context",
            /// It lets the model use tools.
            tools: FlagCapability = "tools",
        }
    }
}

object! {
    /// A client's elicitation capability. Without details it means forms only.
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
    /// Whether forms are declared, explicitly or by declaring no mode at all.
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Whether URLs are declared.
    pub fn has_url(&self) -> bool {
        self.url.is_some()
    }
}

object! {
    /// The capability to run requests as tasks (2025-11-25).
    pub struct TasksCapability {
        optional {
            /// `tasks/list` is supported.
            list: FlagCapability = "list",
            /// `tasks/cancel` is supported.
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
