#![doc = include_str!("../README.md")]

mod call;
mod client;
mod connect;
mod connection;
mod dialect;
mod features;
pub mod guide;
mod host;

pub use call::caller::{Caller, Origin};
pub use call::error::{CallError, CallName};
pub use call::parked::Parked;
pub use call::queued::{QueueReason, Queued};
pub use client::Client;
pub use client::builder::ClientBuilder;
#[cfg(feature = "http")]
pub use client::constructors::HttpClientBuilder;
pub use client::limits::ClientLimits;
pub use client::options::CallOptions;
pub use connect::error::ConnectError;
pub use connection::clock::TimeoutKind;
pub use connection::session::ServerDetails;
pub use dialect::EraMode;
pub use dialect::era_memory::EraMemory;
pub use features::event::ClientEvent;
pub use features::listing::{Listed, Skipped};
pub use features::pages::Truncated;
#[cfg(feature = "skills")]
pub use features::skill::{LoadedSkill, SkillError};
pub use features::subscription::{Interests, Subscription};
pub use features::task::{Started, TaskHandle, TaskState, TaskTicket};
pub use host::form::check_form;
pub use host::{Host, HostCapabilities, HostError, ServerRequest};
pub use mcp_jsonrpc::model::FormProblem;
