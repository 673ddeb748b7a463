//! Streamable HTTP of both eras at one endpoint.

pub(crate) mod auth;
mod body;
mod event_stream;
mod guard;
mod headers;
mod legacy;
#[cfg(feature = "sse")]
mod legacy_sse;
mod modern;
pub(crate) mod reply;
mod serve;
mod service;
mod sessions;

pub use body::ResponseBody;
pub use serve::serve;
pub use service::HttpService;
