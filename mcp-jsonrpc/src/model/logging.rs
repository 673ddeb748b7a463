//! The server's log messages.

use super::base::EmptyResult;
use super::meta::Meta;
use crate::json::raw::RawJson;
use crate::message::method::{methods, notifications};
use crate::wire::object::object;
use crate::wire::string_enum::string_enum;

string_enum! {
    /// How much a log message matters, as in RFC 5424; the least first.
    pub closed LoggingLevel {
        /// Details for debugging.
        Debug = "debug",
        /// The course of things.
        Info = "info",
        /// Ordinary, but worth notice.
        Notice = "notice",
        /// Could become an error.
        Warning = "warning",
        /// An error.
        Error = "error",
        /// A failing part.
        Critical = "critical",
        /// Act at once.
        Alert = "alert",
        /// Nothing works.
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
            /// How much it matters.
            level: LoggingLevel = "level",
            /// The message: any JSON.
            data: RawJson = "data",
        }
        optional {
            /// Which part of the server speaks.
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
