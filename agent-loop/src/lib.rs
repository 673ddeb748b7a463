#![doc = include_str!("../README.md")]

mod agent;
mod approval;
mod call;
mod cost;
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
mod offer;
mod pattern;
mod pause;
mod policy;
mod queue;
mod record;
mod reply;
mod result;
mod run;
mod search;
mod select;
mod session;
mod settle;
mod state;
mod step;
#[cfg(feature = "testing")]
pub mod testing;
mod tool;
mod toolbox;
mod trace;
mod words;

pub use agent::Agent;
pub use approval::{Answer, AnswerError, Approval, Consent, Decision};
pub use cost::Prices;
#[cfg(feature = "manager")]
pub use direct::DirectTools;
pub use event::{Chunk, ChunkResponse, ChunkTool, Event};
pub use handle::Handle;
pub use joined::JoinedTools;
pub use limits::{LimitKind, Limits, Spent};
pub use local::LocalTools;
#[cfg(feature = "manager")]
pub use managed::ManagedTools;
pub use offer::Offer;
pub use pattern::Pattern;
pub use policy::{Effect, Grant, GrantScope, Mode, Policy, Rule, Verdict, Why};
pub use record::{Status, ToolCallRecord};
pub use result::{MemoryStore, ResultStore};
pub use run::Run;
pub use search::Deferral;
pub use select::{SelectMode, Selection, setup_tools};
pub use session::Session;
pub use step::{Reason, Step};
pub use tool::{CallNumber, Definition, ToolInfo};
pub use toolbox::{
    CallContext, CallFailure, CallProgress, FailureKind, Invocation, Outcome, Start, Toolbox,
};
