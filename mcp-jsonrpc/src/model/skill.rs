//! Skills (SEP-2640, the extension `io.modelcontextprotocol/skills`).

use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::base::{CacheScope, PageParams};
use super::meta::Meta;
use super::resource::ListResourcesResult;
use crate::json::read_error::ReadError;
use crate::json::reader::Reader;
use crate::message::method::methods;
use crate::message::result_body::{ResultType, results};
use crate::wire::field::{Field, deserialize_fields, serialize_plainly};
use crate::wire::object::{check_tag, object};

object! {
    /// The server's skills capability.
    pub struct SkillsCapability {
        optional {
            /// `resources/directory/read` is supported.
            directory_read: bool = "directoryRead",
        }
    }
}

object! {
    /// A skill, as listed. Its files are read with `resources/read`, only when the skill is used, and must match this
    /// listing.
    pub struct Skill {
        required {
            /// The URI of its `SKILL.md`.
            uri: String = "uri",
            /// The front matter of `SKILL.md`: at least `name` and `description`.
            frontmatter: Map<String, Value> = "frontmatter",
            /// All its files.
            resources: SkillResources = "resources",
        }
        optional {
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

impl Skill {
    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.frontmatter.get("name")?.as_str()
    }

    /// Its description.
    pub fn description(&self) -> Option<&str> {
        self.frontmatter.get("description")?.as_str()
    }
}

/// The files of a skill.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkillResources {
    /// Exactly these files.
    Listed(Vec<SkillFile>),
    /// Generated on request; there is nothing to verify them against.
    Dynamic,
}

impl From<Vec<SkillFile>> for SkillResources {
    fn from(files: Vec<SkillFile>) -> Self {
        Self::Listed(files)
    }
}

object! {
    /// A file of a skill.
    pub struct SkillFile {
        required {
            /// Its URI.
            uri: String = "uri",
            /// `sha256:` and 64 hexadecimal digits, of its bytes.
            digest: String = "digest",
            /// Its size in bytes.
            size: i64 = "size",
        }
    }
}

object! {
    /// A page of skills.
    pub struct ListSkillsResult {
        listed {
            /// The skills.
            skills: Skill = "skills",
        }
        optional {
            /// The cursor of the next page, if there is one.
            next_cursor: String = "nextCursor",
            /// How long the page stays fresh, in milliseconds.
            ttl_ms: i64 = "ttlMs",
            /// Whether a cache may share the page.
            cache_scope: CacheScope = "cacheScope",
            /// The kind of result.
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(ListSkillsResult);

object! {
    /// Names a skill.
    pub struct GetSkillParams {
        required {
            /// The URI of its `SKILL.md`.
            uri: String = "uri",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// One skill.
    pub struct GetSkillResult {
        required {
            /// The skill.
            skill: Skill = "skill",
        }
        optional {
            /// How long the result stays fresh, in milliseconds.
            ttl_ms: i64 = "ttlMs",
            /// Whether a cache may share the result.
            cache_scope: CacheScope = "cacheScope",
            /// The kind of result.
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(GetSkillResult);

object! {
    /// Lists the contents of a skill's folder.
    pub struct ReadDirectoryParams {
        required {
            /// The folder.
            uri: String = "uri",
        }
        optional {
            /// The cursor: `next_cursor` of the last page.
            cursor: String = "cursor",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

methods! {
    /// Lists the skills.
    SkillsList = "skills/list": PageParams => ListSkillsResult;
    /// Gets one skill.
    SkillsGet = "skills/get": GetSkillParams => GetSkillResult;
    /// Lists the contents of a folder; its sub-folders have the media type `inode/directory`.
    ReadDirectory = "resources/directory/read": ReadDirectoryParams => ListResourcesResult;
}

impl Serialize for SkillResources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Listed(files) => files.serialize(serializer),
            Self::Dynamic => serializer.serialize_str("dynamic"),
        }
    }
}

impl Field for SkillResources {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        match reader.peek() {
            Some(b'"') => check_tag(reader, "dynamic").map(|()| Self::Dynamic),
            _ => Field::read(reader).map(Self::Listed),
        }
    }

    serialize_plainly!();
}

deserialize_fields!(SkillResources);
