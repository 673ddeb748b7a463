#![doc = include_str!("../README.md")]

mod admission;
mod builder;
mod call;
mod catalog;
mod connect;
mod connector;
mod elicitation;
mod error;
mod event;
mod flatten;
mod freshness;
pub mod guide;
mod hub;
mod lane;
mod lifecycle;
mod limits;
mod lists;
mod manager;
mod options;
mod pool;
mod queued;
mod resource_cache;
mod schedule;
mod server;
mod setting;
mod signal;
mod slot;
mod supervise;

pub use builder::ManagerBuilder;
pub use catalog::{
    Catalog, CatalogDiff, ChangedEntry, Entry, ExposedName, ItemKind, ListProblem, Listing,
    MAX_EXPOSED_NAME,
};
// What a manager's API names of the configuration; files and dialects are in `mcp_config`.
pub use connector::{Connector, DefaultConnector};
pub use elicitation::{Ask, Elicitation, ElicitationHandler, NoopElicitation};
pub use error::ManagerError;
pub use event::{Event, Events};
pub use flatten::flatten;
pub use lifecycle::{Applied, Startup, Wait};
pub use limits::Limits;
pub use manager::{Manager, ServerInfo, Shutdown};
pub use mcp_config::{
    Endpoint, InvalidServerName, RemoteEndpoint, RemoteKind, ServerConfig, ServerName, Start,
    StdioEndpoint, ToolSettings,
};

pub use options::CallOptions;
pub use pool::{Lease, Pool};
pub use queued::{QueueReason, Queued};
pub use resource_cache::{ReadThroughError, ResourceCache, ResourceCacheLimits, Ticket};
pub use schedule::RetryPolicy;
pub use server::{ServerState, Status};
