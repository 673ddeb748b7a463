//! The message of `switchboard run`: its words, a file, and what is piped in.

use std::io::{ErrorKind, IsTerminal as _, Read};
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::display::out::Out;
use crate::exit::{Exit, Failure};

/// The longest text that is read from a file or from standard input.
const MAX_BYTES: usize = 16 << 20;
/// How much is read at once.
const PIECE: usize = 64 << 10;
/// How long standard input may say nothing before that is remarked.
const SILENCE: Duration = Duration::from_secs(3);

/// Joins the prompt, the file and standard input, in this order, with a blank line between them.
/// Standard input is read if it is named by `-`, or if something is piped in beside a prompt.
pub(crate) async fn message(
    prompt: Option<&str>,
    file: Option<&Path>,
    out: &Out,
) -> Result<Option<String>, Failure> {
    let mut parts = Vec::new();
    let mut is_read = false;
    match prompt {
        Some("-") => {
            is_read = true;
            parts.push(piped(Source::Named, out).await?);
        }
        Some(prompt) => parts.push(prompt.to_owned()),
        None => {}
    }
    match file.map(|file| (file, file == Path::new("-"))) {
        Some((_, true)) if !is_read => {
            is_read = true;
            parts.push(piped(Source::Named, out).await?);
        }
        Some((_, true)) | None => {}
        Some((file, false)) => parts.push(of_file(file)?),
    }
    if !is_read
        && !parts.is_empty()
        && let Some(source) = Source::beside()
    {
        parts.push(piped(source, out).await?);
    }
    if parts.is_empty() {
        return Ok(None);
    }
    parts.retain(|part| !part.trim().is_empty());
    if parts.is_empty() {
        let failure = Failure::new(Exit::Other, "the message is empty");
        return Err(failure.with_hint("Nothing was given, or what was read has no text."));
    }
    Ok(Some(parts.join("\n\n")))
}

/// Where piped text comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Source {
    /// It was asked for by name.
    Named,
    /// A pipe or a file beside the prompt: it has an end.
    Pipe,
    /// A socket, which a program may have left open: without a word in time, it is left.
    Socket,
}

impl Source {
    /// What is on standard input beside a prompt, if anything can be.
    fn beside() -> Option<Self> {
        if std::io::stdin().is_terminal() {
            return None;
        }
        #[cfg(unix)]
        {
            use std::os::fd::AsFd as _;
            use std::os::unix::fs::FileTypeExt as _;
            let owned = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
            let kind = std::fs::File::from(owned).metadata().ok()?.file_type();
            match (kind.is_fifo() || kind.is_file(), kind.is_socket()) {
                (true, _) => Some(Self::Pipe),
                (_, true) => Some(Self::Socket),
                _ => None,
            }
        }
        #[cfg(not(unix))]
        Some(Self::Socket)
    }
}

/// All of standard input.
async fn piped(source: Source, out: &Out) -> Result<String, Failure> {
    let (pieces, mut read) = mpsc::channel(1);
    // Without the thread there is nothing to read.
    let _ = std::thread::Builder::new()
        .name("switchboard-stdin".to_owned())
        .spawn(move || pump(std::io::stdin().lock(), &pieces));
    let first = match tokio::time::timeout(SILENCE, read.recv()).await {
        Ok(first) => first,
        Err(_) if source == Source::Socket => {
            out.remark(
                "Nothing came from standard input within 3 seconds: going on without it. -f - \
                 waits for it.",
            );
            return Ok(String::new());
        }
        Err(_) => {
            out.remark("Waiting for the end of standard input. `< /dev/null` leaves it out.");
            read.recv().await
        }
    };
    let mut bytes = Vec::new();
    let mut next = first;
    while let Some(piece) = next {
        let piece = piece.map_err(|error| {
            Failure::new(Exit::Other, "standard input cannot be read").caused_by(error)
        })?;
        if bytes.len() + piece.len() > MAX_BYTES {
            return Err(too_long("standard input"));
        }
        bytes.extend(piece);
        next = read.recv().await;
    }
    text(bytes, "standard input")
}

/// Sends all there is to read, piece by piece.
fn pump(mut from: impl Read, to: &mpsc::Sender<std::io::Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; PIECE];
        let read = match from.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => {
                piece.truncate(length);
                Ok(piece)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        if to.blocking_send(read).is_err() || failed {
            return;
        }
    }
}

/// The text of a file of ours, which is not longer than a message.
pub(super) fn of_file(path: &Path) -> Result<String, Failure> {
    let shown = path.display().to_string();
    let unreadable =
        |error| Failure::new(Exit::Other, format!("{shown} cannot be read")).caused_by(error);
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let mut bounded = file.take(MAX_BYTES as u64 + 1);
    bounded.read_to_end(&mut bytes).map_err(unreadable)?;
    match bytes.len() > MAX_BYTES {
        true => Err(too_long(&shown)),
        false => text(bytes, &shown),
    }
}

fn too_long(what: &str) -> Failure {
    Failure::new(Exit::Other, format!("{what} is longer than 16 MiB"))
        .with_hint("Send a part of it, or let a tool read it.")
}

fn text(bytes: Vec<u8>, what: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = format!("{what} is not UTF-8 text: byte {at} is not part of a character");
        Failure::new(Exit::Other, text)
    })
}
