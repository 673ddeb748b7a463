//! The files of a program: the targets of its links, and the interpreters it names.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::reach::Reach;
use crate::plan::{self, ProgramFiles};

/// Links and interpreters that are followed.
const MAX_FILES: usize = 16;
const FIRST_LINE: u64 = 256;
/// Entries of a folder of libraries that are looked at.
const MAX_ENTRIES: usize = 1000;

/// What a program is made of, as far as the server cannot decide it: what it may write says nothing
/// about what else it may read when it starts the next time.
pub(super) fn files(program: &Path, reach: &Reach) -> ProgramFiles {
    let mut all = ProgramFiles::default();
    let mut next = vec![program.to_path_buf()];
    while let Some(file) = next.pop() {
        if all.files.len() >= MAX_FILES || all.files.contains(&file) {
            continue;
        }
        let Some(real) = reach.resolve(&file) else {
            continue;
        };
        if let Ok(target) = fs::read_link(&file) {
            let folder = file.parent().unwrap_or(Path::new("/"));
            next.push(normal(&folder.join(target)));
        } else if !reach.writes(&real) {
            next.extend(interpreter(&file));
        }
        let above = [&file, &real].into_iter().filter_map(|it| plan::prefix(it));
        let found = above.filter(|prefix| is_installation(prefix));
        all.installations.extend(found.map(Path::to_path_buf));
        next.push(real);
        all.files.push(file);
    }
    all
}

/// Whether a folder is recognisably where one language, or the versions of one, are installed.
fn is_installation(prefix: &Path) -> bool {
    let has = |below: &str| prefix.join(below).exists();
    // A virtual environment, Node, Homebrew, versions of anything behind shims, Java, Ruby.
    let marks = [
        "pyvenv.cfg",
        "lib/node_modules/npm",
        "include/node/node.h",
        "Cellar",
        "shims",
        "tools/image/node",
        "lib/modules",
        "lib/ruby",
    ];
    let library = |name: &OsStr| {
        let name = name.to_str().unwrap_or_default();
        name.starts_with("python") || name.starts_with("pypy")
    };
    marks.iter().any(|mark| has(mark))
        // Python with its own library: packages alone are also where a user's own files are.
        || fs::read_dir(prefix.join("lib")).is_ok_and(|entries| {
            let mut entries = entries.flatten().take(MAX_ENTRIES);
            entries.any(|it| library(&it.file_name()) && it.path().join("os.py").exists())
        })
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
