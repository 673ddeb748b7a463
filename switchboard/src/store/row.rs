//! Rows: what is kept, as the program sees it.

mod assistant;
mod call;
mod conversation;
mod installed;
mod login;
mod model_options;
mod policy;
mod run;
mod server;

pub use assistant::{Assistant, McpMode, OnLimit, Setting, ToolSelection};
pub use call::{Blob, CallStatus, ToolCall};
pub use conversation::{Conversation, Message, MessagePlace, Role};
pub use installed::Installed;
pub use login::{
    AccessToken, Arrival, LoginAttempt, LoginSession, TeamRole, TokenScope, User, UserEdit,
};
pub use model_options::ModelOptions;
pub use policy::{
    ApprovedDefinition, Decision, DefinitionKind, Pending, PendingKind, PendingState, Rule,
    RuleScope,
};
pub use run::{Event, EventBounds, NewEvent, Run, Snapshot, Standing, Usage, UsageTotal};
pub use server::{EnvPolicy, Server, ServerKind, ServerTool, TokenRef, Trust};
