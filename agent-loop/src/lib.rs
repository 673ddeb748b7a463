#![doc = include_str!("../README.md")]

mod agent;
mod approval;
mod call;
mod cost;
mod deferral;
#[cfg(feature = "manager")]
mod direct;
mod event;
mod feed;
mod guard;
pub mod guide;
mod handle;
mod invoke;
mod joined;
mod limits;
mod local;
mod log;
#[cfg(feature = "manager")]
mod managed;
mod number;
mod offer;
mod pause;
mod queue;
mod record;
mod reply;
mod result;
mod run;
mod select;
mod session;
mod settle;
mod state;
mod step;
#[cfg(feature = "testing")]
pub mod testing;
mod toolbox;
mod trace;
mod words;

pub use agent::Agent;
pub use approval::{Answer, AnswerError, Approval, Consent, Decision};
pub use cost::Prices;
pub use deferral::Deferral;
#[cfg(feature = "manager")]
pub use direct::DirectTools;
pub use event::{Chunk, ChunkResponse, ChunkTool, Event};
pub use handle::Handle;
pub use joined::JoinedTools;
pub use limits::{LimitKind, Limits, Spent};
pub use local::LocalTools;
#[cfg(feature = "manager")]
pub use managed::ManagedTools;
pub use number::CallNumber;
pub use offer::Offer;
pub use record::{Status, ToolCallRecord};
pub use result::{MemoryStore, ResultStore};
pub use run::Run;
pub use select::{SelectMode, Selection, setup_tools};
pub use session::Session;
pub use step::{Reason, Step};
pub use tool_policy::{
    AskReason, Definition, DenyReason, Effect, Grant, GrantScope, Mode, Pattern, Policy, Rule,
    ToolInfo, Verdict,
};
pub use toolbox::{
    CallContext, CallFailure, CallProgress, FailureKind, Invocation, Outcome, Start, Toolbox,
};
