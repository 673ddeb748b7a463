//! What servers write to standard error and log, and why they failed: a file per server.

use std::fs::File;
use std::io::{self, PipeReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mcp_jsonrpc::model::LogMessageParams;
use mcp_transport::{SpawnRequest, SpawnedProcess, Spawner, TransportError};
use serde_json::Value;

use crate::home;
use crate::store::{Timestamp, UserId};

/// A file that has grown beyond this is begun anew, with its last half kept.
const MOST: u64 = 1 << 20;
/// How much is copied at once.
const PIECE: usize = 16 << 10;

/// The longest line that is added of what a server logs.
const LINE: usize = 4096;

/// The log of a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerLog {
    file: PathBuf,
}

impl ServerLog {
    /// The log of a user's server.
    pub(crate) fn of(user: &UserId, server: &str) -> Self {
        let legal = |c: char| match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') => c,
            _ => '_',
        };
        let name: String = server.chars().map(legal).collect();
        let folder = home::folder_of(user).join("logs");
        Self {
            file: folder.join(format!("{name}.log")),
        }
    }

    /// Its last so many lines; `None` if there is none.
    pub(crate) fn tail(&self, lines: usize) -> io::Result<Option<Vec<String>>> {
        let bytes = match std::fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut last: Vec<String> = text.lines().rev().take(lines).map(str::to_owned).collect();
        last.reverse();
        Ok(Some(last))
    }

    /// Adds what a server logs by the protocol.
    pub(crate) fn logged(&self, message: &LogMessageParams) {
        let level = serde_json::to_value(message.level).unwrap_or_default();
        let level = level.as_str().unwrap_or_default().to_owned();
        let said = match serde_json::from_str(message.data.get()) {
            Ok(Value::String(text)) => text,
            _ => message.data.get().to_owned(),
        };
        match &message.logger {
            Some(logger) => self.note(&format!("{level} {logger}: {said}")),
            None => self.note(&format!("{level}: {said}")),
        }
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

/// Starts programs by another's hand and copies what they write to standard error to their log.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) log: ServerLog,
    pub(super) inner: Arc<dyn Spawner>,
}

#[async_trait]
impl Spawner for Logged {
    async fn spawn(
        &self,
        mut request: SpawnRequest,
    ) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
        // Without a log the server runs as well.
        if let Ok(mut log) = open(&self.log.file)
            && let Ok((reader, writer)) = io::pipe()
        {
            let _ = writeln!(log, "--- {} {}", Timestamp::now(), request.program);
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

/// Copies until the server is gone. Neither a full disk nor a reader that left stops the server.
fn copy(mut from: PipeReader, mut log: File, mut onward: io::PipeWriter) {
    let mut piece = vec![0; PIECE];
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let bytes = piece.get(..read).unwrap_or_default();
        let _ = log.write_all(bytes);
        let _ = onward.write_all(bytes);
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = home::private();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    if file.metadata()?.len() > MOST {
        let mut rest = Vec::new();
        file.seek(SeekFrom::End(-((MOST / 2) as i64)))?;
        file.read_to_end(&mut rest)?;
        file.set_len(0)?;
        file.write_all(&rest)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

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
