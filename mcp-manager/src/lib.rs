#![doc = include_str!("../README.md")]

mod catalog;
mod config;
mod name;
mod pin;

pub use catalog::{
    Catalog, CatalogDiff, ChangedEntry, Entry, ItemKind, ListProblem, Listing, ToolPolicy,
};
pub use config::{Endpoint, RemoteEndpoint, RemoteKind, ServerConfig, Start, StdioEndpoint};
pub use name::{ExposedName, InvalidServerName, MAX_EXPOSED_NAME, ServerName};
pub use pin::{Fingerprint, InvalidFingerprint, PinState, Pins};
