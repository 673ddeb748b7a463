//! The gateway's entry in a client's file: planned on the text, then written. Pure but for
//! [`restored`].

use std::fs;
use std::path::{Path, PathBuf};

use mcp_config::{ConfigEdit, ConfigProblem, Dialect, Endpoint, ServerConfig};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// What is known of an entry that was installed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Installed {
    pub(crate) client: String,
    pub(crate) file: PathBuf,
    /// The name of the entry.
    pub(crate) name: String,
    /// The file as it was before; `None` if there was none.
    pub(crate) backup: Option<PathBuf>,
    /// The hash of the text that was written.
    pub(crate) written: String,
    /// Entries that were moved behind the gateway, each with the copy of the file that has it.
    pub(crate) moved: Vec<MovedEntry>,
}

/// An entry that is behind the gateway now.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct MovedEntry {
    pub(crate) name: String,
    pub(crate) backup: PathBuf,
}

/// The name of the record of a file.
pub(crate) fn record_name(file: &Path) -> String {
    let mut digest = text_hash(&file.to_string_lossy());
    digest.truncate(32);
    digest
}

pub(crate) fn text_hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of a file with the entry in it, and without those that move.
pub(crate) fn installed_text(
    text: &str,
    dialect: Dialect,
    entry: &ServerConfig,
    moved: &[String],
) -> Result<String, ConfigProblem> {
    let mut edit = ConfigEdit::new(text, dialect)?;
    edit.put(entry)?;
    for name in moved {
        edit.remove(name)?;
    }
    Ok(edit.text())
}

/// Whether an entry starts a gateway of this program.
pub(crate) fn is_ours(entry: &Value) -> bool {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let list = |value: &Value| -> Vec<String> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(text).collect()
    };
    // goose has a shorter word.
    let command = entry.get("command").unwrap_or(&entry["cmd"]);
    let mut words: Vec<String> = text(command).map_or_else(|| list(command), |word| vec![word]);
    words.extend(list(&entry["args"]));
    let mut words = words.iter();
    words.next().is_some_and(|word| is_this_program(word))
        && words.next().is_some_and(|word| word == "gateway")
}

/// Whether a command starts this program, by its name or the one it was given.
fn is_this_program(command: &str) -> bool {
    let Some(stem) = Path::new(command).file_stem() else {
        return false;
    };
    let own = std::env::current_exe().unwrap_or_default();
    stem == "switchboard" || own.file_stem() == Some(stem)
}

/// The same for an entry that was read.
pub(crate) fn is_gateway(config: &ServerConfig) -> bool {
    let Endpoint::Stdio(command) = config.endpoint() else {
        return false;
    };
    let first = command.args().first();
    is_this_program(command.program()) && first.is_some_and(|word| word.expose() == "gateway")
}

/// What undoing makes of a file.
#[derive(Debug, PartialEq)]
pub(crate) enum Undone {
    /// It was not there before.
    Removed,
    /// Its text is this again.
    Text(String),
}

/// The text of a file without the entry, and with those that were moved, as they were. What could
/// not be put back is named.
pub(crate) fn restored(
    text: &str,
    dialect: Dialect,
    name: &str,
    record: Option<&Installed>,
) -> Result<(Undone, Vec<String>), ConfigProblem> {
    // A file that was not changed since becomes what it was, byte for byte.
    if let Some(record) = record.filter(|it| it.written == text_hash(text)) {
        match &record.backup {
            None => return Ok((Undone::Removed, Vec::new())),
            Some(backup) => {
                let before = fs::read_to_string(backup).ok();
                let clean = before.filter(|before| {
                    let edit = ConfigEdit::new(before, dialect).ok();
                    edit.is_some_and(|edit| edit.entry(name).is_none())
                });
                if let Some(before) = clean {
                    return Ok((Undone::Text(before), Vec::new()));
                }
            }
        }
    }
    let mut edit = ConfigEdit::new(text, dialect)?;
    if edit.entry(name).as_ref().is_some_and(is_ours) {
        edit.remove(name)?;
    }
    let mut missing = Vec::new();
    for moved in record.map(|it| it.moved.as_slice()).unwrap_or_default() {
        if edit.entry(&moved.name).is_some() {
            continue;
        }
        let before = fs::read_to_string(&moved.backup).ok();
        let before = before.and_then(|text| ConfigEdit::new(&text, dialect).ok());
        let back = match before {
            Some(before) => edit.copy(&moved.name, &before)?,
            None => false,
        };
        if !back {
            missing.push(moved.name.clone());
        }
    }
    Ok((Undone::Text(edit.text()), missing))
}

#[cfg(test)]
mod tests {
    use mcp_config::ServerCommand;
    use serde_json::json;

    use super::*;

    fn entry() -> ServerConfig {
        let command = ServerCommand::new("/opt/switchboard").with_args(["gateway"]);
        ServerConfig::stdio("switchboard".parse().unwrap(), command)
    }

    #[test]
    fn only_a_gateway_of_this_program_is_ours() {
        assert!(is_ours(
            &json!({"command": "/x/switchboard", "args": ["gateway", "a"]})
        ));
        assert!(is_ours(
            &json!({"command": ["C:/x/switchboard.exe", "gateway"]})
        ));
        assert!(is_ours(
            &json!({"cmd": "/x/switchboard", "args": ["gateway"]})
        ));
        assert!(!is_ours(
            &json!({"command": "switchboard", "args": ["demo-server"]})
        ));
        assert!(!is_ours(&json!({"command": "npx", "args": ["gateway"]})));
        assert!(!is_ours(&json!({"url": "http://127.0.0.1/mcp"})));
        assert!(is_gateway(&entry()));
    }

    #[test]
    fn a_file_that_was_changed_since_keeps_its_changes_and_gets_its_entries_back() {
        let folder = tempfile::tempdir().unwrap();
        let backup = folder.path().join("mcp.json.bak");
        let before =
            "{\"mcpServers\": {\n  \"a\": {\"command\": \"a\"}, // mine\n  \"b\": {}\n}}\n";
        fs::write(&backup, before).unwrap();
        let moved = ["a".to_owned()];
        let written = installed_text(before, Dialect::Cursor, &entry(), &moved).unwrap();
        let record = Installed {
            client: "cursor".to_owned(),
            file: folder.path().join("mcp.json"),
            name: "switchboard".to_owned(),
            backup: Some(backup.clone()),
            written: text_hash(&written),
            moved: vec![MovedEntry {
                name: "a".to_owned(),
                backup,
            }],
        };
        let undo = |text: &str| restored(text, Dialect::Cursor, "switchboard", Some(&record));
        let same = undo(&written).unwrap();
        assert_eq!(same, (Undone::Text(before.to_owned()), vec![]));
        let changed = written.replacen("\"b\": {}", "\"c\": {}", 1);
        let (Undone::Text(text), missing) = undo(&changed).unwrap() else {
            panic!("it was there before");
        };
        assert_eq!(missing, Vec::<String>::new());
        let edit = ConfigEdit::new(&text, Dialect::Cursor).unwrap();
        assert_eq!(edit.names(), ["c", "a"]);
        assert!(text.contains("// mine"), "{text}");
    }
}
