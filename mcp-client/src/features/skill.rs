//! Skills (SEP-2640): listed, read when used, and verified against the list.

use std::error::Error;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_jsonrpc::model::{ResourceContents, ResourceData, Skill, SkillFile, SkillResources};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::call::error::CallError;
use crate::client::Client;

/// A skill whose `SKILL.md` was read and verified.
///
/// The other files of a skill can only be read through it, so that no part of an unverified skill is used.
#[derive(Clone, Debug)]
pub struct LoadedSkill {
    client: Client,
    skill: Skill,
    text: String,
}

/// The reason why a skill cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum SkillError {
    /// A file could not be read.
    Call(CallError),
    /// The skill does not list this file.
    NotListed {
        /// The file.
        uri: String,
    },
    /// A file does not match the list: do not use any part of the skill.
    Mismatch {
        /// The file.
        uri: String,
        /// The difference between the list and the file.
        detail: String,
    },
}

impl Client {
    /// Reads a skill's `SKILL.md` and verifies it: digest, size, and the front matter field by field.
    ///
    /// # Errors
    ///
    /// [`SkillError::Mismatch`] if it does not match the list.
    pub async fn load_skill(&self, skill: &Skill) -> Result<LoadedSkill, SkillError> {
        let bytes = read_checked(self, skill, &skill.uri).await?;
        let mismatch = |detail: String| SkillError::Mismatch {
            uri: skill.uri.clone(),
            detail,
        };
        let text = String::from_utf8(bytes).map_err(|error| mismatch(error.to_string()))?;
        let found = front_matter(&text).map_err(mismatch)?;
        if let Some(detail) = difference(&skill.frontmatter, &found) {
            return Err(mismatch(detail));
        }
        Ok(LoadedSkill {
            client: self.clone(),
            skill: skill.clone(),
            text,
        })
    }
}

impl LoadedSkill {
    /// The skill as listed.
    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// The complete text of `SKILL.md`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads another file of the skill and verifies it against the list.
    ///
    /// # Errors
    ///
    /// [`SkillError::NotListed`] for files that the skill does not list; else as [`Client::load_skill`].
    pub async fn read(&self, uri: &str) -> Result<Vec<u8>, SkillError> {
        read_checked(&self.client, &self.skill, uri).await
    }
}

async fn read_checked(client: &Client, skill: &Skill, uri: &str) -> Result<Vec<u8>, SkillError> {
    let promised = match &skill.resources {
        SkillResources::Listed(files) => {
            let file = files.iter().find(|file| file.uri == uri);
            Some(file.ok_or_else(|| SkillError::NotListed {
                uri: uri.to_owned(),
            })?)
        }
        _ => None,
    };
    let result = client.read_resource(uri).await.map_err(SkillError::Call)?;
    let contents = result.contents.iter().find(|contents| contents.uri == uri);
    let bytes = contents
        .ok_or_else(|| "the response does not contain it".to_owned())
        .and_then(bytes_of)
        .and_then(|bytes| match promised {
            Some(file) => check(file, &bytes).map(|()| bytes),
            None => Ok(bytes),
        });
    bytes.map_err(|detail| SkillError::Mismatch {
        uri: uri.to_owned(),
        detail,
    })
}

fn bytes_of(contents: &ResourceContents) -> Result<Vec<u8>, String> {
    match contents.data() {
        Some(ResourceData::Text(text)) => Ok(text.as_bytes().to_vec()),
        Some(ResourceData::Blob(blob)) => STANDARD.decode(blob).map_err(|error| error.to_string()),
        None => Err("the response has neither text nor blob".to_owned()),
    }
}

fn check(file: &SkillFile, bytes: &[u8]) -> Result<(), String> {
    if usize::try_from(file.size) != Ok(bytes.len()) {
        return Err(format!("{} bytes, not {}", bytes.len(), file.size));
    }
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    match file.digest.strip_prefix("sha256:") {
        Some(promised) if promised.eq_ignore_ascii_case(&hex) => Ok(()),
        Some(_) => Err(format!("digest sha256:{hex}, not {}", file.digest)),
        None => Err(format!("digest of an unknown kind: {}", file.digest)),
    }
}

/// Reads the YAML between the two `---` lines at the beginning of a `SKILL.md`.
fn front_matter(text: &str) -> Result<Map<String, Value>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some("---") {
        return Err("no front matter".to_owned());
    }
    let mut yaml = String::new();
    for line in lines {
        if line.trim_end() == "---" {
            return serde_saphyr::from_str(&yaml).map_err(|error| error.to_string());
        }
        yaml.push_str(line);
    }
    Err("the front matter does not end".to_owned())
}

/// Describes the first field that differs.
fn difference(promised: &Map<String, Value>, found: &Map<String, Value>) -> Option<String> {
    let show = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    promised
        .keys()
        .chain(found.keys())
        .find(|field| promised.get(*field) != found.get(*field))
        .map(|field| {
            let (found, promised) = (show(found.get(field)), show(promised.get(field)));
            format!("front matter field '{field}' is {found}, not {promised}")
        })
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => error.fmt(f),
            Self::NotListed { uri } => write!(f, "the skill has no file {uri}"),
            Self::Mismatch { uri, detail } => {
                write!(f, "{uri} is not what the server promised: {detail}")
            }
        }
    }
}

impl Error for SkillError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Call(error) => error.source(),
            Self::NotListed { .. } | Self::Mismatch { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(text: &str) -> SkillFile {
        let digest = Sha256::digest(text.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        SkillFile::new(
            "skill://x/SKILL.md",
            format!("sha256:{hex}"),
            text.len() as i64,
        )
    }

    #[test]
    fn size_and_digest_are_both_checked() {
        let good = file("hello");
        assert_eq!(check(&good, b"hello"), Ok(()));
        assert_eq!(check(&good, b"hello!").unwrap_err(), "6 bytes, not 5");
        assert!(
            check(&good, b"hellO")
                .unwrap_err()
                .starts_with("digest sha256:")
        );
        let unknown = SkillFile::new("x", "md5:0", 5);
        assert!(
            check(&unknown, b"hello")
                .unwrap_err()
                .contains("unknown kind")
        );
    }

    #[test]
    fn front_matter_is_compared_field_by_field() {
        let found = front_matter("---\nname: pdf\ntags: [a, 2]\n---\n# Body\n---\n").unwrap();
        assert_eq!(json!(found), json!({"name": "pdf", "tags": ["a", 2]}));
        let promised = json!({"name": "pdf", "tags": ["a", 3]});
        let detail = difference(promised.as_object().unwrap(), &found).unwrap();
        assert_eq!(
            detail,
            r#"front matter field 'tags' is ["a",2], not ["a",3]"#
        );
        let more = json!({"name": "pdf", "tags": ["a", 2], "x": 1});
        let detail = difference(more.as_object().unwrap(), &found).unwrap();
        assert_eq!(detail, "front matter field 'x' is nothing, not 1");
        assert_eq!(difference(&found, &found), None);
    }

    #[test]
    fn files_without_front_matter_are_refused() {
        for text in ["", "# Body", "---\nname: x\n", "---\n- a\n---\n"] {
            assert!(front_matter(text).is_err(), "{text:?}");
        }
    }
}
