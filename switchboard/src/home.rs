//! Paths and environment of the program on this machine.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::gateway::records::is_record;
use crate::serve::is_answer;
use crate::store::{LEASE_TIMEOUT, Limits, SqliteStore, Store, StoreError, UserId};

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

/// Where the store is: as given, by `SWITCHBOARD_DATABASE`, or the default file. A PostgreSQL
/// database is given by its URL.
fn database(named: Option<&Path>) -> PathBuf {
    let named = named.map(Path::to_owned);
    let named = named.or_else(|| environment("SWITCHBOARD_DATABASE").map(PathBuf::from));
    named.unwrap_or_else(default_file)
}

fn default_file() -> PathBuf {
    folder().join("switchboard.db")
}

/// Where the store is.
pub(crate) fn named_database(named: Option<&Path>) -> PathBuf {
    database(named)
}

/// Where the store is, as it may be shown: without a password.
pub fn shown_database(named: Option<&Path>) -> String {
    let database = database(named);
    match postgres_url(&database) {
        Some(url) => crate::store::without_password(url),
        None => database.display().to_string(),
    }
}

/// The file beside which the program keeps what is not in the store: the store's own, or the
/// default one if the store is in a PostgreSQL database.
pub fn database_file(named: Option<&Path>) -> PathBuf {
    let database = database(named);
    match postgres_url(&database) {
        Some(_) => default_file(),
        None => database,
    }
}

/// The address of a PostgreSQL database, if that is what names the store.
pub(crate) fn postgres_url(database: &Path) -> Option<&str> {
    let schemes = ["postgres://", "postgresql://"];
    let url = database.to_str()?;
    let is_url = schemes.iter().any(|scheme| url.starts_with(scheme));
    is_url.then_some(url)
}

/// Opens the store.
///
/// # Errors
/// If it cannot be opened.
pub async fn store(named: Option<&Path>) -> Result<Arc<dyn Store>, StoreError> {
    store_with(named, LEASE_TIMEOUT).await
}

/// Opens the store, for a process whose conversations others may take over once it is silent for
/// this long. Only a PostgreSQL database can be shared so.
///
/// # Errors
/// If it cannot be opened.
pub async fn store_with(
    named: Option<&Path>,
    lease_timeout: Duration,
) -> Result<Arc<dyn Store>, StoreError> {
    let database = database(named);
    Ok(match postgres_url(&database) {
        #[cfg(feature = "postgres")]
        Some(url) => {
            let limits = crate::store::PostgresLimits::default().with_lease_timeout(lease_timeout);
            Arc::new(crate::store::PostgresStore::open(url, limits).await?)
        }
        #[cfg(not(feature = "postgres"))]
        Some(url) => {
            let _ = lease_timeout;
            return Err(without_postgres(url));
        }
        None => Arc::new(SqliteStore::open(database, Limits::default()).await?),
    })
}

/// Why a PostgreSQL database cannot be opened by this build.
#[cfg(not(feature = "postgres"))]
pub(crate) fn without_postgres(url: &str) -> StoreError {
    let source =
        "this switchboard was built without PostgreSQL: build it with `--features postgres`";
    StoreError::Open {
        path: crate::store::without_password(url).into(),
        source: source.into(),
    }
}

/// The settings of a user, by key, without the gateway's records and answers of logins on their way.
///
/// # Errors
/// If the store cannot be read.
pub async fn settings(
    store: &dyn Store,
    user: &UserId,
) -> Result<BTreeMap<String, Value>, StoreError> {
    let rows = store.settings(user).await?;
    let is_shown = |key: &str| !is_record(key) && !is_answer(key);
    let rows = rows.into_iter().filter(|row| is_shown(&row.key));
    Ok(rows.map(|row| (row.key, row.value)).collect())
}

/// The setting of the language, read without opening the store: even help is in that language. A
/// PostgreSQL database is asked once it is open.
pub(crate) fn language() -> Option<String> {
    let file = database(None);
    match postgres_url(&file) {
        Some(_) => None,
        None => crate::store::peek_setting(&file, &UserId::local(), crate::lang::SETTING),
    }
}

/// An environment variable that is set and not empty.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
