//! Roots: the folders and files a server may access.

use super::base::EmptyParams;
use super::meta::Meta;
use crate::message::method::{methods, notifications};
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;

object! {
    /// A folder or file the server may access.
    pub struct Root {
        required {
            /// Its `file://` URI.
            uri: String = "uri",
        }
        optional {
            /// Its display name.
            name: String = "name",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The client's roots.
    pub struct ListRootsResult {
        required {
            /// The roots.
            roots: Vec<Root> = "roots",
        }
        optional {
            /// Not part of this result; kept if a peer sends it.
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(ListRootsResult);

methods! {
    /// The server asks for the roots: a request up to 2025-11-25, an input request later.
    ListRoots = "roots/list": EmptyParams => ListRootsResult;
}

notifications! {
    /// The client's roots changed (up to 2025-11-25).
    RootsListChanged = "notifications/roots/list_changed": EmptyParams;
}
