//! The server's log messages.

use super::base::EmptyResult;
use super::meta::Meta;
use crate::json::raw::RawJson;
use crate::message::method::{methods, notifications};
use crate::wire::object::object;
use crate::wire::string_enum::string_enum;

string_enum! {
    /// The severity of a log message, as in RFC 5424, in ascending order.
    pub closed LoggingLevel {
        /// Debugging details.
        Debug = "debug",
        /// Normal operation.
        Info = "info",
        /// Normal but significant.
        Notice = "notice",
        /// Could become an error.
        Warning = "warning",
        /// An error.
        Error = "error",
        /// A component failed.
        Critical = "critical",
        /// Immediate action is required.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}

object! {
    /// Sets the minimum level of log messages (up to 2025-11-25).
    pub struct SetLevelParams {
        required {
            /// The level.
            level: LoggingLevel = "level",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A log message.
    pub struct LogMessageParams {
        required {
            /// The severity.
            level: LoggingLevel = "level",
            /// The message: any JSON.
            data: RawJson = "data",
        }
        optional {
            /// The part of the server that logs.
            logger: String = "logger",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

methods! {
    /// Sets the minimum level of log messages (up to 2025-11-25).
    SetLevel = "logging/setLevel": SetLevelParams => EmptyResult;
}

notifications! {
    /// The server logs something.
    LogMessage = "notifications/message": LogMessageParams;
}
