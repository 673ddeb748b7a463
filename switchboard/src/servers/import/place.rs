//! Locations of other programs' server files.

use std::path::{Path, PathBuf};

use mcp_config::Dialect;

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
        std::io::Read::read_to_string(&mut std::io::Read::take(file, MAX_FILE_BYTES), &mut text)?;
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

/// The files that a project has for the programs that work on it.
const OF_PROJECT: [(&str, Dialect); 8] = [
    (".mcp.json", Dialect::ClaudeCode),
    (".vscode/mcp.json", Dialect::VsCode),
    (".cursor/mcp.json", Dialect::Cursor),
    (".codex/config.toml", Dialect::Codex),
    (".gemini/settings.json", Dialect::Gemini),
    ("opencode.json", Dialect::OpenCode),
    ("opencode.jsonc", Dialect::OpenCode),
    (".zed/settings.json", Dialect::Zed),
];

fn of_project(path: &Path) -> bool {
    OF_PROJECT.iter().any(|(end, _)| path.ends_with(end))
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
    let mut project = |path: &str, dialect| {
        let path = folder.join(path);
        // In the user's home the user's own files are no project's.
        if places.iter().all(|place: &Place| place.path != path) {
            places.push(Place::new(path, dialect, Scope::Project));
        }
    };
    for (path, dialect) in OF_PROJECT {
        project(path, dialect);
    }
    places.retain(|place| place.path.is_file());
    places
}

/// The file in which a program keeps its servers: the user's own, or that of the project in
/// `folder`. Of several, the first that is there. `None` if the program has no such file.
pub(crate) fn of_client(dialect: Dialect, folder: Option<&Path>) -> Option<Place> {
    let mut places = Vec::new();
    if let Some(folder) = folder {
        let own = OF_PROJECT.iter().filter(|(_, whose)| *whose == dialect);
        places.extend(own.map(|(end, _)| Place::new(folder.join(end), dialect, Scope::Project)));
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
    let mut add = |path: PathBuf, dialect| places.push(Place::new(path, dialect, Scope::User));
    // On every system the folder is the one the platform has for configuration.
    add(
        config.join("Claude/claude_desktop_config.json"),
        Dialect::ClaudeDesktop,
    );
    add(home.join(".claude.json"), Dialect::ClaudeCode);
    add(home.join(".cursor/mcp.json"), Dialect::Cursor);
    for code in ["Code", "Code - Insiders"] {
        let user = config.join(code).join("User");
        add(user.join("mcp.json"), Dialect::VsCode);
        add(user.join("settings.json"), Dialect::VsCode);
        let cline = "globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
        add(user.join(cline), Dialect::Cline);
    }
    add(home.join(".codex/config.toml"), Dialect::Codex);
    add(home.join(".gemini/settings.json"), Dialect::Gemini);
    for name in ["opencode.json", "opencode.jsonc"] {
        // It has its folder there on every system.
        add(home.join(".config/opencode").join(name), Dialect::OpenCode);
    }
    add(
        home.join(".codeium/windsurf/mcp_config.json"),
        Dialect::Windsurf,
    );
    let zed = match cfg!(windows) {
        true => config.join("Zed/settings.json"),
        false => home.join(".config/zed/settings.json"),
    };
    add(zed, Dialect::Zed);
    let folder = Scope::UserForProject(folder.to_string_lossy().into_owned());
    places.push(Place::new(
        home.join(".claude.json"),
        Dialect::ClaudeCode,
        folder,
    ));
}
