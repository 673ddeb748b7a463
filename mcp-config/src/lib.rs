#![doc = include_str!("../README.md")]

mod dialect;
mod file;
mod secret;
mod server;
mod variable;

pub use dialect::Dialect;
pub use dialect::location::{Base, Location};
pub use file::ConfigFile;
pub use file::edit::ConfigEdit;
pub use file::input::{Input, InputKind};
pub use file::loss::Loss;
pub use file::problem::{ConfigProblem, Place};
pub use file::server_json::{Offer, ServerJson};
pub use mcp_transport::{EnvPolicy, ServerCommand};
pub use secret::{asks_for_secret, is_secret, secrets_in_args, secrets_in_url};
pub use server::endpoint::{Endpoint, RemoteEndpoint, RemoteKind};
pub use server::name::{InvalidServerName, ServerName};
pub use server::tools::ToolSettings;
pub use server::{ServerConfig, Start};
pub use variable::resolve::{Missing, Resolved, Unresolved};
pub use variable::{Variable, Variables};
