//! Giving up on a request.

use super::meta::Meta;
use crate::message::id::RequestId;
use crate::message::method::notifications;
use crate::wire::object::object;

object! {
    /// Says that no one waits for a request any more.
    pub struct CancelledParams {
        optional {
            /// Which request. Only 2025-11-25 lets it be absent.
            request_id: RequestId = "requestId",
            /// The reason, for a log.
            reason: String = "reason",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

impl CancelledParams {
    /// For the request `id`.
    pub fn of(id: RequestId) -> Self {
        Self {
            request_id: Some(id),
            ..Self::default()
        }
    }
}

notifications! {
    /// Either side cancels a request of its own; a server also ends a subscription so.
    Cancelled = "notifications/cancelled": CancelledParams;
}
