//! Transports: lines, hand-written HTTP/1.1, event streams.

mod conn;
pub(crate) mod gzip;
mod headers;
mod http;
pub(crate) mod legacy;
mod lines;
mod listener;
mod replay;
pub(crate) mod stdio;

pub(crate) use conn::{Conn, Dress, HttpRequest, event, head};
pub(crate) use headers::Headers;
pub(crate) use lines::{Lines, Place, Style};
pub(crate) use listener::Site;
