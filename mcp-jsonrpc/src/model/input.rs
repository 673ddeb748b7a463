//! Results that require input first (2026-07-28): supply it, then repeat the request.

use super::base::EmptyParams;
use super::elicitation::ElicitParams;
use super::meta::Meta;
use super::sampling::CreateMessageParams;
use crate::json::ordered_map::{OrderedMap, RawMap};
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;
use crate::wire::tagged::tagged;

object! {
    /// The server needs input before it can continue.
    pub struct InputRequiredResult {
        optional {
            /// `input_required`.
            result_type: ResultType = "resultType",
            /// The requests for input, by the server's keys.
            input_requests: InputRequests = "inputRequests",
            /// The server's state: send it back unchanged with the retry.
            request_state: String = "requestState",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(InputRequiredResult);

/// The requests for input, by the server's keys and in its order.
pub type InputRequests = OrderedMap<InputRequest>;

/// The bare results for [`InputRequests`], by the same keys. The request determines the type of each result;
/// [`RawMap::set`] adds one.
pub type InputResponses = RawMap;

tagged! {
    /// One request for input.
    pub enum InputRequest by "method" {
        /// A question to the user.
        Elicitation(ElicitationInput) = "elicitation/create",
        /// A request to the client's model.
        Sampling(SamplingInput) = "sampling/createMessage",
        /// A request for the roots.
        Roots(RootsInput) = "roots/list",
    }
}

object! {
    /// Asks the user. The response is an [`ElicitResult`](super::ElicitResult).
    pub struct ElicitationInput tag "method" = "elicitation/create" {
        required {
            /// The request.
            params: ElicitParams = "params",
        }
    }
}

object! {
    /// Asks the client's model. The response is a [`CreateMessageResult`](super::CreateMessageResult).
    pub struct SamplingInput tag "method" = "sampling/createMessage" {
        required {
            /// The request.
            params: CreateMessageParams = "params",
        }
    }
}

object! {
    /// Asks for the roots. The response is a [`ListRootsResult`](super::ListRootsResult).
    pub struct RootsInput tag "method" = "roots/list" {
        optional {
            /// The params, which have no members of their own.
            params: EmptyParams = "params",
        }
    }
}
