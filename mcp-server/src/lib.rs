#![doc = include_str!("../README.md")]

mod dispatch;
pub mod guide;
mod handler;
#[cfg(feature = "http")]
pub mod http;
mod notifier;
#[cfg(feature = "oauth")]
pub mod oauth;
mod pipe;
mod registry;
mod server;
mod session;
mod task;

pub use dispatch::era::Eras;
pub use handler::ask::{AskError, Question, Roots};
pub use handler::caller::Caller;
pub use handler::context::Context;
pub use handler::error::Error;
pub use handler::{Handler, ToolReply};
#[cfg(feature = "http")]
pub use http::auth::{Authenticator, Denied};
pub use mcp_jsonrpc::{IntoToolResult, Json};
pub use notifier::Notifier;
pub use registry::Registry;
pub use registry::page::cut as page;
pub use registry::prompt::{IntoPromptResult, PromptArguments};
pub use registry::resource::{IntoResourceResult, UriVariables};
#[cfg(feature = "skills")]
pub use registry::skill::SkillBundle;
pub use server::limits::ServerLimits;
pub use server::{Server, Service};
