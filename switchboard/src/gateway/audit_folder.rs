//! The folder of the audit log: which files are in it, and how many are kept.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use fs4::FileExt;

use super::audit_file::Anchor;
use super::records::{self, Kind};
use crate::home;
use crate::store::Change;

/// The number of files that are kept, beside those that are being written.
const MAX_FILES: usize = 500;
/// How large all files together may be.
const MAX_TOTAL: u64 = 2 * 1024 * 1024 * 1024;

/// The folder of the audit log.
pub(crate) fn folder() -> PathBuf {
    home::folder().join("audit")
}

/// The files of the audit log, oldest first.
pub(crate) fn files() -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// How many of the oldest files, by their sizes, are too many.
fn surplus(sizes: &[u64]) -> usize {
    let mut total = 0_u64;
    let fits = |size: &&u64| {
        total = total.saturating_add(**size);
        total <= MAX_TOTAL
    };
    let kept = sizes.iter().rev().take(MAX_FILES).take_while(fits);
    sizes.len() - kept.count()
}

/// Removes the oldest files beyond the bounds. A file that a process still writes to stays, however
/// old it is. Returns what the store is to forget.
pub(crate) fn prune() -> Vec<Change> {
    let files = files().unwrap_or_default();
    let size = |file: &PathBuf| fs::metadata(file).map_or(0, |it| it.len());
    let sizes: Vec<u64> = files.iter().map(size).collect();
    let removed = remove_oldest(&files, surplus(&sizes)).into_iter();
    removed
        .map(|file| records::delete(Kind::Anchor, &file))
        .collect()
}

/// Removes this many files that no process writes to, and returns their names.
fn remove_oldest(files: &[PathBuf], count: usize) -> Vec<String> {
    let unused = files.iter().filter(|file| !is_written(file));
    let removed = unused.take(count).filter(|file| {
        let _ = fs::remove_file(lock_of(file));
        fs::remove_file(file).is_ok()
    });
    removed.map(|file| name(file)).collect()
}

/// The file that is locked for as long as a process writes to the other one.
pub(super) fn lock_of(file: &Path) -> PathBuf {
    file.with_extension("lock")
}

fn is_written(file: &Path) -> bool {
    match File::open(lock_of(file)) {
        Ok(lock) => FileExt::try_lock(&lock).is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// What the store is to know of files, and no more of those that are removed: with each that ends,
/// the oldest ones may be too many.
pub(crate) fn changes(anchors: &BTreeMap<String, Anchor>) -> Vec<Change> {
    let known = anchors.iter();
    let mut changes: Vec<Change> = known
        .map(|(file, anchor)| records::put(Kind::Anchor, file, anchor))
        .collect();
    if anchors.values().any(|anchor| anchor.ended) {
        changes.extend(prune());
    }
    changes
}

/// The name of a file, by which its anchor is stored.
pub(crate) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A lock file that is locked; nothing where files cannot be locked.
pub(super) fn locked(path: &Path) -> Option<File> {
    let lock = home::private().append(true).create_new(true).open(path);
    let lock = lock.ok()?;
    FileExt::try_lock(&lock).ok()?;
    Some(lock)
}

#[cfg(test)]
mod tests {
    use super::super::audit_file::MAX_FILE;
    use super::*;

    #[test]
    fn the_newest_files_are_kept_within_their_number_and_their_size() {
        assert_eq!(surplus(&[]), 0);
        assert_eq!(surplus(&[1; MAX_FILES]), 0);
        assert_eq!(surplus(&[1; MAX_FILES + 3]), 3);
        assert_eq!(surplus(&[MAX_TOTAL, MAX_TOTAL / 2, MAX_TOTAL / 2]), 1);
        assert_eq!(
            surplus(&[MAX_FILE; 40]),
            40 - (MAX_TOTAL / MAX_FILE) as usize
        );
    }

    #[test]
    fn the_oldest_files_go_but_none_that_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let names = ["1.jsonl", "2.jsonl", "3.jsonl", "4.jsonl"];
        let files: Vec<PathBuf> = names.iter().map(|name| file(name)).collect();
        for path in &files {
            fs::write(path, "").unwrap();
        }
        // The first is being written; the writer of the second was killed.
        let _writing = locked(&lock_of(&files[0])).unwrap();
        drop(locked(&lock_of(&files[1])).unwrap());
        assert_eq!(remove_oldest(&files, 2), ["2.jsonl", "3.jsonl"]);
        let left: Vec<bool> = files.iter().map(|path| path.exists()).collect();
        assert_eq!(left, [true, false, false, true]);
        assert!(!lock_of(&files[1]).exists());
    }
}
