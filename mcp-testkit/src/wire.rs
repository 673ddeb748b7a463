//! How bytes travel: lines, HTTP/1.1 written by hand, event streams.

mod conn;
mod headers;
mod http;
mod legacy;
mod lines;
mod listener;
mod replay;
pub(crate) mod stdio;

pub(crate) use conn::{Conn, HttpRequest};
pub(crate) use headers::Headers;
pub(crate) use lines::{Lines, Style};
pub(crate) use listener::Site;
