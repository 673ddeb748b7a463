//! The files of a program: the targets of its links, and the interpreters it names.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::plan::ProgramFiles;

/// Links and interpreters that are followed.
const MAX_FILES: usize = 16;
const FIRST_LINE: u64 = 256;

pub(super) fn files(program: &Path) -> ProgramFiles {
    let mut files = Vec::new();
    let mut next = vec![program.to_path_buf()];
    while let Some(file) = next.pop() {
        if files.len() >= MAX_FILES || files.contains(&file) {
            continue;
        }
        if let Ok(target) = fs::read_link(&file) {
            let folder = file.parent().unwrap_or(Path::new("/"));
            next.push(normal(&folder.join(target)));
        } else {
            next.extend(interpreter(&file));
        }
        next.extend(file.canonicalize().ok());
        files.push(file);
    }
    ProgramFiles { files }
}

/// The interpreter on a script's first line, and the one that `env` would find.
fn interpreter(file: &Path) -> Vec<PathBuf> {
    let mut head = Vec::new();
    let read = File::open(file).and_then(|file| file.take(FIRST_LINE).read_to_end(&mut head));
    let line = match (read, head.strip_prefix(b"#!")) {
        (Ok(_), Some(line)) => String::from_utf8_lossy(line).into_owned(),
        _ => return Vec::new(),
    };
    let mut words = line.lines().next().unwrap_or_default().split_whitespace();
    let Some(first) = words.next() else {
        return Vec::new();
    };
    let by_env = Path::new(first)
        .file_name()
        .is_some_and(|name| name == "env");
    let name = words.find(|word| !word.starts_with('-'));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = name.filter(|_| by_env).and_then(|name| {
        std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    });
    found.into_iter().chain([first.into()]).collect()
}

/// A path without `.` and `..`, as far as its text shows.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            std::path::Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}
