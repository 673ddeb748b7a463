#![doc = include_str!("../README.md")]

mod approver;
mod audit;
mod calls;
mod error;
mod gate;
mod gateway;
mod handler;
mod lists;
mod live_call;
mod profile;
mod questions;
mod relay;
mod routes;
mod watches;

pub use approver::{ApprovalRequest, Approver};
pub use audit::{AuditLog, CallDecision, CallEnd, CallOutcome, CallRecord};
pub use gate::CallLimits;
pub use gateway::{Gateway, GatewayBuilder, Upstream};
pub use profile::Profile;
