//! Skills (SEP-2640): folders of files with a `SKILL.md`, served as resources.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_jsonrpc::model::{
    GetSkillResult, ListResourcesResult, ListSkillsResult, ReadResourceResult, Resource,
    ResourceContents, Skill, SkillFile, SkillResources,
};
use ring::digest;
use serde_json::{Map, Value};

use crate::handler::error::Error;
use crate::registry::page;

const MANIFEST: &str = "SKILL.md";
const MAX_FILES: usize = 512;
const MAX_BYTES: usize = 16 << 20;
/// The media type of a folder.
const DIRECTORY: &str = "inode/directory";

/// The files of one skill.
///
/// ```
/// # fn main() -> Result<(), mcp_server::Error> {
/// let manifest = "---\nname: greet\ndescription: Greets people\n---\nSay hello.\n";
/// let files = [("SKILL.md", manifest.as_bytes().to_vec())];
/// let skill = mcp_server::SkillBundle::new("acme/greet", files)?;
/// # let _ = skill;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SkillBundle {
    root: String,
    skill: Skill,
    /// As a listed resource.
    manifest: Resource,
    files: Vec<(String, Vec<u8>)>,
}

impl SkillBundle {
    /// Creates a skill at `skill://{path}`. The last segment of `path` is the skill's name; file names are relative to
    /// it and include `SKILL.md`.
    ///
    /// # Errors
    ///
    /// If the files are not a skill: no `SKILL.md`, invalid front matter, another name, too large.
    pub fn new<N: Into<String>>(
        path: &str,
        files: impl IntoIterator<Item = (N, Vec<u8>)>,
    ) -> Result<Self, Error> {
        let invalid = |why: &str| Error::failed(format!("invalid skill {path}: {why}"));
        let root = format!("skill://{path}");
        let mut files: Vec<(String, Vec<u8>)> = files
            .into_iter()
            .map(|(name, bytes)| (name.into(), bytes))
            .collect();
        files.sort();
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        if files.len() > MAX_FILES || bytes > MAX_BYTES {
            return Err(invalid("at most 512 files and 16 MiB are allowed"));
        }
        let manifest = files.iter().find(|(name, _)| name == MANIFEST);
        let manifest = manifest.and_then(|(_, bytes)| std::str::from_utf8(bytes).ok());
        let frontmatter = manifest
            .and_then(frontmatter)
            .ok_or_else(|| invalid("SKILL.md must begin with YAML front matter"))?;
        let text = |key: &str| frontmatter.get(key).and_then(Value::as_str);
        let name = path.rsplit('/').next().unwrap_or_default();
        if text("name") != Some(name) || !is_name(name) {
            return Err(invalid("its name must be the last segment of its path"));
        }
        if text("description").is_none_or(str::is_empty) {
            return Err(invalid("it needs a description"));
        }
        let listed = files.iter().map(|(name, bytes)| {
            let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            SkillFile::new(format!("{root}/{name}"), sha256(bytes), size)
        });
        let resources = SkillResources::from(listed.collect::<Vec<_>>());
        let skill = Skill::new(format!("{root}/{MANIFEST}"), frontmatter, resources);
        let mut manifest = Resource::new(&*skill.uri, name);
        manifest.description = skill.description().map(str::to_owned);
        manifest.mime_type = Some("text/markdown".to_owned());
        Ok(Self {
            root,
            skill,
            manifest,
            files,
        })
    }

    fn file(&self, uri: &str) -> Option<(&str, &[u8])> {
        let wanted = uri.strip_prefix(self.root.as_str())?.strip_prefix('/')?;
        let (name, bytes) = self.files.iter().find(|(name, _)| name == wanted)?;
        Some((name, bytes))
    }
}

/// 1 to 64 lower-case letters, digits and single hyphens within.
fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let edges = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    (1..=64).contains(&name.len()) && name.chars().all(allowed) && !edges
}

fn frontmatter(manifest: &str) -> Option<Map<String, Value>> {
    let rest = manifest
        .strip_prefix("---")?
        .trim_start_matches('\r')
        .strip_prefix('\n')?;
    let end = rest.find("\n---")?;
    serde_saphyr::from_str(rest.get(..end)?).ok()
}

fn sha256(bytes: &[u8]) -> String {
    let digest = digest::digest(&digest::SHA256, bytes);
    let hex = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", hex.collect::<String>())
}

fn mime_type(name: &str, bytes: &[u8]) -> &'static str {
    match name.rsplit('.').next() {
        Some("md") => "text/markdown",
        Some("json") => "application/json",
        Some("html") => "text/html",
        Some("png") => "image/png",
        _ if std::str::from_utf8(bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

/// All skills of a server.
#[derive(Default)]
pub(crate) struct SkillShelf(Vec<SkillBundle>);

impl SkillShelf {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, bundle: SkillBundle) {
        self.0.retain(|old| old.root != bundle.root);
        self.0.push(bundle);
    }

    /// The manifests, as listed resources.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.0.iter().map(|bundle| &bundle.manifest)
    }

    pub(crate) fn read(&self, uri: &str) -> Option<ReadResourceResult> {
        let (name, bytes) = self.0.iter().find_map(|bundle| bundle.file(uri))?;
        let mut contents = ResourceContents::new(uri);
        contents.mime_type = Some(mime_type(name, bytes).to_owned());
        match std::str::from_utf8(bytes) {
            Ok(text) => contents.text = Some(text.to_owned()),
            Err(_) => contents.blob = Some(STANDARD.encode(bytes)),
        }
        Some(ReadResourceResult::new(vec![contents]))
    }

    pub(crate) fn list(
        &self,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ListSkillsResult, Error> {
        let (page, next) = page::cut(&self.0, cursor, limit)?;
        let skills: Vec<_> = page.iter().map(|bundle| bundle.skill.clone()).collect();
        let mut result = ListSkillsResult::new(skills);
        result.next_cursor = next;
        Ok(result)
    }

    pub(crate) fn get(&self, uri: &str) -> Result<GetSkillResult, Error> {
        let found = self.0.iter().find(|bundle| bundle.skill.uri == uri);
        let found = found.ok_or_else(|| Error::invalid_params(format!("unknown skill: {uri}")))?;
        Ok(GetSkillResult::new(found.skill.clone()))
    }

    /// What is directly in a folder.
    pub(crate) fn directory(
        &self,
        uri: &str,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ListResourcesResult, Error> {
        let folder = uri.trim_end_matches('/');
        let (mut children, mut folders) = (Vec::new(), BTreeSet::new());
        for bundle in &self.0 {
            for (name, bytes) in &bundle.files {
                let full = format!("{}/{name}", bundle.root);
                let Some(below) = full
                    .strip_prefix(folder)
                    .and_then(|it| it.strip_prefix('/'))
                else {
                    continue;
                };
                let (child, kind) = match below.split_once('/') {
                    None => (below, mime_type(name, bytes)),
                    Some((child, _)) if folders.insert(child.to_owned()) => (child, DIRECTORY),
                    Some(_) => continue,
                };
                let mut resource = Resource::new(format!("{folder}/{child}"), child);
                resource.mime_type = Some(kind.to_owned());
                children.push(resource);
            }
        }
        if children.is_empty() {
            return Err(Error::invalid_params(format!("not a directory: {uri}")));
        }
        let (page, next) = page::cut(&children, cursor, limit)?;
        let mut result = ListResourcesResult::new(page.to_vec());
        result.next_cursor = next;
        Ok(result)
    }
}
