//! Which servers there are, and how to reach them.

mod endpoint;
mod server;

pub use endpoint::{Endpoint, RemoteEndpoint, RemoteKind, StdioEndpoint};
pub use server::{ServerConfig, Start};
