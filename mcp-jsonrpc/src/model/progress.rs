//! Progress of a request.

use super::meta::Meta;
use crate::message::id::ProgressToken;
use crate::message::method::notifications;
use crate::wire::object::object;

object! {
    /// The progress of a request.
    pub struct ProgressParams {
        required {
            /// The token the request carried in `_meta`.
            progress_token: ProgressToken = "progressToken",
            /// The progress so far; rises with each notification.
            progress: f64 = "progress",
        }
        optional {
            /// The total, if known.
            total: f64 = "total",
            /// The current activity, for people (2025-03-26 and later).
            message: String = "message",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

notifications! {
    /// Either side reports the progress of a request from the other.
    Progress = "notifications/progress": ProgressParams;
}
