//! A profile to suggest for a command, for a person's approval. Pure except for the check what a path is.

use std::path::{Path, PathBuf};

use mcp_transport::ServerCommand;

use crate::plan::{FileAccess, is_system};
use crate::profile::{Network, Profile};

/// The kind of a path, as far as suggestions depend on it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PathKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// It does not exist.
    Missing,
}

/// A suggested rule, for a person's approval.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The file or the folder.
    pub path: PathBuf,
    /// The access it would allow.
    pub access: FileAccess,
    /// The reason, for people.
    pub reason: String,
}

/// Names of scripts, which a server only reads.
const SCRIPTS: [&str; 8] = ["js", "mjs", "cjs", "ts", "py", "pyz", "jar", "rb"];

/// Launchers that download what they run. From where, their own configuration says.
const LAUNCHERS: [&str; 7] = ["npx", "bunx", "pnpm", "uvx", "uv", "pipx", "dnx"];

/// Suggests a profile under which a command probably works, with the reasons why it allows more than
/// [`Profile::for_command`]. `kind` returns the kind of a path.
///
/// A folder among the arguments becomes writable; a file beside which others may be written (a database) makes its
/// folder writable; a script becomes readable with everything installed around it. What is the system's is readable
/// anyway, and nothing of it becomes writable.
pub fn suggest(
    command: &ServerCommand,
    kind: impl Fn(&Path) -> PathKind,
) -> (Profile, Vec<Suggestion>) {
    let mut profile = Profile::for_command(command);
    let mut suggestions: Vec<Suggestion> = Vec::new();
    let args = command.args().iter().map(|arg| arg.expose());
    let values = args.map(|arg| match arg.split_once('=') {
        Some((name, value)) if name.starts_with('-') => value,
        _ => arg,
    });
    for value in values {
        let base = command.cwd().unwrap_or(Path::new(""));
        let path = base.join(value);
        let Some(suggestion) = for_path(&path, &kind) else {
            continue;
        };
        let list = match suggestion.access {
            FileAccess::Read => &mut profile.read,
            _ => &mut profile.write,
        };
        if !list.contains(&suggestion.path) {
            list.push(suggestion.path.clone());
            suggestions.push(suggestion);
        }
    }
    let program = Path::new(command.program()).file_stem();
    if LAUNCHERS
        .iter()
        .any(|name| program.is_some_and(|it| it == *name))
    {
        profile.network = Network::All;
        // Launchers set the permissions of what they install.
        profile.may_change_attributes = true;
    }
    (profile, suggestions)
}

fn for_path(path: &Path, kind: &impl Fn(&Path) -> PathKind) -> Option<Suggestion> {
    let is_path = path.is_absolute() && path.components().count() > 1;
    if !is_path || is_system(path) {
        return None;
    }
    let suggestion = |path: &Path, access, reason: String| Suggestion {
        path: path.to_path_buf(),
        access,
        reason,
    };
    let shown = path.display();
    let is_script = path
        .extension()
        .is_some_and(|end| SCRIPTS.iter().any(|script| end == *script));
    match kind(path) {
        PathKind::Folder => {
            let reason = format!("the arguments name the folder {shown}");
            Some(suggestion(path, FileAccess::Write, reason))
        }
        PathKind::File if is_script => {
            let package = path
                .ancestors()
                .filter(|folder| folder.ends_with("node_modules"))
                .last();
            let root = package
                .or_else(|| path.parent())
                .filter(|it| is_deep(it))
                .unwrap_or(path);
            let reason = format!("the arguments name the script {shown}");
            Some(suggestion(root, FileAccess::Read, reason))
        }
        PathKind::File | PathKind::Missing => {
            let folder = path
                .parent()
                .filter(|folder| kind(folder) == PathKind::Folder)?;
            let reason = format!("the arguments name the file {shown}");
            let root = if is_deep(folder) { folder } else { path };
            let exists = kind(path) == PathKind::File;
            (exists || root == folder).then(|| suggestion(root, FileAccess::Write, reason))
        }
    }
}

/// Whether a folder is neither the root nor one of its folders nor, by its depth, a home.
fn is_deep(folder: &Path) -> bool {
    folder.components().count() > 3
}
