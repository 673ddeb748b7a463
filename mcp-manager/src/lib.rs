#![doc = include_str!("../README.md")]

mod call;
mod catalog;
mod connector;
mod elicitation;
mod error;
mod event;
pub mod guide;
mod limits;
mod manager;
mod pool;
mod resource_cache;
mod server;

pub use catalog::{
    CacheHints, Catalog, CatalogDiff, ChangedEntry, Entry, ExposedName, ItemKind, ListProblem,
    Listing, MAX_EXPOSED_NAME,
};
pub use manager::builder::ManagerBuilder;
// The configuration types in a manager's API; files and dialects are in `mcp_config`.
pub use connector::{Connector, DefaultConnector};
pub use elicitation::{Ask, Elicitation, ElicitationHandler, NoopElicitation};
pub use error::ManagerError;
pub use event::{Events, ManagerEvent};
pub use limits::ManagerLimits;
pub use manager::lifecycle::{Applied, Startup, Wait};
pub use manager::{Manager, ServerInfo, Shutdown};
pub use mcp_config::{
    Endpoint, EnvPolicy, InvalidServerName, RemoteEndpoint, RemoteKind, ServerCommand,
    ServerConfig, ServerName, Start, ToolSettings,
};
pub use mcp_jsonrpc::model::flatten;

pub use call::options::CallOptions;
#[cfg(feature = "skills")]
pub use mcp_client::{LoadedSkill, SkillError};
pub use mcp_client::{QueueReason, Queued};
pub use pool::{Lease, Pool};
pub use resource_cache::{ReadThroughError, ResourceCache, ResourceCacheLimits, Ticket};
pub use server::schedule::RetryPolicy;
pub use server::{ServerState, Status};
