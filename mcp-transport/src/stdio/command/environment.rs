//! The server's environment, from the host's environment and the configuration.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::{EnvPolicy, ServerCommand};

/// The suffixes of the names of secrets.
const SECRETS: [&str; 10] = [
    "API_KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "SECRET_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "PASSWORD",
    "PASSPHRASE",
    "CREDENTIALS",
];

const SAFE: [&str; 10] = [
    "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "LANGUAGE",
];

const SAFE_ON_WINDOWS: [&str; 16] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

pub(super) fn compose(
    command: &ServerCommand,
    host: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let inherited = host.into_iter().filter(|(name, _)| {
        let passes = match command.policy {
            EnvPolicy::Inherit => !is_secret(name),
            EnvPolicy::Safe => is_safe(name),
            EnvPolicy::None => false,
        };
        passes
            || command
                .inherited
                .iter()
                .any(|listed| same(name, OsStr::new(listed)))
    });
    let mut all: BTreeMap<OsString, (OsString, OsString)> = inherited
        .map(|(name, value)| (key(&name), (name, value)))
        .collect();
    for (name, value) in &command.env {
        let name = OsString::from(name);
        all.insert(key(&name), (name, value.expose().into()));
    }
    all.into_values().collect()
}

fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRETS.iter().any(|ending| {
        name.strip_suffix(ending)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    })
}

fn is_safe(name: &OsStr) -> bool {
    let listed = |list: &[&str]| list.iter().any(|safe| same(name, OsStr::new(safe)));
    listed(&SAFE)
        || name.as_encoded_bytes().starts_with(b"LC_")
        || cfg!(windows) && listed(&SAFE_ON_WINDOWS)
}

fn same(a: &OsStr, b: &OsStr) -> bool {
    key(a) == key(b)
}

/// Windows does not distinguish `Path` from `PATH`.
fn key(name: &OsStr) -> OsString {
    if cfg!(windows) {
        name.to_ascii_uppercase()
    } else {
        name.to_owned()
    }
}
