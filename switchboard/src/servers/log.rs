//! What servers write to standard error, kept in a file per server.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mcp_transport::{SpawnRequest, SpawnedProcess, Spawner, TransportError};

use crate::home;
use crate::store::Timestamp;

/// A file that has grown beyond this is begun anew, with its last half kept.
const MOST: u64 = 1 << 20;
/// How much is copied at once.
const PIECE: usize = 16 << 10;

/// The file of a server's log.
fn log_file(server: &str) -> PathBuf {
    let legal = |c: char| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') => c,
        _ => '_',
    };
    let name: String = server.chars().map(legal).collect();
    home::folder().join("logs").join(format!("{name}.log"))
}

/// The last so many lines of a server's log; `None` if it has none.
pub(crate) fn log_tail(server: &str, lines: usize) -> io::Result<Option<Vec<String>>> {
    let bytes = match std::fs::read(log_file(server)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut last: Vec<String> = text.lines().rev().take(lines).map(str::to_owned).collect();
    last.reverse();
    Ok(Some(last))
}

/// Starts programs by another's hand and copies what they write to standard error to their log.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) server: String,
    pub(super) inner: Arc<dyn Spawner>,
}

#[async_trait]
impl Spawner for Logged {
    async fn spawn(
        &self,
        mut request: SpawnRequest,
    ) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
        // Without a log the server runs as well.
        if let Ok(mut log) = open(&log_file(&self.server))
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
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    if file.metadata()?.len() > MOST {
        let mut rest = Vec::new();
        file.seek(SeekFrom::End(-((MOST / 2) as i64)))?;
        file.read_to_end(&mut rest)?;
        file.set_len(0)?;
        file.write_all(&rest)?;
    }
    Ok(file)
}
