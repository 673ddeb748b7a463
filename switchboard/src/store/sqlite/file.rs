//! The file, for its owner only.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Makes the file and its folder if they are not there, and closes the file to others. SQLite
/// gives its log beside the file the same permissions. On Windows the user's own folders are
/// closed to others already.
pub(super) fn prepare(path: &Path) -> io::Result<()> {
    let mut folder = DirBuilder::new();
    folder.recursive(true);
    let mut file = OpenOptions::new();
    file.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        folder.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        folder.create(parent)?;
    }
    drop(file.open(path)?);
    crate::home::close_to_others(path)?;
    Ok(())
}
