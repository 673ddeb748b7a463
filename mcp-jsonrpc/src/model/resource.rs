//! Resources: what a server lets be read.

use super::base::{CacheScope, EmptyParams, EmptyResult, PageParams};
use super::content::Annotations;
use super::icon::Icon;
use super::input::InputResponses;
use super::meta::Meta;
use crate::message::method::{methods, notifications};
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;

object! {
    /// A resource, as listed.
    pub struct Resource {
        required {
            /// Where it is.
            uri: String = "uri",
            /// Its name.
            name: String = "name",
        }
        optional {
            /// Its name for people (2025-06-18 and later).
            title: String = "title",
            /// What it is, for a model.
            description: String = "description",
            /// Its media type.
            mime_type: String = "mimeType",
            /// Its size in bytes, before base64.
            size: i64 = "size",
            /// Pictures for it (2025-11-25 and later).
            icons: Vec<Icon> = "icons",
            /// For whom, and how important.
            annotations: Annotations = "annotations",
            /// What goes along with it.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A pattern of resources, as listed.
    pub struct ResourceTemplate {
        required {
            /// The pattern, in RFC 6570.
            uri_template: String = "uriTemplate",
            /// Its name.
            name: String = "name",
        }
        optional {
            /// Its name for people (2025-06-18 and later).
            title: String = "title",
            /// What the resources are, for a model.
            description: String = "description",
            /// Their media type, if they all have the same.
            mime_type: String = "mimeType",
            /// Pictures for it (2025-11-25 and later).
            icons: Vec<Icon> = "icons",
            /// For whom, and how important.
            annotations: Annotations = "annotations",
            /// What goes along with it.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// What is in a resource: `text`, or else `blob`.
    pub struct ResourceContents {
        required {
            /// Where it is.
            uri: String = "uri",
        }
        optional {
            /// Its media type.
            mime_type: String = "mimeType",
            /// The contents, if they are text.
            text: String = "text",
            /// The contents in base64, if they are not.
            blob: String = "blob",
            /// What goes along with it.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A page of resources.
    pub struct ListResourcesResult {
        listed {
            /// The resources.
            resources: Resource = "resources",
        }
        optional {
            /// Where the next page begins, if there is one.
            next_cursor: String = "nextCursor",
            /// For how many milliseconds the page stays fresh (2026-07-28).
            ttl_ms: i64 = "ttlMs",
            /// Who may be given the cached page (2026-07-28).
            cache_scope: CacheScope = "cacheScope",
            /// What kind of result this is (2026-07-28).
            result_type: ResultType = "resultType",
            /// What goes along with the result.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A page of patterns of resources.
    pub struct ListResourceTemplatesResult {
        listed {
            /// The patterns.
            resource_templates: ResourceTemplate = "resourceTemplates",
        }
        optional {
            /// Where the next page begins, if there is one.
            next_cursor: String = "nextCursor",
            /// For how many milliseconds the page stays fresh (2026-07-28).
            ttl_ms: i64 = "ttlMs",
            /// Who may be given the cached page (2026-07-28).
            cache_scope: CacheScope = "cacheScope",
            /// What kind of result this is (2026-07-28).
            result_type: ResultType = "resultType",
            /// What goes along with the result.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// Reads a resource.
    pub struct ReadResourceParams {
        required {
            /// Which one.
            uri: String = "uri",
        }
        optional {
            /// What the server asked for last time (2026-07-28).
            input_responses: InputResponses = "inputResponses",
            /// The server's state of last time, untouched (2026-07-28).
            request_state: String = "requestState",
            /// What goes along with the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// What is in a resource; a folder may have several parts.
    pub struct ReadResourceResult {
        listed {
            /// The parts.
            contents: ResourceContents = "contents",
        }
        optional {
            /// For how many milliseconds they stay fresh (2026-07-28).
            ttl_ms: i64 = "ttlMs",
            /// Who may be given them from a cache (2026-07-28).
            cache_scope: CacheScope = "cacheScope",
            /// What kind of result this is (2026-07-28).
            result_type: ResultType = "resultType",
            /// What goes along with the result.
            meta: Meta = "_meta",
        }
    }
}

results!(
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult
);

object! {
    /// Names a resource: to watch it, to stop watching it (up to 2025-11-25).
    pub struct SubscribeParams {
        required {
            /// Which one.
            uri: String = "uri",
        }
        optional {
            /// What goes along with the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A resource changed; read it again.
    pub struct ResourceUpdatedParams {
        required {
            /// Which one: the one subscribed to, or one below it.
            uri: String = "uri",
        }
        optional {
            /// What goes along with the message.
            meta: Meta = "_meta",
        }
    }
}

methods! {
    /// Lists the resources.
    ListResources = "resources/list": PageParams => ListResourcesResult;
    /// Lists the patterns of resources.
    ListResourceTemplates = "resources/templates/list": PageParams => ListResourceTemplatesResult;
    /// Reads a resource.
    ReadResource = "resources/read": ReadResourceParams => ReadResourceResult;
    /// Watches a resource (up to 2025-11-25).
    Subscribe = "resources/subscribe": SubscribeParams => EmptyResult;
    /// Stops watching a resource (up to 2025-11-25).
    Unsubscribe = "resources/unsubscribe": SubscribeParams => EmptyResult;
}

notifications! {
    /// The list of resources changed.
    ResourceListChanged = "notifications/resources/list_changed": EmptyParams;
    /// A resource changed.
    ResourceUpdated = "notifications/resources/updated": ResourceUpdatedParams;
}
