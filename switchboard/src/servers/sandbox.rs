//! Sandboxes of servers: which profile a server has, where its own folder is, and what it was denied.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_config::{ConfigFile, Variable};
use mcp_manager::{Endpoint, ServerConfig};
use mcp_sandbox::{
    Containment, Denial, HostRule, Network, PathKind, Profile, Sandbox, Suggestion, suggest,
};
use mcp_transport::{LocalSpawner, ServerCommand, Spawner};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::install::bundle_of;
use super::log::ServerLog;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::store::{Server, ServerKind, StoredValue, UserId};

/// Lines of a server's log that are searched for denials.
const LINES: usize = 400;
/// The most paths or hosts that a profile names.
const MAX_RULES: usize = 200;

/// The spawner of a configured server: its sandbox, if it has a profile.
///
/// # Errors
/// If its profile makes no sense. It is not started without one then.
pub(super) fn spawner(
    user: &UserId,
    config: &ServerConfig,
    log: &ServerLog,
) -> Result<Arc<dyn Spawner>, String> {
    let (Some(stored), Endpoint::Stdio(command)) = (config.sandbox(), config.endpoint()) else {
        return Ok(Arc::new(LocalSpawner::new()));
    };
    let profile = for_command(parse(stored)?, command);
    let log = log.clone();
    let sandbox = Sandbox::new(profile, folder(user, config)).with_observer(move |wanted| {
        // As programs write it, for `denied` to read.
        log.note(&format!("sandbox: permission denied: {wanted}"));
    });
    Ok(Arc::new(sandbox))
}

/// The profile as a server is started under it: what is configured for its environment is meant for it.
fn for_command(mut profile: Profile, command: &ServerCommand) -> Profile {
    profile
        .variables
        .append(&mut Profile::for_command(command).variables);
    profile
}

/// The profile that an entry says.
pub(crate) fn parse(stored: &Map<String, Value>) -> Result<Profile, String> {
    let profile = serde_json::from_value(Value::Object(stored.clone()));
    let profile: Profile = profile.map_err(|error| format!("its sandbox profile: {error}"))?;
    check(&profile)?;
    Ok(profile)
}

/// What an entry says of a profile.
pub(super) fn written(profile: &Profile) -> Map<String, Value> {
    match serde_json::to_value(profile) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// Whether a profile means what it says wherever the server is started.
fn check(profile: &Profile) -> Result<(), String> {
    for (member, paths) in [("read", &profile.read), ("write", &profile.write)] {
        let relative = |path: &&PathBuf| !path.is_absolute() && !path.starts_with("~");
        if let Some(path) = paths.iter().find(relative) {
            return Err(format!(
                "its sandbox profile: {member}: {:?} is neither an absolute path nor one that begins \
                 with ~",
                path.display().to_string()
            ));
        }
    }
    let hosts = match &profile.network {
        Network::Hosts(hosts) => hosts.len(),
        _ => 0,
    };
    match profile.read.len() + profile.write.len() + hosts > MAX_RULES {
        true => Err(format!(
            "its sandbox profile names more than {MAX_RULES} paths and hosts: name folders that hold \
             them, or `*.` with the domain"
        )),
        false => Ok(()),
    }
}

/// A server's own folder: its home and temporary folder while it is contained.
fn folder(user: &UserId, config: &ServerConfig) -> PathBuf {
    match config.id() {
        Some(id) => folder_of(user, id),
        // Another program, or the same one elsewhere, is another server.
        None => {
            let digest = Sha256::digest(config.identity());
            let hex: String = digest.iter().take(16).fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            folder_of(user, &hex)
        }
    }
}

fn folder_of(user: &UserId, name: &str) -> PathBuf {
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let folder = home::folder_of(user).join("sandboxes").join(name);
    std::path::absolute(&folder).unwrap_or(folder)
}

/// Removes what a server has kept in its own folder.
pub(crate) fn remove_folder(row: &Server) -> io::Result<()> {
    match std::fs::remove_dir_all(folder_of(&row.user_id, row.id.as_str())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A change of a server's sandbox, as people and clients say it.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    /// None: the server runs with all the rights of its user.
    Off,
    /// The strictest profile.
    Strict,
    /// The one that is suggested for its command.
    Suggested,
    /// This one.
    Own(Box<Profile>),
}

impl Wish {
    /// As a word, as JSON, or as a file of JSON.
    pub(crate) fn said(text: &str) -> Result<Self, Failure> {
        let failed = |why: String| {
            Failure::new(Exit::Other, format!("--sandbox {text:?}: {why}")).with_hint(
                "Give `strict`, `suggested`, `off`, a profile as JSON, or the path of a file with one.",
            )
        };
        let json = match text {
            "off" => return Ok(Self::Off),
            "strict" => return Ok(Self::Strict),
            "suggested" => return Ok(Self::Suggested),
            text if text.trim_start().starts_with('{') => text.to_owned(),
            path => std::fs::read_to_string(path).map_err(|error| {
                failed(format!("there is no such word, and no such file: {error}"))
            })?,
        };
        let members = serde_json::from_str(&json).map_err(|error| failed(error.to_string()))?;
        let profile = parse(&members).map_err(failed)?;
        Ok(Self::Own(Box::new(profile)))
    }

    /// Makes it so.
    pub(crate) fn apply(self, row: &mut Server) -> Result<(), String> {
        row.sandbox = match self {
            Self::Off => None,
            _ if row.kind != ServerKind::Stdio => {
                return Err("a sandbox is for servers with a command".to_owned());
            }
            Self::Strict => Some(with_bundle(row, Profile::new())),
            Self::Suggested => Some(suggested(row)?.0),
            Self::Own(profile) => {
                check(&profile)?;
                Some(*profile)
            }
        };
        Ok(())
    }
}

/// The profile that is suggested for a server, and why it allows what it does. It starts on this machine
/// even if some of it cannot be enforced here.
pub(crate) fn suggested(row: &Server) -> Result<(Profile, Vec<Suggestion>), String> {
    let config = answered(row, super::to_config(row)?);
    let Endpoint::Stdio(command) = config.endpoint() else {
        return Err("a sandbox is for servers with a command".to_owned());
    };
    let kind = |path: &Path| match path.metadata() {
        Ok(found) if found.is_dir() => PathKind::Folder,
        Ok(_) => PathKind::File,
        Err(_) => PathKind::Missing,
    };
    let (mut profile, reasons) = suggest(command, kind);
    // What is configured for it is passed on at each start.
    profile.variables.clear();
    profile = with_bundle(row, profile);
    // Agreed to, and nothing else: on another machine the rest still holds, or it does not start.
    profile.may_lack = containment(&profile)
        .missing()
        .map(|(which, _)| which)
        .collect();
    Ok((profile, reasons))
}

/// The profile of a server that came in a bundle: it may read all of its bundle, and change nothing in it.
fn with_bundle(row: &Server, mut profile: Profile) -> Profile {
    if let Some(folder) = bundle_of(row) {
        for paths in [&mut profile.read, &mut profile.write] {
            paths.retain(|path| !path.starts_with(&folder));
        }
        profile.read.insert(0, folder);
    }
    profile
}

/// A configuration with its answers in it, as far as they are in the store: they may be paths.
fn answered(row: &Server, config: ServerConfig) -> ServerConfig {
    let answers: BTreeMap<String, StoredValue> = super::answers(row).collect();
    let value = |variable: Variable<'_>| match variable {
        Variable::Input(id) => match answers.get(id) {
            Some(StoredValue::Plain(text)) => Some(text.clone()),
            _ => Some("${}".to_owned()),
        },
        Variable::Host("userHome") => Some(user_home()?.to_string_lossy().into_owned()),
        // Nothing that is a path.
        _ => Some("${}".to_owned()),
    };
    let file = ConfigFile::new().with_server(config.clone());
    let resolved = file.resolve(&value).servers.into_iter().next();
    resolved.unwrap_or(config)
}

/// What this machine cannot enforce of a profile, each with the reason.
pub(crate) fn not_contained(profile: &Profile) -> Vec<String> {
    let containment = containment(profile);
    let missing = containment.missing();
    missing
        .map(|(which, why)| format!("{which}: {why}"))
        .collect()
}

fn containment(profile: &Profile) -> Containment {
    Sandbox::new(profile.clone(), folder_of(&UserId::local(), "none")).containment()
}

/// A profile in one line for people.
pub(crate) fn summary(profile: &Profile) -> String {
    let paths = |paths: &[PathBuf]| -> String {
        let shown: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        shown.join(", ")
    };
    let mut parts = Vec::new();
    if !profile.read.is_empty() {
        parts.push(format!("reads {}", paths(&profile.read)));
    }
    match profile.write.is_empty() {
        true => parts.push("writes its own folder only".to_owned()),
        false => parts.push(format!("writes {}", paths(&profile.write))),
    }
    parts.push(match &profile.network {
        Network::None => "no network".to_owned(),
        Network::Hosts(hosts) => {
            let hosts: Vec<String> = hosts.iter().map(HostRule::to_string).collect();
            format!("connects to {}", hosts.join(", "))
        }
        Network::All => "connects anywhere".to_owned(),
        _ => "a network rule of another version".to_owned(),
    });
    for (is_allowed, what) in [
        (
            profile.may_change_attributes,
            "changes permissions and times of files",
        ),
        (profile.may_use_unix_sockets, "uses Unix sockets"),
    ] {
        if is_allowed {
            parts.push(what.to_owned());
        }
    }
    parts.join("; ")
}

/// What the preview of an import says of a server's sandbox.
pub(super) fn note(row: &Server) -> String {
    let profile = row.sandbox.as_ref();
    profile.map_or_else(String::new, |profile| {
        format!("in a sandbox: {}", summary(profile))
    })
}

/// What a contained server was denied, by what it wrote since its sandbox was changed. It may write anything,
/// so this explains and proves nothing.
pub(crate) fn denied(log: &ServerLog) -> Vec<Denial> {
    denied_in(&log.runs(LINES).join("\n"))
}

/// What tells a sandbox from another one in a log.
pub(super) fn label(config: &ServerConfig) -> Option<String> {
    let text = serde_json::to_vec(config.sandbox()?).ok()?;
    let digest = ring::digest::digest(&ring::digest::SHA256, &text);
    let first = digest.as_ref().iter().take(4);
    Some(first.map(|byte| format!("{byte:02x}")).collect())
}

/// What a text of a contained server says about denials.
pub(crate) fn denied_in(text: &str) -> Vec<Denial> {
    Denial::in_text(text, user_home().as_deref())
}

fn user_home() -> Option<PathBuf> {
    directories::BaseDirs::new().map(|folders| folders.home_dir().to_owned())
}

/// What to do about something that was denied.
pub(crate) fn advice(server: &str, denial: &Denial) -> String {
    let Some((member, value)) = denial.wanted.rule() else {
        return match denial.wanted.is_precious() {
            true => "No rule is proposed for keys, credentials or folders that hold everything. \
                     Allow it only if the server was made for that."
                .to_owned(),
            false => "No rule of a sandbox allows that.".to_owned(),
        };
    };
    let flag = match member {
        "read" => "--allow-read",
        "write" => "--allow-write",
        "network.hosts" => "--allow-host",
        _ => return format!("If it may: `{member}` = {value} in its sandbox's profile allows it."),
    };
    let value = quoted(value);
    format!("If it may: `switchboard servers edit {server} {flag} {value}` allows it.")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/~._-:*".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
