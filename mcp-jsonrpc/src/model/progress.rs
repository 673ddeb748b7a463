//! How far a request has come.

use super::meta::Meta;
use crate::message::id::ProgressToken;
use crate::message::method::notifications;
use crate::wire::object::object;

object! {
    /// How far a request has come.
    pub struct ProgressParams {
        required {
            /// The token the request carried in `_meta`.
            progress_token: ProgressToken = "progressToken",
            /// How far; rises with each notification.
            progress: f64 = "progress",
        }
        optional {
            /// How far it is in all, if known.
            total: f64 = "total",
            /// What is going on, for people (2025-03-26 and later).
            message: String = "message",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

notifications! {
    /// Either side tells how far a request of the other has come.
    Progress = "notifications/progress": ProgressParams;
}
