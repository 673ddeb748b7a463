//! Finds the program to start.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::TransportError;

#[cfg(unix)]
mod login;

/// A resolved program.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) path: PathBuf,
    /// The `PATH` that the program needs for its own helpers, if it was not found in the given one.
    pub(super) search_path: Option<OsString>,
}

/// The usual directories for developer tools, below the home directory.
const IN_HOME: [&str; 6] = [
    ".local/bin",
    ".cargo/bin",
    ".bun/bin",
    ".deno/bin",
    ".volta/bin",
    ".npm-global/bin",
];
/// The system-wide ones.
#[cfg(unix)]
const FOR_ALL: [&str; 5] = [
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/usr/bin",
    "/bin",
    "/snap/bin",
];
#[cfg(not(unix))]
const FOR_ALL: [&str; 0] = [];

/// Finds `program` as the child would: in the `PATH` of `env`, then in further directories.
pub(super) fn resolve(
    program: &str,
    env: &[(OsString, OsString)],
    cwd: Option<&Path>,
) -> Result<Resolved, TransportError> {
    let names = names(program, env);
    if Path::new(program).components().count() > 1 {
        let base = cwd
            .map(Path::to_owned)
            .or_else(|| env::current_dir().ok())
            .unwrap_or_default();
        let places: Vec<PathBuf> = names.iter().map(|name| base.join(name)).collect();
        return match places.iter().find(|place| is_program(place)) {
            Some(path) => Ok(Resolved {
                path: path.clone(),
                search_path: None,
            }),
            None => Err(not_found(program, places)),
        };
    }
    let path = variable(env, "PATH").unwrap_or_default();
    let mut searched: Vec<PathBuf> = env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .collect();
    if let Some(path) = find(&searched, &names) {
        return Ok(Resolved {
            path,
            search_path: None,
        });
    }
    let home = variable(env, "HOME").or_else(|| variable(env, "USERPROFILE"));
    let usual = home
        .into_iter()
        .flat_map(|home| IN_HOME.map(|dir| Path::new(home).join(dir)));
    let usual: Vec<PathBuf> = usual.chain(FOR_ALL.map(PathBuf::from)).collect();
    #[cfg(unix)]
    let sources: [&dyn Fn() -> Vec<PathBuf>; 2] = [&|| usual.clone(), &login::search_path];
    #[cfg(not(unix))]
    let sources: [&dyn Fn() -> Vec<PathBuf>; 1] = [&|| usual.clone()];
    for source in sources {
        for dir in source() {
            if !searched.contains(&dir) {
                searched.push(dir);
            }
        }
        if let Some(path) = find(&searched, &names) {
            let search_path = env::join_paths(&searched).ok();
            return Ok(Resolved { path, search_path });
        }
    }
    Err(not_found(program, searched))
}

/// The possible file names of a program.
fn names(program: &str, env: &[(OsString, OsString)]) -> Vec<OsString> {
    let plain = OsString::from(program);
    if cfg!(not(windows)) {
        return vec![plain];
    }
    let known = variable(env, "PATHEXT")
        .and_then(OsStr::to_str)
        .unwrap_or(".COM;.EXE;.BAT;.CMD");
    let endings = known.split(';').filter(|ending| ending.starts_with('.'));
    let with_ending = endings
        .clone()
        .map(|ending| OsString::from(format!("{program}{ending}")));
    // A name that already has such an extension is tried unchanged first.
    let lower = program.to_lowercase();
    let has_ending = endings
        .clone()
        .any(|ending| lower.ends_with(&ending.to_lowercase()));
    let itself = has_ending.then_some(plain);
    itself.into_iter().chain(with_ending).collect()
}

fn find(dirs: &[PathBuf], names: &[OsString]) -> Option<PathBuf> {
    let places = dirs
        .iter()
        .flat_map(|dir| names.iter().map(|name| dir.join(name)));
    places.into_iter().find(|place| is_program(place))
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}

/// Compares names as the system does.
fn variable<'a>(env: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    let is_it = |key: &OsStr| match cfg!(windows) {
        true => key.eq_ignore_ascii_case(name),
        false => key == name,
    };
    let mut found = env.iter().filter(|(key, _)| is_it(key));
    found.next_back().map(|(_, value)| value.as_os_str())
}

fn not_found(program: &str, searched: Vec<PathBuf>) -> TransportError {
    TransportError::NotFound {
        program: program.to_owned(),
        searched: searched
            .iter()
            .map(|place| place.display().to_string())
            .collect(),
    }
}
