//! Resources.

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
            /// Its URI.
            uri: String = "uri",
            /// Its name.
            name: String = "name",
        }
        optional {
            /// Its display name (2025-06-18 and later).
            title: String = "title",
            /// Its description for a model.
            description: String = "description",
            /// Its media type.
            mime_type: String = "mimeType",
            /// Its size in bytes, before base64.
            size: i64 = "size",
            /// Icons (2025-11-25 and later).
            icons: Vec<Icon> = "icons",
            /// Audience and priority.
            annotations: Annotations = "annotations",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A resource template, as listed.
    pub struct ResourceTemplate {
        required {
            /// The URI template (RFC 6570).
            uri_template: String = "uriTemplate",
            /// Its name.
            name: String = "name",
        }
        optional {
            /// Its display name (2025-06-18 and later).
            title: String = "title",
            /// What the resources are, for a model.
            description: String = "description",
            /// Their media type, if they all have the same.
            mime_type: String = "mimeType",
            /// Icons (2025-11-25 and later).
            icons: Vec<Icon> = "icons",
            /// Audience and priority.
            annotations: Annotations = "annotations",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The contents of a resource: `text`, or else `blob`; see [`data`](Self::data).
    pub struct ResourceContents {
        required {
            /// Its URI.
            uri: String = "uri",
        }
        optional {
            /// Its media type.
            mime_type: String = "mimeType",
            /// The contents, if they are text.
            text: String = "text",
            /// The contents in base64, if they are not.
            blob: String = "blob",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

/// The data of a resource.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum ResourceData<'a> {
    /// Text.
    Text(&'a str),
    /// Binary data in base64.
    Blob(&'a str),
}

impl ResourceContents {
    /// The contents of a text resource.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        let mut contents = Self::new(uri);
        contents.text = Some(text.into());
        contents
    }

    /// The contents of a binary resource, in base64.
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        let mut contents = Self::new(uri);
        contents.blob = Some(base64.into());
        contents
    }

    /// The data: `text`, else `blob`. `None` if the server sent neither.
    pub fn data(&self) -> Option<ResourceData<'_>> {
        let text = self.text.as_deref().map(ResourceData::Text);
        text.or(self.blob.as_deref().map(ResourceData::Blob))
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
            /// The cursor of the next page, if there is one.
            next_cursor: String = "nextCursor",
            /// How long the page stays fresh, in milliseconds (2026-07-28).
            ttl_ms: i64 = "ttlMs",
            /// Whether a cache may share the page (2026-07-28).
            cache_scope: CacheScope = "cacheScope",
            /// The kind of result (2026-07-28).
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A page of resource templates.
    pub struct ListResourceTemplatesResult {
        listed {
            /// The templates.
            resource_templates: ResourceTemplate = "resourceTemplates",
        }
        optional {
            /// The cursor of the next page, if there is one.
            next_cursor: String = "nextCursor",
            /// How long the page stays fresh, in milliseconds (2026-07-28).
            ttl_ms: i64 = "ttlMs",
            /// Whether a cache may share the page (2026-07-28).
            cache_scope: CacheScope = "cacheScope",
            /// The kind of result (2026-07-28).
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// Reads a resource.
    pub struct ReadResourceParams {
        required {
            /// The resource's URI.
            uri: String = "uri",
        }
        optional {
            /// The answers to the input requests of the last round (2026-07-28).
            input_responses: InputResponses = "inputResponses",
            /// The server's state of the last round, unchanged (2026-07-28).
            request_state: String = "requestState",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The contents of a resource; a directory may have several parts.
    pub struct ReadResourceResult {
        listed {
            /// The parts.
            contents: ResourceContents = "contents",
        }
        optional {
            /// How long they stay fresh, in milliseconds (2026-07-28).
            ttl_ms: i64 = "ttlMs",
            /// Whether a cache may share them (2026-07-28).
            cache_scope: CacheScope = "cacheScope",
            /// The kind of result (2026-07-28).
            result_type: ResultType = "resultType",
            /// Metadata of the result.
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
    /// Names a resource to subscribe to or unsubscribe from (up to 2025-11-25).
    pub struct SubscribeParams {
        required {
            /// The resource's URI.
            uri: String = "uri",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A resource changed.
    pub struct ResourceUpdatedParams {
        required {
            /// Its URI, or that of a sub-resource of the one subscribed to.
            uri: String = "uri",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

methods! {
    /// Lists the resources.
    ListResources = "resources/list": PageParams => ListResourcesResult;
    /// Lists the resource templates.
    ListResourceTemplates = "resources/templates/list": PageParams => ListResourceTemplatesResult;
    /// Reads a resource.
    ReadResource = "resources/read": ReadResourceParams => ReadResourceResult;
    /// Subscribes to a resource (up to 2025-11-25).
    Subscribe = "resources/subscribe": SubscribeParams => EmptyResult;
    /// Unsubscribes from a resource (up to 2025-11-25).
    Unsubscribe = "resources/unsubscribe": SubscribeParams => EmptyResult;
}

notifications! {
    /// The list of resources changed.
    ResourceListChanged = "notifications/resources/list_changed": EmptyParams;
    /// A resource changed.
    ResourceUpdated = "notifications/resources/updated": ResourceUpdatedParams;
}
