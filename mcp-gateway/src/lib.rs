#![doc = include_str!("../README.md")]

mod admitted;
mod approver;
mod audit;
mod builder;
mod calls;
mod completions;
mod connections;
mod error;
mod gate;
mod gateway;
mod handler;
mod leg;
mod lists;
mod live_call;
mod meta_tools;
mod open_calls;
mod outputs;
mod profile;
mod questions;
mod relay;
mod routes;
mod skills;
mod status;
mod tasks;
mod watches;

pub use approver::{ApprovalRequest, Approver};
pub use audit::{AuditLog, CallDecision, CallEnd, CallOutcome, CallRecord};
pub use builder::{GatewayBuilder, Upstream};
pub use connections::ConnectionLimits;
pub use gate::CallLimits;
pub use gateway::Gateway;
pub use profile::Profile;
