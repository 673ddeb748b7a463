//! The audit log's files: one chain for each run of the gateway, in the data folder. The last line of
//! each is anchored in the store, so that lines or files that go missing are missed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs4::FileExt;
use mcp_gateway::{AuditLog, CallRecord};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::audit_chain::Chain;
use super::audit_folder::{folder, lock_of, locked, name};
use crate::home;
use crate::store::Timestamp;

/// A file that grows beyond this ends, and the next one begins.
pub(super) const MAX_FILE: u64 = 64 * 1024 * 1024;
/// The file of what is done by hand, which all commands write to.
const BY_HAND: &str = "by-hand.jsonl";
/// Calls that are shown as running, at most.
const MAX_RUNNING: usize = 256;

/// Where a file's chain was at some moment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Anchor {
    /// The number of lines.
    pub(crate) lines: u64,
    /// The hash of the last one.
    pub(crate) hash: String,
    /// Whether there will be no more.
    pub(crate) ended: bool,
}

/// What a file's lines say of themselves.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) lines: Vec<(String, Result<(), String>)>,
    /// The hash after each line.
    hashes: Vec<String>,
}

/// The lines of a file, each checked.
pub(crate) fn read(path: &Path) -> io::Result<Checked> {
    let mut chain = Chain::new(&name(path));
    let (mut lines, mut hashes) = (Vec::new(), Vec::new());
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        let verdict = chain.check(&line);
        hashes.push(chain.last().to_owned());
        lines.push((line, verdict));
    }
    Ok(Checked { lines, hashes })
}

impl Checked {
    /// What is wrong, if anything, with the whole: a line, or what the anchor says was there.
    pub(crate) fn problem(&self, anchor: Option<&Anchor>) -> Option<String> {
        for (at, (_, verdict)) in self.lines.iter().enumerate() {
            if let Err(problem) = verdict {
                return Some(format!("line {}: {problem}", at + 1));
            }
        }
        let anchor = anchor?;
        let found = self.lines.len() as u64;
        if found < anchor.lines || (anchor.ended && found > anchor.lines) {
            return Some(format!(
                "it has {found} lines, of {} that were written",
                anchor.lines
            ));
        }
        let at = usize::try_from(anchor.lines).ok()?.checked_sub(1)?;
        match self.hashes.get(at) == Some(&anchor.hash) {
            true => None,
            false => Some(format!("line {}: another one was written", anchor.lines)),
        }
    }
}

/// A call that has begun and not ended.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct RunningCall {
    pub(crate) call: String,
    pub(crate) caller: String,
    pub(crate) client: Option<String>,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) since: Timestamp,
}

/// The audit log of one run of the gateway. Its file is made with its first record.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditFile(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    open: Option<Open>,
    /// The one file to write to, rather than one of this run.
    only: Option<PathBuf>,
    /// What the store does not know yet, by file.
    anchors: BTreeMap<String, Anchor>,
    running: BTreeMap<String, RunningCall>,
    calls: u64,
}

#[derive(Debug)]
struct Open {
    file: File,
    name: String,
    chain: Chain,
    written: u64,
    /// Locked, so that no one removes the file.
    _lock: Option<File>,
}

impl AuditFile {
    /// Makes the folder, so that a log that cannot be written is known at once.
    pub(crate) fn create() -> io::Result<Self> {
        fs::create_dir_all(folder())?;
        Ok(Self::default())
    }

    /// The log of what is done by hand: one file for all commands, which is never ended.
    pub(crate) fn by_hand() -> io::Result<Self> {
        let file = Self::create()?;
        file.0.lock().only = Some(folder().join(BY_HAND));
        Ok(file)
    }

    /// What the store does not know yet; it is asked for once.
    pub(crate) fn anchors(&self) -> BTreeMap<String, Anchor> {
        std::mem::take(&mut self.0.lock().anchors)
    }

    /// Takes back what the store did not take; what is newer stays.
    pub(crate) fn keep(&self, anchors: BTreeMap<String, Anchor>) {
        let mut state = self.0.lock();
        for (name, anchor) in anchors {
            state.anchors.entry(name).or_insert(anchor);
        }
    }

    /// The anchors of the end.
    pub(crate) fn end(&self) -> BTreeMap<String, Anchor> {
        let mut state = self.0.lock();
        state.close();
        std::mem::take(&mut state.anchors)
    }

    /// The calls that run, and how many there were.
    pub(crate) fn running(&self) -> (Vec<RunningCall>, u64) {
        let state = self.0.lock();
        (state.running.values().cloned().collect(), state.calls)
    }
}

impl State {
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let ended = self.only.is_none();
            self.anchors.insert(open.name.clone(), open.anchor(ended));
            open.release();
        }
    }

    fn follow(&mut self, record: &CallRecord) {
        if record.end.is_some() {
            self.running.remove(&record.call);
            return;
        }
        self.calls += 1;
        let runs = matches!(
            record.decision,
            mcp_gateway::CallDecision::Allowed | mcp_gateway::CallDecision::Approved
        );
        if !runs {
            return;
        }
        // Beyond what is shown, the oldest goes.
        if self.running.len() >= MAX_RUNNING {
            let oldest = self.running.values().min_by_key(|it| it.since);
            let oldest = oldest.map(|it| it.call.clone());
            oldest.and_then(|call| self.running.remove(&call));
        }
        let running = RunningCall {
            call: record.call.clone(),
            caller: record.caller.clone(),
            client: record.client.clone(),
            server: record.server.clone(),
            tool: record.tool.clone(),
            since: Timestamp::now(),
        };
        self.running.insert(record.call.clone(), running);
    }
}

impl Open {
    fn create() -> io::Result<Self> {
        let folder = folder();
        // The names of one process are in the order of its files.
        for attempt in 0..100 {
            let time = Timestamp::now().rfc3339().replace(':', "-");
            let path = folder.join(format!("{time}-{}-{attempt:02}.jsonl", std::process::id()));
            match home::private().append(true).create_new(true).open(&path) {
                Ok(file) => {
                    let name = name(&path);
                    return Ok(Self {
                        file,
                        chain: Chain::new(&name),
                        name,
                        written: 0,
                        _lock: locked(&lock_of(&path)),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("no free name for a file of the audit log"))
    }

    /// Goes on with a file that other processes write to as well, each in its turn.
    fn resume(path: &Path) -> io::Result<Self> {
        let lock = home::private()
            .append(true)
            .create(true)
            .open(lock_of(path))?;
        FileExt::lock(&lock)?;
        let file = home::private().append(true).create(true).open(path)?;
        let name = name(path);
        let mut chain = Chain::new(&name);
        for line in BufReader::new(File::open(path)?).lines() {
            if let Err(problem) = chain.check(&line?) {
                let text = format!("{} is broken: {problem}", path.display());
                return Err(io::Error::other(text));
            }
        }
        Ok(Self {
            written: file.metadata()?.len(),
            file,
            name,
            chain,
            _lock: Some(lock),
        })
    }

    /// Its file may be removed from now on.
    fn release(self) {
        if self._lock.is_some() && self.name != BY_HAND {
            let _ = fs::remove_file(lock_of(&folder().join(&self.name)));
        }
    }

    fn anchor(&self, ended: bool) -> Anchor {
        Anchor {
            lines: self.chain.lines(),
            hash: self.chain.last().to_owned(),
            ended,
        }
    }
}

impl AuditLog for AuditFile {
    fn record(&self, record: &CallRecord) -> io::Result<()> {
        let mut state = self.0.lock();
        state.append(members(record))?;
        state.follow(record);
        Ok(())
    }
}

impl AuditFile {
    /// Records something else than a call.
    pub(crate) fn event(&self, members: Map<String, Value>) -> io::Result<()> {
        self.0.lock().append(members)
    }
}

impl State {
    fn append(&mut self, members: Map<String, Value>) -> io::Result<()> {
        let state = self;
        let is_full = |open: &Open| open.written > MAX_FILE;
        if state.open.as_ref().is_some_and(is_full) {
            state.close();
        }
        if state.open.is_none() {
            let shared = state.only.as_deref().map(Open::resume).transpose()?;
            state.open = Some(match shared.filter(|open| !is_full(open)) {
                Some(open) => open,
                None => {
                    state.only = None;
                    Open::create()?
                }
            });
        }
        let Some(open) = &mut state.open else {
            return Err(io::Error::other("no file of the audit log is open"));
        };
        let mut chain = open.chain.clone();
        let mut line = chain.append(members);
        line.push('\n');
        if let Err(error) = open.file.write_all(line.as_bytes()) {
            // What was written in part ends the file: its last line does not verify.
            state.open = None;
            return Err(error);
        }
        open.chain = chain;
        open.written += line.len() as u64;
        let (name, anchor) = (open.name.clone(), open.anchor(false));
        state.anchors.insert(name, anchor);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn written(count: u64) -> (Vec<String>, Anchor) {
        let mut chain = Chain::new("f.jsonl");
        let lines = (0..count).map(|_| chain.append(Map::new())).collect();
        let hash = chain.last().to_owned();
        (
            lines,
            Anchor {
                lines: count,
                hash,
                ended: true,
            },
        )
    }

    fn checked(lines: &[String]) -> Checked {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.jsonl");
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, text).unwrap();
        read(&path).unwrap()
    }

    #[test]
    fn lines_that_went_missing_at_the_end_are_missed() {
        let (lines, anchor) = written(3);
        assert_eq!(checked(&lines).problem(Some(&anchor)), None);
        let cut = checked(&lines[..2]);
        assert_eq!(cut.problem(None), None, "the chain alone does not tell");
        assert!(cut.problem(Some(&anchor)).is_some());
        // One that still grows may have more lines than were anchored.
        let (_, mut before) = written(2);
        before.ended = false;
        assert_eq!(checked(&lines).problem(Some(&before)), None);
        before.ended = true;
        assert!(checked(&lines).problem(Some(&before)).is_some());
    }

    #[test]
    fn what_is_done_by_hand_is_one_chain_of_all_commands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(BY_HAND);
        for _ in 0..3 {
            let state = State {
                only: Some(path.clone()),
                ..State::default()
            };
            let log = AuditFile(Arc::new(Mutex::new(state)));
            log.event(Map::new()).unwrap();
            assert!(!log.end()[BY_HAND].ended);
        }
        let checked = read(&path).unwrap();
        assert_eq!((checked.lines.len(), checked.problem(None)), (3, None));
    }

    #[test]
    fn a_chain_that_was_written_anew_is_not_the_one_that_was_anchored() {
        let (_, anchor) = written(1);
        let mut chain = Chain::new("f.jsonl");
        let other: Map<String, Value> = [("tool".to_owned(), json!("x"))].into_iter().collect();
        let forged = checked(&[chain.append(other)]);
        assert_eq!(forged.problem(None), None);
        assert!(forged.problem(Some(&anchor)).is_some());
    }
}
