//! Resolution of variables in server configurations.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp_config::{ConfigFile, Missing, Variable, Variables};
use mcp_manager::ServerConfig;

use super::entry::{answers, to_config};
use super::host::Host;
use crate::home;
use crate::models::find_key;
use crate::servers::doctor::{Finding, Problem};
use crate::store::{Server, StoredValue};

/// The longest value that is read from a file.
const LONGEST_VALUE: u64 = 64 << 10;

/// Values of variables on this machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookup {
    /// What the keyring has, by its names there.
    keyring: BTreeMap<String, String>,
    /// What the user answered.
    inputs: BTreeMap<String, String>,
    /// The folder of the project the server belongs to.
    folder: PathBuf,
    /// Whether only what is the user's own counts.
    own: bool,
}

impl Lookup {
    /// For the servers of a file, which may be a project's.
    pub(crate) fn of_file(file: &Path) -> Self {
        Self {
            folder: project(file),
            ..Self::default()
        }
    }

    /// For a stored server. What the keyring does not have is missing.
    async fn of_row(row: &Server, host: Host) -> Self {
        let mut lookup = match &row.source {
            Some(source) => Self::of_file(Path::new(source)),
            None => Self::of_file(Path::new("")),
        };
        lookup.own = host == Host::Forbidden;
        for id in keyring_ids(row) {
            let value = StoredValue::Keyring(id.clone());
            if let Ok(secret) = find_key(&value, &home::environment).await {
                lookup.keyring.insert(id, secret.expose().to_owned());
            }
        }
        for (id, value) in answers(row) {
            if let Ok(secret) = find_key(&value, &home::environment).await {
                lookup.inputs.insert(id, secret.expose().to_owned());
            }
        }
        lookup
    }
}

impl Variables for Lookup {
    fn get(&self, variable: Variable<'_>) -> Option<String> {
        match variable {
            Variable::Env(_) | Variable::Host(_) | Variable::File(_) if self.own => None,
            Variable::File(path) => self.file(path),
            Variable::Env(name) => home::environment(name),
            Variable::Input(id) => self.inputs.get(id).cloned(),
            Variable::Host("userHome") => home_folder(),
            Variable::Host("pathSeparator" | "/") => Some(std::path::MAIN_SEPARATOR.to_string()),
            Variable::Host("workspaceFolderBasename") => {
                Some(self.folder.file_name()?.to_string_lossy().into_owned())
            }
            // The folder, or `cwd`.
            Variable::Host(_) => Some(self.folder.to_string_lossy().into_owned()),
            Variable::Other(name) => self.keyring.get(name.strip_prefix("keyring:")?).cloned(),
            _ => None,
        }
    }

    fn env_file(&self, path: &str) -> Option<String> {
        if self.own {
            return None;
        }
        std::fs::read_to_string(self.folder.join(path)).ok()
    }
}

/// The entries of the keyring that a server refers to: in its values, its answers to its file's
/// questions, its arguments and its address.
pub(super) fn keyring_ids(row: &Server) -> Vec<String> {
    let values = row.env.values().chain(row.headers.values()).cloned();
    let values = values.chain(answers(row).map(|(_, value)| value));
    let named = values.filter_map(|value| match value {
        StoredValue::Keyring(id) => Some(id),
        StoredValue::Plain(_) | StoredValue::Env(_) | StoredValue::PrivateFile(_) => None,
    });
    let texts = row.args.iter().chain(&row.base_url);
    let within = texts.flat_map(|text| {
        let pieces = text.split("${keyring:").skip(1);
        pieces.filter_map(|piece| Some(piece.split_once('}')?.0.to_owned()))
    });
    named.chain(within).collect()
}

impl Lookup {
    /// What a file holds, without the white space around it. Files of megabytes are no values.
    fn file(&self, path: &str) -> Option<String> {
        let path = match path.strip_prefix("~/") {
            Some(rest) => PathBuf::from(home_folder()?).join(rest),
            None => self.folder.join(path),
        };
        let mut text = String::new();
        let file = std::fs::File::open(path).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut file = std::io::Read::take(file, LONGEST_VALUE);
        std::io::Read::read_to_string(&mut file, &mut text).ok()?;
        Some(text.trim().to_owned())
    }
}

/// The configuration of a stored server with its variables resolved, or what is wrong.
pub(crate) async fn reach(row: &Server, host: Host) -> Result<ServerConfig, Finding> {
    if let Some(objection) = host.objection(row) {
        return Err(objection);
    }
    let config = to_config(row).map_err(|why| {
        Finding::new(
            Problem::BadConfig,
            format!("its configuration cannot be used: {why}"),
            format!("Fix it with `switchboard servers edit {}`.", row.name),
        )
    })?;
    let trusted = config.is_trusted();
    let resolved = ConfigFile::new()
        .with_server(config)
        .resolve(&Lookup::of_row(row, host).await);
    match (
        resolved.servers.into_iter().next(),
        resolved.unresolved.first(),
    ) {
        (Some(config), _) if trusted => Ok(config.trusted()),
        (Some(config), _) => Ok(config),
        (None, unresolved) => {
            let missing = unresolved
                .map(|it| it.missing.as_slice())
                .unwrap_or_default();
            Err(wanted(&row.name, missing))
        }
    }
}

/// The finding for missing values.
pub(crate) fn wanted(server: &str, missing: &[Missing]) -> Finding {
    let texts: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let advice = match missing.first() {
        Some(Missing::Input { id }) => {
            format!("Answer it: `switchboard servers edit {server} --input {id}=…`.")
        }
        Some(Missing::Variable { name }) if name.starts_with("keyring:") => format!(
            "The keyring lost it, or cannot be opened: set it again with `switchboard servers \
             edit {server}`."
        ),
        Some(Missing::Variable { name }) => {
            format!("Set it, as in `export {name}=…`, and try again.")
        }
        _ => "Put the file there, or take it out of the configuration.".to_owned(),
    };
    let message = format!("it needs {}", texts.join(", "));
    Finding::new(Problem::MissingValue, message, advice)
}

/// The folder of the project that a file of servers is for: where it is, or above the folder
/// of its program.
fn project(file: &Path) -> PathBuf {
    let here = || std::env::current_dir().unwrap_or_default();
    let Some(folder) = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    else {
        return here();
    };
    let of_program = |name: &std::ffi::OsStr| name == ".vscode" || name == ".cursor";
    match folder.file_name() {
        Some(name) if of_program(name) => folder.parent().map_or_else(here, Path::to_owned),
        _ => folder.to_owned(),
    }
}

fn home_folder() -> Option<String> {
    let folders = directories::BaseDirs::new()?;
    Some(folders.home_dir().to_string_lossy().into_owned())
}
