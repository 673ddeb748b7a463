#![doc = include_str!("../README.md")]

mod catalog;
mod config;
mod flatten;
mod name;
mod pin;
mod resource_cache;
mod search;

pub use catalog::{
    Catalog, CatalogDiff, ChangedEntry, Entry, ItemKind, ListProblem, Listing, ToolPolicy,
};
pub use config::{
    ConfigFile, ConfigProblem, Dialect, Endpoint, Input, Missing, Place, RemoteEndpoint,
    RemoteKind, Resolved, ServerConfig, Start, StdioEndpoint, Unresolved, Variable, Variables,
};
pub use flatten::flatten;
pub use name::{ExposedName, InvalidServerName, MAX_EXPOSED_NAME, ServerName};
pub use pin::{Fingerprint, InvalidFingerprint, PinState, Pins};
pub use resource_cache::{ReadThroughError, ResourceCache, ResourceCacheLimits, Ticket};
pub use search::{Hit, SearchIndex};
