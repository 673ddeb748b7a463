//! Server logs: standard error, log messages and failures, one file per server.

use std::fs::File;
use std::io::{self, PipeReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::model::LogMessageParams;
use mcp_manager::ServerConfig;
use mcp_transport::{SpawnRequest, SpawnedProcess, Spawner, TransportError};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::home;
use crate::store::{Server, Timestamp, UserId};

/// How many logs of servers are kept that have only a name, as those of a command line.
const MAX_NAMED: usize = 100;
/// The size at which a file is cut down to its last half.
const MAX_FILE: u64 = 1 << 20;
/// How much of the end is read in search of lines, however large the file is.
const MAX_TAIL: u64 = MAX_FILE;
/// How much is copied at once.
const PIECE: usize = 16 << 10;

/// Before the program of a server that was started.
const STARTED: &str = "started ";

/// The longest line that is added of what a server logs.
const LINE: usize = 4096;

/// The log of a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerLog {
    file: PathBuf,
}

impl ServerLog {
    /// The log of a stored server, whatever its name is.
    pub(crate) fn of(row: &Server) -> Self {
        Self::at(&row.user_id, row.id.as_str())
    }

    /// The log of a user's configured server: a stored one, or one of a file or a command line.
    pub(crate) fn of_config(user: &UserId, config: &ServerConfig) -> Self {
        match config.id() {
            Some(id) => Self::at(user, id),
            None => Self::named(user, config.name().as_str()),
        }
    }

    /// The log of a server that has only a name.
    pub(crate) fn named(user: &UserId, name: &str) -> Self {
        let digest = Sha256::digest(name);
        let [a, b, c, d] = digest.first_chunk().copied().unwrap_or_default();
        // What is left of the name is for people; another name may leave the same.
        let left: String = name.chars().take(40).collect();
        Self::at(
            user,
            &format!("{left}-{:08x}", u32::from_be_bytes([a, b, c, d])),
        )
    }

    fn at(user: &UserId, name: &str) -> Self {
        let legal = |c: char| match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') => c,
            _ => '_',
        };
        let name: String = name.chars().map(legal).collect();
        let folder = home::folder_of(user).join("logs");
        Self {
            file: folder.join(format!("{name}.log")),
        }
    }

    /// The last `lines` lines; `None` if there is no log. Reads from the end, and no more than it
    /// needs.
    pub(crate) fn tail(&self, lines: usize) -> io::Result<Option<Vec<String>>> {
        let file = match File::open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        let bytes = end_of(file, length, lines)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut last: Vec<String> = text.lines().rev().take(lines).map(str::to_owned).collect();
        last.reverse();
        Ok(Some(last))
    }

    /// Of the last `lines` lines those of the last run, and of the runs before it of the same program in the
    /// same sandbox.
    pub(crate) fn runs(&self, lines: usize) -> Vec<String> {
        let (mut kept, mut run) = (Vec::new(), None);
        for line in self.tail(lines).ok().flatten().unwrap_or_default() {
            if let Some(start) = start(&line)
                && run.as_deref() != Some(start)
            {
                run = Some(start.to_owned());
                kept.clear();
            }
            kept.push(line);
        }
        kept
    }

    /// Removes it, if it is there.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Adds what a server logs by the protocol.
    pub(crate) fn logged(&self, message: &LogMessageParams) {
        self.note(&log_text(message));
    }

    /// Adds what did not come from standard error. Without a log nothing else is lost.
    pub(crate) fn note(&self, text: &str) {
        let line = |c: char| if c.is_control() { ' ' } else { c };
        let text: String = text.chars().take(LINE).map(line).collect();
        if let Ok(mut log) = open(&self.file) {
            let _ = log.write_all(format!("--- {} {text}\n", Timestamp::now()).as_bytes());
        }
    }
}

/// What a line says was started, if it is the first of a run.
fn start(line: &str) -> Option<&str> {
    // A date, a time, and what is said.
    let said = line.strip_prefix("--- ")?.splitn(3, ' ').nth(2)?;
    said.strip_prefix(STARTED)
}

/// A server's log message as text: its level, who speaks, and what.
pub(crate) fn log_text(message: &LogMessageParams) -> String {
    let level = serde_json::to_value(message.level).unwrap_or_default();
    let level = level.as_str().unwrap_or_default().to_owned();
    let said = match serde_json::from_str(message.data.get()) {
        Ok(Value::String(text)) => text,
        _ => message.data.get().to_owned(),
    };
    match &message.logger {
        Some(logger) => format!("{level} {logger}: {said}"),
        None => format!("{level}: {said}"),
    }
}

/// A spawner that copies standard error to the server's log.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) log: ServerLog,
    pub(super) inner: Arc<dyn Spawner>,
    /// Which sandbox the server has.
    pub(super) sandbox: Option<String>,
}

#[async_trait]
impl Spawner for Logged {
    async fn spawn(
        &self,
        mut request: SpawnRequest,
    ) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
        // The server runs without a log, too.
        if let Ok(mut log) = open(&self.log.file)
            && let Ok((reader, writer)) = io::pipe()
        {
            let (now, program) = (Timestamp::now(), &request.program);
            let _ = match &self.sandbox {
                Some(sandbox) => writeln!(log, "--- {now} {STARTED}{program} in sandbox {sandbox}"),
                None => writeln!(log, "--- {now} {STARTED}{program}"),
            };
            let onward = std::mem::replace(&mut request.stderr, writer);
            let copy = move || copy(reader, log, onward);
            let thread = std::thread::Builder::new().name("switchboard-log".to_owned());
            thread.spawn(copy).map_err(|error| TransportError::Io {
                action: "copying the server's log".to_owned(),
                source: error.into(),
            })?;
        }
        self.inner.spawn(request).await
    }
}

/// The end of a file of this length: at least `lines` lines, or as much as may be read. Pieces are
/// read backwards.
fn end_of(mut file: impl io::Read + io::Seek, length: u64, lines: usize) -> io::Result<Vec<u8>> {
    let first = length.saturating_sub(MAX_TAIL);
    let mut start = length;
    let mut pieces = Vec::new();
    let mut breaks = 0;
    // The break at the very end belongs to the last line.
    while start > first && breaks <= lines {
        let from = start.saturating_sub(PIECE as u64).max(first);
        let mut piece = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        (&mut file).take(start - from).read_to_end(&mut piece)?;
        breaks += piece.iter().filter(|byte| **byte == b'\n').count();
        pieces.push(piece);
        start = from;
    }
    pieces.reverse();
    Ok(pieces.concat())
}

/// Copies until the server is gone. Neither a full disk nor a reader that left stops the server.
fn copy(mut from: PipeReader, mut log: File, mut onward: io::PipeWriter) {
    let mut piece = vec![0; PIECE];
    let mut since = 0;
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let bytes = piece.get(..read).unwrap_or_default();
        let _ = log.write_all(bytes);
        since += read as u64;
        // The file may have other writers, so its size is read from its metadata.
        if since > MAX_FILE / 2 {
            let _ = bound(&mut log);
            since = 0;
        }
        let _ = onward.write_all(bytes);
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
        if is_named(path) && !path.exists() {
            // Without them nothing else is lost.
            let _ = make_room(folder);
        }
    }
    let mut options = home::private();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    bound(&mut file)?;
    Ok(file)
}

/// Whether a log is that of a name, which nothing else removes: it ends in the name's digest.
fn is_named(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str());
    let digest = name.and_then(|name| name.rsplit_once('-'));
    digest.is_some_and(|(_, it)| it.len() == 8 && it.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Removes the logs of names that were written to longest ago, so that one more may be kept.
fn make_room(folder: &Path) -> io::Result<()> {
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if is_named(&entry.path()) {
            logs.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    logs.sort();
    let too_many = (logs.len() + 1).saturating_sub(MAX_NAMED);
    for (_, log) in logs.iter().take(too_many) {
        std::fs::remove_file(log)?;
    }
    Ok(())
}

/// Cuts a file that has grown too large down to its last half.
fn bound(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    if length <= MAX_FILE {
        return Ok(());
    }
    let mut rest = Vec::new();
    file.seek(SeekFrom::Start(length - MAX_FILE / 2))?;
    // Another writer may go on meanwhile.
    (&mut *file).take(MAX_FILE / 2).read_to_end(&mut rest)?;
    file.set_len(0)?;
    file.write_all(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ServerKind;

    #[test]
    fn logs_of_names_make_room_for_each_other_and_those_of_stored_servers_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(format!("{name}.log"));
        let logs = || std::fs::read_dir(folder.path()).unwrap().count();
        open(&at("1m7s1sserpr126x1")).unwrap();
        for number in 0..MAX_NAMED + 5 {
            open(&at(&format!("name-{number:08x}"))).unwrap();
        }
        assert_eq!(logs(), MAX_NAMED + 1);
        assert!(at("1m7s1sserpr126x1").exists());
        let last = at(&format!("name-{:08x}", MAX_NAMED + 4));
        open(&last).unwrap();
        assert!(last.exists());
        assert_eq!(logs(), MAX_NAMED + 1, "one that is there needs no room");
    }

    #[test]
    fn a_flood_of_standard_error_stays_bounded_on_disk_and_its_end_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("logs/flood.log");
        let log = open(&file).unwrap();
        let (reader, mut writer) = io::pipe().unwrap();
        let (mut onward, passed) = io::pipe().unwrap();
        let drain = std::thread::spawn(move || io::copy(&mut onward, &mut io::sink()).unwrap());
        let copier = std::thread::spawn(move || copy(reader, log, passed));
        let line = format!("{}\n", "x".repeat(99));
        for _ in 0..100_000 {
            writer.write_all(line.as_bytes()).unwrap();
        }
        writer.write_all(b"last\n").unwrap();
        drop(writer);
        copier.join().unwrap();
        assert_eq!(
            drain.join().unwrap(),
            10_000_005,
            "the server's owner gets all of it"
        );
        let length = std::fs::metadata(&file).unwrap().len();
        assert!(length <= MAX_FILE + MAX_FILE / 2 + PIECE as u64, "{length}");
        let tail = ServerLog { file }.tail(2).unwrap().unwrap();
        assert_eq!(tail, [line.trim_end(), "last"]);
    }

    #[test]
    fn no_two_servers_share_a_log_and_a_stored_one_keeps_its_own() {
        let user = UserId::local();
        let named = |name: &str| ServerLog::named(&user, name).file;
        let names = ["天气", "文件", "a b", "a_b", "a", "demo"];
        let files: std::collections::BTreeSet<PathBuf> = names.map(named).into();
        assert_eq!(files.len(), names.len(), "{files:?}");
        let mut row = Server::new(user.clone(), "天气", ServerKind::Stdio);
        row.command = Some("run".to_owned());
        let before = ServerLog::of(&row).file;
        row.name = "文件".to_owned();
        assert_eq!(ServerLog::of(&row).file, before);
        let config = crate::servers::to_config(&row).unwrap();
        assert_eq!(ServerLog::of_config(&user, &config).file, before);
        let once = ServerConfig::new(config.name().clone(), config.endpoint().clone());
        let once = ServerLog::of_config(&user, &once).file;
        assert_eq!(once, named("文件"));
    }

    /// Counts what is read.
    struct Counted<R>(R, u64);

    impl<R: io::Read> io::Read for Counted<R> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(into)?;
            self.1 += read as u64;
            Ok(read)
        }
    }

    impl<R: io::Seek> io::Seek for Counted<R> {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn the_tail_of_a_large_file_is_read_from_its_end() {
        let numbers = (0..2_000_000).map(|number| format!("{number}\n"));
        let text: String = numbers.collect();
        let length = text.len() as u64;
        for (lines, most) in [(5, PIECE as u64), (usize::MAX, MAX_TAIL)] {
            let mut file = Counted(io::Cursor::new(&text), 0);
            let end = end_of(&mut file, length, lines).unwrap();
            assert!(file.1 <= most, "{} bytes for {lines} lines", file.1);
            assert!(end.ends_with(b"1999998\n1999999\n"));
        }
        // Every number of lines, however the pieces fall, is what reading all of it gives.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("some.log");
        std::fs::write(&file, text.get(..40_000).unwrap()).unwrap();
        let log = ServerLog { file };
        let all: Vec<&str> = text.get(..40_000).unwrap().lines().collect();
        for lines in [0, 1, 2, 3000, 3001, 7000, 9000] {
            let from = all.len().saturating_sub(lines);
            assert_eq!(log.tail(lines).unwrap().unwrap(), all[from..], "{lines}");
        }
    }

    #[test]
    fn a_run_counts_with_those_before_it_in_the_same_sandbox() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("some.log");
        let log = ServerLog { file };
        assert!(log.runs(9).is_empty());
        for line in [
            "cut",
            "started a in sandbox 1",
            "old",
            "started a in sandbox 2",
            "denied",
            "started a in sandbox 2",
            "said",
        ] {
            log.note(line);
        }
        let said = |lines: usize| -> Vec<String> {
            let all = log.runs(lines).into_iter();
            all.map(|line| line.splitn(4, ' ').nth(3).unwrap().to_owned())
                .collect()
        };
        let both = ["denied", "started a in sandbox 2", "said"];
        assert_eq!(said(9)[1..], both);
        assert_eq!(said(2), both[1..], "the last run, where no more is read");
        log.note("started a");
        assert_eq!(said(9), ["started a"]);
    }

    #[test]
    fn what_is_logged_is_a_line_each_and_no_line_is_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("logs/demo.log");
        let log = ServerLog { file };
        assert_eq!(log.tail(9).unwrap(), None);
        let message = r#"{"level": "warning", "logger": "db", "data": "two\nlines"}"#;
        log.logged(&serde_json::from_str(message).unwrap());
        let message = r#"{"level": "info", "data": {"disk": "full"}}"#;
        log.logged(&serde_json::from_str(message).unwrap());
        log.note(&"x".repeat(2 * LINE));
        let lines = log.tail(9).unwrap().unwrap();
        let [first, second, third] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert!(first.ends_with(" warning db: two lines"), "{first}");
        assert!(second.ends_with(" info: {\"disk\": \"full\"}"), "{second}");
        assert!(third.len() < LINE + 40);
    }
}
