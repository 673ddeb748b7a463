//! Streamable HTTP of both eras at one endpoint.

mod body;
mod event_stream;
mod guard;
mod headers;
mod legacy;
mod modern;
mod param_header;
pub(crate) mod reply;
mod serve;
mod service;
mod sessions;

pub use body::ResponseBody;
pub use serve::serve;
pub use service::HttpService;
