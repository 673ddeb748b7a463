//! HTTP+SSE of 2024-11-05: one event stream in, POSTs out.

mod connect;
mod endpoint;
mod transport;

pub use connect::SseConnect;
pub use transport::SseTransport;
