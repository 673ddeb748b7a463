//! What many messages share: empty params and results, pages, caching, roles.

use super::meta::Meta;
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;
use crate::wire::string_enum::string_enum;

object! {
    /// The params of a request or notification that has none of its own.
    pub struct EmptyParams {
        optional {
            /// What goes along with the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The params of a list request.
    pub struct PageParams {
        optional {
            /// Where to go on, as the last page's `next_cursor` said.
            cursor: String = "cursor",
            /// What goes along with the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A result that says no more than: done.
    pub struct EmptyResult {
        optional {
            /// What kind of result this is (2026-07-28).
            result_type: ResultType = "resultType",
            /// What goes along with the result.
            meta: Meta = "_meta",
        }
    }
}

results!(EmptyResult);

string_enum! {
    /// Who says something, or whom it is for.
    pub closed Role {
        /// The model.
        Assistant = "assistant",
        /// The person.
        User = "user",
    }
}

string_enum! {
    /// Who may be given a cached result (2026-07-28). Anything unknown counts as private.
    pub open CacheScope {
        /// Only whoever asked with the same authorization.
        Private = "private",
        /// Anybody.
        Public = "public",
    }
}
