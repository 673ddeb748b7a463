//! The MCP clients that the gateway can be installed in, and the files of theirs that list servers.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use mcp_config::Dialect;

use crate::servers::import::{Place, Scope, of_client};
use crate::store::Timestamp;

/// An MCP client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Client(Dialect);

/// Those whose files have a place.
static CLIENTS: LazyLock<Vec<Client>> = LazyLock::new(|| {
    let all = Dialect::ALL.iter().copied();
    let placed = all.filter(|dialect| !dialect.locations().is_empty());
    placed.map(Client).collect()
});

impl ValueEnum for Client {
    fn value_variants<'a>() -> &'a [Self] {
        &CLIENTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.title()))
    }
}

impl Client {
    /// How its files are written.
    pub(crate) const fn dialect(self) -> Dialect {
        self.0
    }

    /// As it is spelt on the command line.
    pub(crate) fn name(self) -> String {
        self.0.name().to_owned()
    }

    /// The user's own file, or the one of the project in `folder`; `None` if it has no such.
    pub(crate) fn place(self, project: Option<&Path>) -> Option<Place> {
        of_client(self.dialect(), project)
    }

    /// A file that the user names.
    pub(crate) fn file(self, path: &Path) -> Place {
        Place {
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            dialect: Some(self.dialect()),
            scope: Scope::User,
        }
    }
}

/// The text of a file; `None` if there is none.
pub(crate) fn read(place: &Place) -> io::Result<Option<String>> {
    match place.read() {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Copies a file beside itself, with its permissions, under a new name.
pub(crate) fn back_up(path: &Path) -> io::Result<PathBuf> {
    let time = Timestamp::now().rfc3339().replace(':', "-");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for attempt in 0..100 {
        let copy = path.with_file_name(format!("{name}.switchboard-{time}-{attempt}.bak"));
        match fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&copy)
        {
            Ok(_) => {
                fs::copy(path, &copy)?;
                return Ok(copy);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no free name for a copy"))
}

/// Replaces a file at once: others see the old text or the new one, never a part. Its permissions
/// stay, and a link is followed.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let real = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let folder = real.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let new = folder.join(format!(".{name}.switchboard-{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = crate::home::private()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        if let Ok(found) = fs::metadata(&real) {
            fs::set_permissions(&new, found.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&new, &real)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}
