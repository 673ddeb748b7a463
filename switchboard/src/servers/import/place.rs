//! Locations of other programs' server files.

use std::path::{Path, PathBuf};

use mcp_config::{Base, Dialect, Location};

/// A file that may have servers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    /// The program it belongs to; detected from its text if `None`.
    pub(crate) dialect: Option<Dialect>,
    pub(crate) scope: Scope,
}

/// Whose servers a file has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Scope {
    /// The user's own.
    User,
    /// A project's: its author may be a stranger.
    Project,
    /// What a user's file keeps for one project folder.
    UserForProject(String),
}

/// The biggest file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

impl Place {
    /// What the file says.
    pub(crate) fn read(&self) -> std::io::Result<String> {
        let mut text = String::new();
        let file = std::fs::File::open(&self.path)?;
        // One more than may be, to see that there is more.
        let mut most = std::io::Read::take(file, MAX_FILE_BYTES + 1);
        let read = std::io::Read::read_to_string(&mut most, &mut text);
        if most.limit() == 0 {
            let text = format!("it is bigger than {} MiB", MAX_FILE_BYTES >> 20);
            return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, text));
        }
        read?;
        Ok(text)
    }

    fn new(path: impl Into<PathBuf>, dialect: Dialect, scope: Scope) -> Self {
        Self {
            path: path.into(),
            dialect: Some(dialect),
            scope,
        }
    }
}

/// The files that the user names. Naming one is asking for it: its servers are the user's own,
/// unless the file is one that a project brings along.
pub(crate) fn named(files: &[PathBuf]) -> Vec<Place> {
    let place = |path: &PathBuf| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let scope = match of_project(&path) && !is_users(&path) {
            true => Scope::Project,
            false => Scope::User,
        };
        Place {
            path,
            dialect: None,
            scope,
        }
    };
    files.iter().map(place).collect()
}

/// The places of all programs, each with whose it is.
fn locations() -> impl Iterator<Item = (Dialect, Location)> {
    let all = Dialect::ALL.iter();
    all.flat_map(|dialect| dialect.locations().iter().map(|place| (*dialect, *place)))
}

/// Those of a project, which has them for the programs that work on it.
fn of_projects() -> impl Iterator<Item = (Dialect, Location)> {
    locations().filter(|(_, place)| place.base == Base::Project)
}

fn of_project(path: &Path) -> bool {
    of_projects().any(|(_, place)| path.ends_with(place.path))
}

/// Whether it is one of the user's own files, by any way that leads there.
fn is_users(path: &Path) -> bool {
    let Some(dirs) = directories::BaseDirs::new() else {
        return false;
    };
    let mut places = Vec::new();
    of_user(
        dirs.home_dir(),
        dirs.config_dir(),
        Path::new(""),
        &mut places,
    );
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let path = real(path);
    places.iter().any(|place| real(&place.path) == path)
}

/// The files that are usually there, in the order they count: the user's own first, then those
/// of the project in `folder`.
pub(crate) fn usual(folder: &Path) -> Vec<Place> {
    let mut places = Vec::new();
    if let Some(dirs) = directories::BaseDirs::new() {
        of_user(dirs.home_dir(), dirs.config_dir(), folder, &mut places);
    }
    for (dialect, place) in of_projects() {
        let path = folder.join(place.path);
        // In the user's home the user's own files are no project's.
        if places.iter().all(|place: &Place| place.path != path) {
            places.push(Place::new(path, dialect, Scope::Project));
        }
    }
    places.retain(|place| place.path.is_file());
    places
}

/// The file in which a program keeps its servers: the user's own, or that of the project in
/// `folder`. Of several, the first that is there. `None` if the program has no such file.
pub(crate) fn of_client(dialect: Dialect, folder: Option<&Path>) -> Option<Place> {
    let mut places = Vec::new();
    if let Some(folder) = folder {
        let own = of_projects().filter(|(whose, _)| *whose == dialect);
        let place = |(_, place): (_, Location)| folder.join(place.path);
        places.extend(own.map(|it| Place::new(place(it), dialect, Scope::Project)));
    } else if let Some(dirs) = directories::BaseDirs::new() {
        of_user(
            dirs.home_dir(),
            dirs.config_dir(),
            Path::new(""),
            &mut places,
        );
        places.retain(|place| place.dialect == Some(dialect) && place.scope == Scope::User);
    }
    let there = places.iter().find(|place| place.path.is_file()).cloned();
    there.or_else(|| places.into_iter().next())
}

fn of_user(home: &Path, config: &Path, folder: &Path, places: &mut Vec<Place>) {
    for (dialect, place) in locations() {
        let path = match place.base {
            Base::Home => home.join(place.path),
            Base::Config => config.join(place.path),
            _ => continue,
        };
        places.push(Place::new(path, dialect, Scope::User));
    }
    let folder = Scope::UserForProject(folder.to_string_lossy().into_owned());
    places.push(Place::new(
        home.join(".claude.json"),
        Dialect::ClaudeCode,
        folder,
    ));
}
