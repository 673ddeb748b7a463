#![doc = include_str!("../README.md")]

mod approver;
mod audit;
mod builder;
mod call;
mod catalog;
mod error;
mod gateway;
mod handler;
mod upstream;

pub use approver::{ApprovalRequest, Approver};
pub use audit::{AuditLog, CallDecision, CallEnd, CallOutcome, CallRecord};
pub use builder::{GatewayBuilder, Upstream};
pub use call::gate::CallLimits;
pub use catalog::profile::Profile;
pub use gateway::Gateway;
pub use upstream::connections::ConnectionLimits;
