//! Roots: the folders that servers can ask for, from the setting `roots`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{Host, HostCapabilities, HostError, ServerRequest};
use mcp_jsonrpc::model::Root;
use serde_json::Value;
use url::Url;

use crate::home;
use crate::store::{Store, UserId};

/// The setting: a list of folders.
pub(crate) const SETTING: &str = "roots";
/// Maximum number of folders.
const MAX_ROOTS: usize = 64;

/// Answers servers that ask for the roots. The setting is read for every answer.
pub(crate) struct Roots {
    store: Arc<dyn Store>,
    user: UserId,
    /// Folders of this run, in addition to the setting's.
    folders: Vec<PathBuf>,
}

impl Roots {
    pub(crate) fn new(store: Arc<dyn Store>, user: UserId) -> Self {
        let folders = Vec::new();
        Self {
            store,
            user,
            folders,
        }
    }

    /// Adds folders of this run.
    pub(crate) fn with_folders(mut self, folders: &[PathBuf]) -> Self {
        self.folders.extend_from_slice(folders);
        self
    }

    /// What is declared to servers.
    pub(crate) fn capabilities() -> HostCapabilities {
        HostCapabilities::default().with_roots()
    }
}

#[async_trait]
impl Host for Roots {
    async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        let settings = home::settings(&*self.store, &self.user).await;
        let settings = settings.map_err(|error| HostError::Failed(Box::new(error)))?;
        let stored = settings.get(SETTING).map(folders).unwrap_or_default();
        let mut all: Vec<Root> = Vec::new();
        for root in self.folders.iter().chain(&stored).filter_map(|it| root(it)) {
            if !all.iter().any(|known| known.uri == root.uri) {
                all.push(root);
            }
        }
        Ok(all)
    }
}

/// Whether a value is one for the setting: absolute folders, or folders in the home folder (`~/…`).
pub(crate) fn fits(value: &Value) -> bool {
    value.as_array().is_some_and(|folders| {
        let fits = |folder: &Value| folder.as_str().and_then(resolved).is_some();
        folders.len() <= MAX_ROOTS && folders.iter().all(fits)
    })
}

fn folders(value: &Value) -> Vec<PathBuf> {
    let folders = value.as_array().into_iter().flatten();
    folders
        .filter_map(|folder| resolved(folder.as_str()?))
        .collect()
}

/// A folder as it is written in the setting.
fn resolved(folder: &str) -> Option<PathBuf> {
    let path = match folder.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = directories::BaseDirs::new()?;
            home.home_dir().join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(folder),
    };
    path.is_absolute().then_some(path)
}

fn root(folder: &Path) -> Option<Root> {
    let url = Url::from_directory_path(folder).ok()?;
    let mut root = Root::new(url.as_str().trim_end_matches('/'));
    root.name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Some(root)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn folders_are_absolute_or_in_the_home_folder() {
        for value in [json!([]), json!(["/work", "~", "~/notes"])] {
            assert!(fits(&value), "{value}");
        }
        for value in [
            json!("/work"),
            json!(["work"]),
            json!(["~ann/x"]),
            json!([1]),
        ] {
            assert!(!fits(&value), "{value}");
        }
    }

    #[test]
    fn a_root_is_a_url_whatever_the_folder_is_called() {
        let root = root(Path::new("/work/my notes #1")).unwrap();
        assert_eq!(root.uri, "file:///work/my%20notes%20%231");
        assert_eq!(root.name.as_deref(), Some("my notes #1"));
    }
}
