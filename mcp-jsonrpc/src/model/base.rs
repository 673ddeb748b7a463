//! Types that many messages share: empty params and results, pages, caching, roles.

use super::meta::Meta;
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;
use crate::wire::string_enum::string_enum;

object! {
    /// Params without members of their own.
    pub struct EmptyParams {
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The params of a list request.
    pub struct PageParams {
        optional {
            /// The cursor: `next_cursor` of the last page.
            cursor: String = "cursor",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A result without content.
    pub struct EmptyResult {
        optional {
            /// The kind of result (2026-07-28).
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(EmptyResult);

string_enum! {
    /// The author or audience of a message.
    pub closed Role {
        /// The model.
        Assistant = "assistant",
        /// The person.
        User = "user",
    }
}

string_enum! {
    /// Whether a cache may share a result between users (2026-07-28). An unknown value means private.
    pub open CacheScope {
        /// Only with requesters that have the same authorization.
        Private = "private",
        /// With any requester.
        Public = "public",
    }
}
