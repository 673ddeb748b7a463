//! Secrets in files that only their owner can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use fs4::{FileExt, TryLockError};
use mcp_transport::{BoxError, Secret};
use ring::digest::{SHA256, digest};

use crate::random::unguessable;
use crate::store::{StoreLock, TokenStore};

/// The interval between attempts to get a lock.
const PAUSE: Duration = Duration::from_millis(20);

/// Keeps each value in a separate file, readable by its owner only (mode 0600 in a directory of mode 0700), replaced as
/// a whole, and locked across processes.
///
/// The values are not encrypted: anyone who can read the owner's files can read them. See `KeyringStore` (feature
/// `keyring`) for encrypted files.
#[derive(Clone, Debug)]
pub struct FileStore {
    directory: PathBuf,
}

impl FileStore {
    /// Creates a store in this directory, which is created on first use.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// The file of a name. Names are hashed, because they contain slashes and colons and have any length.
    fn path(&self, name: &str, suffix: &str) -> PathBuf {
        let digest = digest(&SHA256, name.as_bytes());
        let hash: String = digest
            .as_ref()
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.directory.join(format!("{hash}.{suffix}"))
    }
}

#[async_trait]
impl TokenStore for FileStore {
    async fn load(&self, name: &str) -> Result<Option<Secret>, BoxError> {
        let path = self.path(name, "secret");
        blocking(move || match fs::read(&path) {
            // A file that is not text was not written by us.
            Ok(bytes) => Ok(String::from_utf8(bytes).ok().map(Secret::new)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    async fn save(&self, name: &str, value: &Secret) -> Result<(), BoxError> {
        let (path, value) = (self.path(name, "secret"), value.clone());
        let fresh = self.path(name, &format!("{}.new", unguessable()?));
        blocking(move || replace(&path, &fresh, value.expose().as_bytes())).await
    }

    async fn remove(&self, name: &str) -> Result<(), BoxError> {
        let path = self.path(name, "secret");
        blocking(move || match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
        .await
    }

    async fn lock(&self, name: &str) -> Result<StoreLock, BoxError> {
        let path = self.path(name, "lock");
        let file = blocking(move || {
            make_directory(&path)?;
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            private(&mut options).open(&path)
        })
        .await?;
        loop {
            match FileExt::try_lock(&file) {
                Ok(()) => return Ok(StoreLock::new(Held(file))),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    }
}

/// A locked file. The file itself remains: removing it would let two processes lock two files.
struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = FileExt::unlock(&self.0);
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, BoxError> {
    Ok(tokio::task::spawn_blocking(work).await??)
}

/// Writes to a temporary file, then renames it.
fn replace(path: &Path, fresh: &Path, value: &[u8]) -> io::Result<()> {
    make_directory(path)?;
    let written = write_new(fresh, value).and_then(|()| fs::rename(fresh, path));
    if written.is_err() {
        let _ = fs::remove_file(fresh);
    }
    written?;
    // A refresh token that was used cannot be used again: the new one must survive a power failure.
    #[cfg(unix)]
    if let Some(directory) = path.parent() {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

fn write_new(path: &Path, value: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = private(&mut options).open(path)?;
    file.write_all(value)?;
    file.sync_all()
}

fn make_directory(path: &Path) -> io::Result<()> {
    let Some(directory) = path.parent() else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Readable by the owner only. On Windows the user's profile directory already is.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
