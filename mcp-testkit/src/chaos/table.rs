//! The table of all cases.

mod call;
mod http;
mod http_wire;
mod message;
mod modern;
mod sse;
mod stdio;

use super::Case;

pub(super) fn all() -> Vec<Case> {
    [
        stdio::cases(),
        message::cases("stdio"),
        http::cases(),
        call::cases("http"),
        http_wire::cases("http"),
        message::cases("http"),
        sse::cases(),
        message::cases("sse"),
        modern::cases("stdio-modern"),
        modern::stdio(),
        message::cases("stdio-modern"),
        modern::cases("http-modern"),
        modern::http(),
        call::cases("http-modern"),
        http_wire::cases("http-modern"),
        message::cases("http-modern"),
    ]
    .concat()
}
