//! Paths and environment of the program on this machine.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::store::{Limits, SqliteStore, Store, StoreError, UserId};

/// The data folder: `SWITCHBOARD_HOME`, the platform's data directory, or a folder in the current
/// directory.
pub fn folder() -> PathBuf {
    if let Some(home) = environment("SWITCHBOARD_HOME") {
        return PathBuf::from(home);
    }
    let usual = directories::ProjectDirs::from("", "", "switchboard");
    let usual = usual.map(|usual| usual.data_dir().to_owned());
    usual.unwrap_or_else(|| PathBuf::from("switchboard-data"))
}

/// The folder of a user's server logs and tokens. The local user's is the data folder itself.
pub(crate) fn folder_of(user: &UserId) -> PathBuf {
    match *user == UserId::local() {
        true => folder(),
        false => folder().join(format!("user-{user}")),
    }
}

/// Options that create files readable by their owner only. On Windows the user's folders are
/// private already.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes an existing file readable by its owner only.
pub(crate) fn close_to_others(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mut permissions = match std::fs::metadata(path) {
            Ok(found) => found.permissions(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(0o600);
            std::fs::set_permissions(path, permissions)?;
        }
    }
    let _ = path;
    Ok(())
}

/// Path of the store's file: the given one, or the default.
pub fn database(named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| folder().join("switchboard.db"), Path::to_owned)
}

/// Opens the store.
///
/// # Errors
/// If it cannot be opened.
pub async fn store(named: Option<&Path>) -> Result<Arc<dyn Store>, StoreError> {
    let store = SqliteStore::open(database(named), Limits::default()).await?;
    Ok(Arc::new(store))
}

/// The settings of a user, by key.
///
/// # Errors
/// If the store cannot be read.
pub async fn settings(
    store: &dyn Store,
    user: &UserId,
) -> Result<BTreeMap<String, Value>, StoreError> {
    let rows = store.settings(user).await?;
    Ok(rows.into_iter().map(|row| (row.key, row.value)).collect())
}

/// An environment variable that is set and not empty.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
