//! Results that ask for input first (2026-07-28): fulfil the requests, then ask again.

use super::base::EmptyParams;
use super::elicitation::ElicitParams;
use super::meta::Meta;
use super::sampling::CreateMessageParams;
use crate::json::ordered_map::{OrderedMap, RawMap};
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;
use crate::wire::tagged::tagged;

object! {
    /// The server needs something before it can go on.
    pub struct InputRequiredResult {
        optional {
            /// `input_required`.
            result_type: ResultType = "resultType",
            /// What it needs, by keys of its own.
            input_requests: InputRequests = "inputRequests",
            /// Its state: goes back untouched with the next try.
            request_state: String = "requestState",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(InputRequiredResult);

/// What a server needs, by keys of its own, in its order.
pub type InputRequests = OrderedMap<InputRequest>;

/// The bare results of [`InputRequests`], by the same keys. Which key has which kind of result is
/// known from the request; [`RawMap::set`] adds one.
pub type InputResponses = RawMap;

tagged! {
    /// One thing a server needs.
    pub enum InputRequest by "method" {
        /// To ask the user.
        Elicitation(ElicitationInput) = "elicitation/create",
        /// To ask the client's model.
        Sampling(SamplingInput) = "sampling/createMessage",
        /// To know the roots.
        Roots(RootsInput) = "roots/list",
    }
}

object! {
    /// Asks the user. Answered by an [`ElicitResult`](super::ElicitResult).
    pub struct ElicitationInput tag "method" = "elicitation/create" {
        required {
            /// The request.
            params: ElicitParams = "params",
        }
    }
}

object! {
    /// Asks the client's model. Answered by a [`CreateMessageResult`](super::CreateMessageResult).
    pub struct SamplingInput tag "method" = "sampling/createMessage" {
        required {
            /// The request.
            params: CreateMessageParams = "params",
        }
    }
}

object! {
    /// Asks for the roots. Answered by a [`ListRootsResult`](super::ListRootsResult).
    pub struct RootsInput tag "method" = "roots/list" {
        optional {
            /// Nothing much.
            params: EmptyParams = "params",
        }
    }
}
