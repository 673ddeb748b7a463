//! Where bundles are: `bundles/SERVER/VERSION-DIGEST`, a folder for each. One that is there is whole: it is
//! unpacked elsewhere and renamed. What a crash leaves is removed by the next installation.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs4::{FileExt, TryLockError};
use serde::{Deserialize, Serialize};

use crate::home;
use crate::store::{Server, ServerId, UserId};

const LOCK: &str = ".lock";
/// How the names of folders begin that are being unpacked.
const NEW: &str = ".new-";
/// How the names of files end that say what is not stored yet.
const PENDING: &str = ".pending";

/// The bundles of a user, while no one else installs one.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    /// The store that knows the servers: another one has others in the same folder.
    store: String,
    /// Released when it is dropped.
    _lock: File,
}

/// A bundle in its final folder whose server is not stored yet.
#[derive(Debug, Deserialize, Serialize)]
struct Pending {
    store: String,
    server: ServerId,
    folder: String,
}

/// The folder of a user's bundles.
pub(super) fn bundles(user: &UserId) -> PathBuf {
    let folder = home::folder_of(user).join("bundles");
    std::path::absolute(&folder).unwrap_or(folder)
}

/// The folder of a server's bundle.
pub(super) fn folder_of(user: &UserId, server: &ServerId, folder: &str) -> PathBuf {
    bundles(user)
        .join(plain(server.as_str()))
        .join(plain(folder))
}

/// The folder of the bundle that a server was installed from.
pub(crate) fn bundle_of(row: &Server) -> Option<PathBuf> {
    let folder = row.installed.as_ref()?.folder.as_deref()?;
    Some(folder_of(&row.user_id, &row.id, folder))
}

/// Removes the bundle that a server was installed from.
pub(crate) fn remove_bundle(row: &Server) -> io::Result<()> {
    gone(std::fs::remove_dir_all(
        bundles(&row.user_id).join(plain(row.id.as_str())),
    ))
}

/// A version and a digest as the name of a folder.
pub(super) fn folder_name(version: &str, sha256: &str) -> String {
    let digest: String = sha256.chars().take(12).collect();
    let version: String = version.chars().take(40).collect();
    plain(&format!("{version}-{digest}"))
}

impl Place {
    /// Takes the place, which may wait for another process that installs something.
    pub(super) fn take(user: &UserId, store: &str) -> io::Result<Self> {
        let folder = bundles(user);
        std::fs::create_dir_all(&folder)?;
        let options = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .to_owned();
        let lock = options.open(folder.join(LOCK))?;
        wait_for(&lock)?;
        Ok(Self {
            folder,
            store: store.to_owned(),
            _lock: lock,
        })
    }

    /// Removes what crashes left: folders that were being unpacked, and those whose server was not stored.
    pub(super) fn sweep(&self, rows: &[Server]) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(NEW) {
                std::fs::remove_dir_all(entry.path())?;
            } else if name.ends_with(PENDING) {
                let text = std::fs::read_to_string(entry.path())?;
                match serde_json::from_str::<Pending>(&text) {
                    Ok(pending) if pending.store != self.store => continue,
                    Ok(pending) => {
                        let row = rows.iter().find(|row| row.id == pending.server);
                        let installed = row.and_then(|row| row.installed.as_ref());
                        let kept = installed.and_then(|it| it.folder.as_deref());
                        self.keep_only(&pending.server, kept)?;
                    }
                    // It was not written to its end, so nothing was renamed.
                    Err(_) => {}
                }
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// An empty folder to unpack into.
    pub(super) fn fresh(&self) -> io::Result<PathBuf> {
        let folder = self
            .folder
            .join(format!("{NEW}{}", plain(ServerId::fresh().as_str())));
        std::fs::create_dir(&folder)?;
        Ok(folder)
    }

    /// Moves an unpacked folder to where its server will look for it, and notes that it is not stored yet.
    pub(super) fn put(&self, from: &Path, server: &ServerId, folder: &str) -> io::Result<()> {
        let of_server = self.folder.join(plain(server.as_str()));
        let pending = Pending {
            store: self.store.clone(),
            server: server.clone(),
            folder: folder.to_owned(),
        };
        std::fs::write(self.note(server), serde_json::to_vec(&pending)?)?;
        std::fs::create_dir_all(&of_server)?;
        let to = of_server.join(plain(folder));
        match to.exists() {
            // The same bundle again.
            true => std::fs::remove_dir_all(from),
            false => std::fs::rename(from, to),
        }
    }

    /// The server is as it is stored now, with this folder or without one: the others are removed.
    pub(super) fn settle(&self, server: &ServerId, folder: Option<&str>) -> io::Result<()> {
        self.keep_only(server, folder)?;
        gone(std::fs::remove_file(self.note(server)))
    }

    fn note(&self, server: &ServerId) -> PathBuf {
        self.folder
            .join(format!("{}{PENDING}", plain(server.as_str())))
    }

    fn keep_only(&self, server: &ServerId, kept: Option<&str>) -> io::Result<()> {
        let of_server = self.folder.join(plain(server.as_str()));
        let Some(kept) = kept.map(plain) else {
            return gone(std::fs::remove_dir_all(of_server));
        };
        let entries = match std::fs::read_dir(of_server) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_string_lossy() != kept.as_str() {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Waits for another process that installs something.
fn wait_for(lock: &File) -> io::Result<()> {
    const STEP: Duration = Duration::from_millis(50);
    const STEPS: u32 = 2400;
    for _ in 0..STEPS {
        match FileExt::try_lock(lock) {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(STEP),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    let why = "another process has been installing something for two minutes";
    Err(io::Error::new(io::ErrorKind::TimedOut, why))
}

/// What is not there need not be removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A text as the name of a folder.
fn plain(text: &str) -> String {
    let sign = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "-._+".contains(c) => c,
        _ => '_',
    };
    let name: String = text.chars().map(sign).collect();
    match name.trim_matches('.') {
        "" => "_".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Installed, ServerKind};

    fn place(folder: &Path, store: &str) -> Place {
        let lock = File::create(folder.join(LOCK)).unwrap();
        Place {
            folder: folder.to_owned(),
            store: store.to_owned(),
            _lock: lock,
        }
    }

    fn there(folder: &Path) -> Vec<String> {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => {
                    let inner = there(&entry.path());
                    all.extend(inner.iter().map(|it| format!("{name}/{it}")));
                    if inner.is_empty() {
                        all.push(name);
                    }
                }
                false if name == LOCK => {}
                false => all.push(name),
            }
        }
        all.sort();
        all
    }

    #[test]
    fn what_a_crash_leaves_is_removed_and_what_is_stored_stays() {
        let folder = tempfile::tempdir().unwrap();
        let ours = place(folder.path(), "ours");
        let mut stored = Server::new(UserId::local(), "a", ServerKind::Stdio);
        stored.id = ServerId::new("stored");
        let unpacked = |name: &str| {
            let new = ours.fresh().unwrap();
            std::fs::write(new.join(name), name).unwrap();
            new
        };
        // A crash before the rename, one before the server was stored, one right after it.
        unpacked("half");
        let lost = ServerId::new("lost");
        ours.put(&unpacked("x"), &lost, "1-aa").unwrap();
        ours.put(&unpacked("old"), &stored.id, "1-aa").unwrap();
        ours.settle(&stored.id, Some("1-aa")).unwrap();
        ours.put(&unpacked("new"), &stored.id, "2-bb").unwrap();
        stored.installed = Some(Installed {
            folder: Some("2-bb".to_owned()),
            ..Installed::default()
        });
        // Another database's, which is in between.
        let theirs = place(folder.path(), "theirs");
        let other = ServerId::new("other");
        theirs.put(&unpacked("y"), &other, "1-cc").unwrap();

        ours.sweep(&[stored.clone()]).unwrap();
        let left = ["other.pending", "other/1-cc/y", "stored/2-bb/new"];
        assert_eq!(there(folder.path()), left);
        ours.sweep(&[stored]).unwrap();
        assert_eq!(there(folder.path()), left);
        theirs.sweep(&[]).unwrap();
        assert_eq!(there(folder.path()), ["stored/2-bb/new"]);
    }

    #[test]
    fn a_folders_name_leads_nowhere_else() {
        for (version, want) in [
            ("1.0.0", "1.0.0-abc"),
            ("../../x", "_.._x-abc"),
            ("..", "-abc"),
        ] {
            assert_eq!(folder_name(version, "abc"), want);
        }
    }
}
