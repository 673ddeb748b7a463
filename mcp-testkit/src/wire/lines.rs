//! One message per line, over any pair of byte streams.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::stdio;
use crate::Refusal;
use crate::log::{Origin, Seen};
use crate::protocol::{Out, Piece, Session, World, error};

/// The maximum number of bytes per write, unless one message is longer.
const BATCH: usize = 256 << 10;
/// The maximum length of a client's line.
const MAX_LINE: usize = 64 << 20;

/// A server at one end of a pair of byte streams.
pub(crate) struct Lines {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    unread: Vec<u8>,
    /// The part of `unread` already searched for a line end.
    searched: usize,
    /// The maximum number of bytes per read, and the pause before it.
    pub(crate) patience: Option<(usize, Duration)>,
    pub(crate) out: Out,
    pub(crate) session: Arc<Session>,
    place: Place,
}

/// The place of a server of lines.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In memory.
    Memory,
    /// This process's standard input and output; the flag means that signals are ignored.
    Process(Arc<AtomicBool>),
}

/// The format of written messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Written before every message.
    pub(crate) before: &'static [u8],
    /// Ends every message.
    pub(crate) end: &'static [u8],
    /// Bytes per write.
    pub(crate) step: usize,
}

impl Style {
    /// The correct format.
    pub(crate) const PLAIN: Self = Self {
        before: b"",
        end: b"\n",
        step: usize::MAX,
    };
}

impl Lines {
    /// Creates a server on these streams, and the future that writes for it.
    pub(crate) fn new<R, W>(
        world: &Arc<World>,
        reader: R,
        writer: W,
        style: Style,
        place: Place,
    ) -> (Self, impl Future<Output = io::Result<()>> + Send + 'static)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (out, pieces) = Out::channel();
        let session = Session::new(world);
        session.set_general(out.clone());
        let lines = Self {
            reader: Box::new(reader),
            unread: Vec::new(),
            searched: 0,
            patience: None,
            out,
            session,
            place,
        };
        (lines, write(pieces, writer, style))
    }

    /// Serves until the client closes.
    pub(crate) async fn serve(&mut self) -> io::Result<()> {
        while let Some(message) = self.receive().await? {
            self.handle(message).await;
        }
        Ok(())
    }

    /// Behaves well until a request of this method arrives.
    pub(crate) async fn until(&mut self, method: &str) -> io::Result<Option<Value>> {
        while let Some(message) = self.receive().await? {
            if message.get("method").is_some_and(|m| m == method) && message.get("id").is_some() {
                return Ok(Some(message));
            }
            self.handle(message).await;
        }
        Ok(None)
    }

    /// The next message; `None` once the client has closed.
    pub(crate) async fn receive(&mut self) -> io::Result<Option<Value>> {
        let log = self.session.world.log.clone();
        while let Some(line) = self.read_line().await? {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Ok(message) = serde_json::from_slice::<Value>(&line) {
                log.message(Origin::First, &message, line.len());
                return Ok(Some(message));
            }
            let refusal = Refusal::new(-32700, "Parse error");
            log.refused(&refusal);
            self.out.send(&error(&Value::Null, &refusal)).await;
        }
        log.record(Seen::Eof);
        Ok(None)
    }

    /// Handles a message like a well-behaved server.
    pub(crate) async fn handle(&mut self, message: Value) {
        self.session.handle(message, &self.out).await;
    }

    /// Waits until this many unread bytes have arrived.
    pub(crate) async fn wait_for_bytes(&mut self, count: usize) -> io::Result<bool> {
        while self.unread.len() < count {
            if !self.fill().await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The response of a well-behaved server.
    pub(crate) async fn answer(&mut self, request: &Value) -> Vec<u8> {
        let reply = self.session.answer(request, &self.out, None).await;
        match reply.pieces.into_iter().next() {
            Some(Piece::Message(bytes)) => bytes,
            _ => Vec::new(),
        }
    }

    /// Closes the input.
    pub(crate) fn close_input(&mut self) {
        self.reader = Box::new(tokio::io::empty());
        if let Place::Process(_) = self.place {
            stdio::close_input();
        }
    }

    /// Writes queued messages, then closes the output.
    pub(crate) async fn close_output(&mut self) {
        self.out.flush().await;
        self.out.send(Piece::End).await;
        self.out.closed().await;
        if let Place::Process(_) = self.place {
            stdio::close_output();
        }
    }

    /// Makes signals logged only, without ending the process.
    pub(crate) fn ignore_signals(&self) {
        if let Place::Process(ignore) = &self.place {
            ignore.store(true, Ordering::Relaxed);
        }
    }

    async fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let fresh = self.unread.get(self.searched..).unwrap_or_default();
            if let Some(at) = fresh.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.unread.drain(..=self.searched + at).collect();
                self.searched = 0;
                line.pop();
                return Ok(Some(line));
            }
            self.searched = self.unread.len();
            if self.searched > MAX_LINE {
                return Err(io::Error::other("the client's line is too long"));
            }
            if !self.fill().await? {
                return Ok(None);
            }
        }
    }

    async fn fill(&mut self) -> io::Result<bool> {
        let Some((most, pause)) = self.patience else {
            self.unread.reserve(64 << 10);
            return Ok(self.reader.read_buf(&mut self.unread).await? > 0);
        };
        tokio::time::sleep(pause).await;
        let mut limited = (&mut self.reader).take(u64::try_from(most).unwrap_or(u64::MAX));
        Ok(limited.read_buf(&mut self.unread).await? > 0)
    }
}

/// Writes pieces until there are none, as many at once as are ready.
async fn write<W>(mut pieces: mpsc::Receiver<Piece>, mut writer: W, style: Style) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    let mut batch = Vec::new();
    let mut bytes = Vec::new();
    while pieces.recv_many(&mut batch, 64).await > 0 {
        for piece in batch.drain(..) {
            match piece {
                Piece::Message(message) => style.frame(&mut bytes, &message),
                Piece::Many(times, make) => {
                    for number in 0..times {
                        style.frame(&mut bytes, &make(number));
                        if bytes.len() > BATCH {
                            style.write(&mut writer, &mut bytes).await?;
                        }
                    }
                }
                Piece::Raw(raw, times) => {
                    style.write(&mut writer, &mut bytes).await?;
                    for _ in 0..times {
                        writer.write_all(&raw).await?;
                    }
                }
                Piece::Flush(written) => {
                    style.write(&mut writer, &mut bytes).await?;
                    if let Some(written) = written.lock().take() {
                        // The waiter may have been dropped.
                        let _ = written.send(());
                    }
                }
                Piece::End | Piece::Reset => {
                    style.write(&mut writer, &mut bytes).await?;
                    return Ok(());
                }
            }
            if bytes.len() > BATCH {
                style.write(&mut writer, &mut bytes).await?;
            }
        }
        style.write(&mut writer, &mut bytes).await?;
    }
    Ok(())
}

impl Style {
    fn frame(self, bytes: &mut Vec<u8>, message: &[u8]) {
        bytes.extend_from_slice(self.before);
        bytes.extend_from_slice(message);
        bytes.extend_from_slice(self.end);
    }

    async fn write<W: AsyncWrite + Unpin>(
        self,
        writer: &mut W,
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        for part in bytes.chunks(self.step) {
            writer.write_all(part).await?;
            writer.flush().await?;
        }
        bytes.clear();
        Ok(())
    }
}
