//! Faults of HTTP: status lines, bodies, event streams, connections.

mod body;
mod connection;
mod endpoint;
mod events;
mod hit;
mod listen;
mod redirect;
mod resume;
mod session;
mod size;
mod status;
mod stream;

pub(crate) use hit::{Hit, HttpFn, On};

use super::{Fault, Kind};
use crate::wire::head;

const HTML: &str = "text/html";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

pub(super) fn all() -> Vec<Fault> {
    [
        status::FAULTS,
        session::FAULTS,
        body::FAULTS,
        events::FAULTS,
        resume::FAULTS,
        redirect::FAULTS,
        size::FAULTS,
        connection::FAULTS,
        endpoint::FAULTS,
        stream::FAULTS,
        listen::FAULTS,
    ]
    .concat()
}

const fn http(name: &'static str, about: &'static str, on: On, fault: HttpFn) -> Fault {
    Fault::new(name, about, Kind::Http(on, fault))
}

const fn sse(name: &'static str, about: &'static str, on: On, fault: HttpFn) -> Fault {
    Fault::new(name, about, Kind::Sse(on, fault))
}

/// The head of a reply that announces this many bytes of JSON.
fn json_head(length: impl ToString) -> Vec<u8> {
    let length = length.to_string();
    head(200, &[("Content-Type", JSON), ("Content-Length", &length)])
}
