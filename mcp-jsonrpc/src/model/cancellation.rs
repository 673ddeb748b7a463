//! Cancellation of requests.

use super::meta::Meta;
use crate::message::id::RequestId;
use crate::message::method::notifications;
use crate::wire::object::object;

object! {
    /// Reports that the sender no longer waits for a request.
    pub struct CancelledParams {
        optional {
            /// The request. Only 2025-11-25 allows it to be absent.
            request_id: RequestId = "requestId",
            /// The reason, for a log.
            reason: String = "reason",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

impl CancelledParams {
    /// Cancels the request `id`.
    pub fn of(id: RequestId) -> Self {
        Self {
            request_id: Some(id),
            ..Self::default()
        }
    }
}

notifications! {
    /// Either side cancels its own request; a server also ends a subscription this way.
    Cancelled = "notifications/cancelled": CancelledParams;
}
