#![doc = include_str!("../README.md")]

mod ask;
#[cfg(feature = "http")]
mod auth;
mod call;
mod caller;
mod context;
mod era;
mod error;
mod exchange;
mod finish;
mod form;
pub mod guide;
mod handler;
#[cfg(feature = "http")]
pub mod http;
mod limits;
mod listen;
mod notifier;
#[cfg(feature = "oauth")]
pub mod oauth;
mod outlet;
mod page;
mod peer;
mod pipe;
mod prompt;
mod queue;
mod random;
mod registry;
mod request_state;
mod resource;
mod schema;
mod server;
mod session;
mod shared;
mod signals;
#[cfg(feature = "skills")]
mod skill;
#[cfg(feature = "stdio")]
mod stdio;
mod task;
mod task_methods;
mod timestamp;
mod tool;

pub use ask::{AskError, Question, Roots};
#[cfg(feature = "http")]
pub use auth::{Authenticator, Denied};
pub use caller::Caller;
pub use context::Context;
pub use era::Eras;
pub use error::Error;
pub use handler::Handler;
pub use limits::Limits;
pub use mcp_jsonrpc::{IntoToolResult, Json};
pub use notifier::Notifier;
pub use prompt::{IntoPromptResult, PromptArguments};
pub use registry::Registry;
pub use resource::{IntoResourceResult, UriVariables};
pub use server::{Server, Service};
#[cfg(feature = "skills")]
pub use skill::SkillBundle;
