#![doc = include_str!("../README.md")]

mod agent;
mod approval;
mod compaction;
mod cost;
mod event;
pub mod guide;
mod offer;
mod run;
mod session;
#[cfg(feature = "testing")]
pub mod testing;
mod toolbox;

pub use agent::Agent;
pub use agent::ask::AskError;
pub use agent::spawn::SpawnedRun;
pub use agent::step::NextRequest;
pub use agent::sub_agent::SubAgent;
pub use approval::{Answer, AnswerError, Approval, Consent, Decision};
pub use compaction::{Compaction, Strategy, ToSummarise};
pub use cost::Prices;
pub use event::{Chunk, ChunkResponse, ChunkTool, RunEvent};
pub use offer::Offer;
pub use offer::deferral::Deferral;
pub use offer::selection::{SelectMode, Selection, setup_tools};
pub use run::Run;
pub use run::limits::{LimitKind, RunLimits, Spent};
pub use run::number::CallNumber;
pub use run::record::{Status, ToolCallRecord};
pub use run::step::{Reason, Step};
pub use session::Session;
pub use session::handle::Handle;
pub use session::result::{MemoryStore, ResultStore};
pub use tool_policy::{
    AskReason, Definition, DefinitionChange, DenyReason, Effect, Grant, GrantScope, Mode, Pattern,
    Policy, Rule, SecretSource, Secrets, ToolInfo, Verdict,
};
pub use toolbox::context::{CallContext, CallProgress};
#[cfg(feature = "manager")]
pub use toolbox::direct::DirectTools;
pub use toolbox::joined::JoinedTools;
pub use toolbox::local::{LocalTools, ToolError};
#[cfg(feature = "manager")]
pub use toolbox::managed::ManagedTools;
pub use toolbox::{CallFailure, FailureKind, Invocation, Outcome, Start, Toolbox};
