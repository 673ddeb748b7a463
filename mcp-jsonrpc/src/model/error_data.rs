//! What errors of the protocol carry in `data`: see [`ErrorObject::data_as`](crate::ErrorObject::data_as).

use super::capability::ClientCapabilities;
use super::elicitation::ElicitUrlParams;
use crate::wire::object::object;

object! {
    /// With [`UNSUPPORTED_PROTOCOL_VERSION`](crate::ErrorCode::UNSUPPORTED_PROTOCOL_VERSION).
    pub struct UnsupportedVersionData {
        defaulted {
            /// The revisions that the server supports.
            supported: Vec<String> = "supported",
        }
        optional {
            /// The revision that was asked for.
            requested: String = "requested",
        }
    }
}

object! {
    /// With [`MISSING_CLIENT_CAPABILITY`](crate::ErrorCode::MISSING_CLIENT_CAPABILITY).
    pub struct MissingCapabilityData {
        required {
            /// What the client would have to declare.
            required_capabilities: ClientCapabilities = "requiredCapabilities",
        }
    }
}

object! {
    /// With [`URL_ELICITATION_REQUIRED`](crate::ErrorCode::URL_ELICITATION_REQUIRED).
    pub struct UrlElicitationData {
        required {
            /// Where the user must go before the request is tried again.
            elicitations: Vec<ElicitUrlParams> = "elicitations",
        }
    }
}
