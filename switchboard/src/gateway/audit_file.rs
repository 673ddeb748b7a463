//! The audit log's files: one chain for each run of the gateway, in the data folder.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use mcp_gateway::{AuditLog, CallRecord};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::audit_chain::Chain;
use crate::home;
use crate::store::Timestamp;

/// A file that grows beyond this ends, and the next one begins.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// The folder of the audit log.
pub(crate) fn folder() -> PathBuf {
    home::folder().join("audit")
}

/// The files of the audit log, oldest first.
pub(crate) fn files() -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The lines of a file, each checked; the error comes with the number of the line.
pub(crate) fn read(path: &Path) -> io::Result<Vec<(String, Result<(), String>)>> {
    let mut chain = Chain::new(&name(path));
    let lines = BufReader::new(File::open(path)?).lines();
    let checked = lines.map(|line| {
        let line = line?;
        let verdict = chain.check(&line);
        Ok((line, verdict))
    });
    checked.collect()
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The audit log of one run of the gateway.
pub(crate) struct AuditFile(Mutex<Open>);

struct Open {
    file: File,
    chain: Chain,
    written: u64,
}

impl AuditFile {
    /// Starts a new chain.
    pub(crate) fn create() -> io::Result<Self> {
        Ok(Self(Mutex::new(Open::create()?)))
    }
}

impl Open {
    fn create() -> io::Result<Self> {
        let folder = folder();
        fs::create_dir_all(&folder)?;
        // The names of one process are in the order of its files.
        for attempt in 0..100 {
            let time = Timestamp::now().rfc3339().replace(':', "-");
            let path = folder.join(format!("{time}-{}-{attempt:02}.jsonl", std::process::id()));
            match home::private().append(true).create_new(true).open(&path) {
                Ok(file) => {
                    return Ok(Self {
                        file,
                        chain: Chain::new(&name(&path)),
                        written: 0,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("no free name for a file of the audit log"))
    }
}

impl AuditLog for AuditFile {
    fn record(&self, record: &CallRecord) -> io::Result<()> {
        let mut open = self.0.lock();
        if open.written > MAX_FILE {
            *open = Open::create()?;
        }
        let mut chain = open.chain.clone();
        let mut line = chain.append(members(record));
        line.push('\n');
        // What was written in part ends the file: its last line does not verify.
        if let Err(error) = open.file.write_all(line.as_bytes()) {
            open.written = u64::MAX;
            return Err(error);
        }
        open.chain = chain;
        open.written += line.len() as u64;
        Ok(())
    }
}

fn members(record: &CallRecord) -> Map<String, Value> {
    let mut value = json!({
        "time": Timestamp::now().rfc3339(),
        "call": record.call,
        "caller": record.caller,
        "client": record.client,
        "server": record.server,
        "tool": record.tool,
        "fingerprint": record.fingerprint,
        "arguments": record.arguments,
        "decision": record.decision.to_string(),
    });
    if let (Some(end), Some(members)) = (&record.end, value.as_object_mut()) {
        members.insert("outcome".to_owned(), Value::from(end.outcome.to_string()));
        members.insert("result".to_owned(), json!(end.result));
        let millis = u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX);
        members.insert("durationMs".to_owned(), Value::from(millis));
    }
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
