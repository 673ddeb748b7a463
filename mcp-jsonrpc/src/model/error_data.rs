//! The `data` of the protocol's errors: see [`ErrorObject::data_as`](crate::ErrorObject::data_as).

use super::capability::ClientCapabilities;
use super::elicitation::ElicitUrlParams;
use crate::wire::object::object;

object! {
    /// The data of [`UNSUPPORTED_PROTOCOL_VERSION`](crate::ErrorCode::UNSUPPORTED_PROTOCOL_VERSION).
    pub struct UnsupportedVersionData {
        defaulted {
            /// The revisions that the server supports.
            supported: Vec<String> = "supported",
        }
        optional {
            /// The revision that was requested.
            requested: String = "requested",
        }
    }
}

object! {
    /// The data of [`MISSING_CLIENT_CAPABILITY`](crate::ErrorCode::MISSING_CLIENT_CAPABILITY).
    pub struct MissingCapabilityData {
        required {
            /// The capabilities the client would have to declare.
            required_capabilities: ClientCapabilities = "requiredCapabilities",
        }
    }
}

object! {
    /// The data of [`URL_ELICITATION_REQUIRED`](crate::ErrorCode::URL_ELICITATION_REQUIRED).
    pub struct UrlElicitationData {
        required {
            /// The URLs the user must visit before the request is retried.
            elicitations: Vec<ElicitUrlParams> = "elicitations",
        }
    }
}
