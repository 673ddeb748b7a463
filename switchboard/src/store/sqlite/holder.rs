//! Which processes that share a file still run: each holds a lock on a file of its own, which the
//! operating system frees when the process ends, however it ends.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use fs4::FileExt;
use rusqlite::Connection;

use crate::home::private;
use crate::store::error::StoreError;
use crate::store::id::HolderId;
use crate::store::sqlite::table::execute;

/// This process among those that share a file.
#[derive(Debug)]
pub(super) struct Holders {
    id: HolderId,
    /// Where the files are; a store in memory has none.
    folder: Option<PathBuf>,
    /// This process's own file, once it is locked.
    lock: Option<File>,
}

impl Holders {
    pub(super) fn of(database: Option<&Path>) -> Self {
        let folder = database.map(|path| {
            let mut folder = path.as_os_str().to_owned();
            folder.push(".holders");
            PathBuf::from(folder)
        });
        Self {
            id: HolderId::fresh(),
            folder,
            lock: None,
        }
    }

    pub(super) fn id(&self) -> &HolderId {
        &self.id
    }

    /// Makes this process known before it acquires its first lease, and frees what dead ones held.
    /// Where files cannot be locked, others find out by the lease's time-out.
    pub(super) fn enter(&mut self, connection: &Connection) -> Result<(), StoreError> {
        if self.lock.is_some() {
            return Ok(());
        }
        let (Some(folder), Some(file)) = (&self.folder, self.file(&self.id)) else {
            return Ok(());
        };
        self.lock = lock_own(folder, &file);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(holder) = name.to_str().and_then(|name| name.strip_suffix(".lock")) else {
                continue;
            };
            let holder = HolderId::new(holder);
            if holder != self.id && self.is_dead(&holder) {
                let sql = "DELETE FROM leases WHERE holder = ?";
                execute(connection, sql, [holder.as_str()])?;
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Whether a process is known not to run any more.
    pub(super) fn is_dead(&self, holder: &HolderId) -> bool {
        let Some(file) = self.file(holder).filter(|_| *holder != self.id) else {
            return false;
        };
        // One that cannot be opened, or is not there, says nothing.
        let Ok(file) = private().read(true).write(true).open(file) else {
            return false;
        };
        FileExt::try_lock(&file).is_ok()
    }

    /// Frees what this process holds, since it closes the store.
    pub(super) fn leave(&mut self, connection: &Connection) {
        let sql = "DELETE FROM leases WHERE holder = ?";
        let freed = execute(connection, sql, [self.id.as_str()]);
        let locked = self.lock.take().is_some();
        // If its leases are still stored, its file shows that it is gone.
        if let (Ok(_), true, Some(file)) = (freed, locked, self.file(&self.id)) {
            let _ = fs::remove_file(file);
        }
    }

    fn file(&self, holder: &HolderId) -> Option<PathBuf> {
        let name = holder.as_str();
        let is_ours = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let folder = self.folder.as_ref().filter(|_| is_ours)?;
        Some(folder.join(format!("{name}.lock")))
    }
}

/// Makes a file that is locked from the moment it has its name.
fn lock_own(folder: &Path, file: &Path) -> Option<File> {
    fs::create_dir_all(folder).ok()?;
    let draft = file.with_extension("new");
    let mut options = private();
    options.create(true).write(true).truncate(true);
    let locked = options.open(&draft).ok()?;
    FileExt::try_lock(&locked).ok()?;
    fs::rename(&draft, file).ok()?;
    Some(locked)
}
