//! The content blocks of results and prompts.

use super::base::Role;
use super::icon::Icon;
use super::meta::Meta;
use super::resource::ResourceContents;
use crate::wire::object::object;
use crate::wire::tagged::tagged;

tagged! {
    /// One block of content.
    pub enum ContentBlock by "type" keeps bad ones {
        /// Text.
        Text(TextContent) = "text",
        /// An image.
        Image(ImageContent) = "image",
        /// Audio (2025-03-26 and later).
        Audio(AudioContent) = "audio",
        /// The address of a resource (2025-06-18 and later).
        ResourceLink(ResourceLink) = "resource_link",
        /// A resource itself.
        Resource(EmbeddedResource) = "resource",
    }
}

impl ContentBlock {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// The text, if it is a block of text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

object! {
    /// Text.
    pub struct TextContent tag "type" = "text" {
        required {
            /// The text itself.
            text: String = "text",
        }
        optional {
            /// Audience and priority.
            annotations: Annotations = "annotations",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// An image.
    pub struct ImageContent tag "type" = "image" {
        required {
            /// The bytes, in base64.
            data: String = "data",
            /// The image format.
            mime_type: String = "mimeType",
        }
        optional {
            /// Audience and priority.
            annotations: Annotations = "annotations",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// Audio.
    pub struct AudioContent tag "type" = "audio" {
        required {
            /// The bytes, in base64.
            data: String = "data",
            /// The audio format.
            mime_type: String = "mimeType",
        }
        optional {
            /// Audience and priority.
            annotations: Annotations = "annotations",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The address of a resource that can be read or watched.
    pub struct ResourceLink tag "type" = "resource_link" {
        required {
            /// Its URI.
            uri: String = "uri",
            /// Its name.
            name: String = "name",
        }
        optional {
            /// Its display name.
            title: String = "title",
            /// Its description for a model.
            description: String = "description",
            /// Its media type.
            mime_type: String = "mimeType",
            /// Its size in bytes.
            size: i64 = "size",
            /// Its icons.
            icons: Vec<Icon> = "icons",
            /// Audience and priority.
            annotations: Annotations = "annotations",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A resource, including its contents.
    pub struct EmbeddedResource tag "type" = "resource" {
        required {
            /// The contents.
            resource: ResourceContents = "resource",
        }
        optional {
            /// Audience and priority.
            annotations: Annotations = "annotations",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// Hints about content: its audience and its importance.
    pub struct Annotations {
        optional {
            /// The audience.
            audience: Vec<Role> = "audience",
            /// From 0, dispensable, to 1, required.
            priority: f64 = "priority",
            /// When it last changed, in ISO 8601 (2025-06-18 and later).
            last_modified: String = "lastModified",
        }
    }
}
