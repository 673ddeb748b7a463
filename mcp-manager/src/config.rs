//! Which servers there are, and how to reach them.

mod dialect;
mod document;
mod endpoint;
mod entry;
mod field;
mod file;
mod input;
mod loss;
mod problem;
mod reference;
mod resolve;
mod server;
#[cfg(feature = "toml")]
mod toml_document;
mod variable;
mod words;
mod write;

pub use dialect::Dialect;
pub use endpoint::{Endpoint, RemoteEndpoint, RemoteKind, StdioEndpoint};
pub use file::ConfigFile;
pub use input::Input;
pub use loss::Loss;
pub use problem::{ConfigProblem, Place};
pub use resolve::{Missing, Resolved, Unresolved};
pub use server::{ServerConfig, Start};
pub use variable::{Variable, Variables};
