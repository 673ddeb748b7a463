//! One HTTP/1.1 connection, written byte by byte so that it can also be written incorrectly.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Headers, gzip};
use crate::Log;
use crate::protocol::Piece;

/// The maximum size of a client's head and of its body.
const MAX_HEAD: usize = 64 << 10;
const MAX_BODY: usize = 64 << 20;
/// The number of a flood's messages per write.
const BATCH: u64 = 64;

/// A connection to a client.
#[derive(Debug)]
pub(crate) struct Conn {
    stream: TcpStream,
    unread: Vec<u8>,
    pub(crate) number: u64,
    pub(crate) requests: u64,
    pub(crate) dress: Dress,
    log: Log,
    /// The line ending of events.
    pub(crate) line_end: &'static [u8],
}

/// The form of JSON bodies.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Dress {
    #[default]
    Plain,
    /// With a content type in odd case, with a parameter.
    OddCase,
    /// Compressed.
    Gzip,
    /// In HTTP/1.0, ended by closing.
    Http10,
}

/// A request with its body.
#[derive(Debug, Default)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    /// The target without its query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

impl Conn {
    pub(crate) fn new(stream: TcpStream, number: u64, log: Log) -> Self {
        // A failure only makes small writes slower.
        let _ = stream.set_nodelay(true);
        Self {
            stream,
            unread: Vec::new(),
            number,
            requests: 0,
            dress: Dress::Plain,
            log,
            line_end: b"\n",
        }
    }

    /// The next request; `None` once the client has closed.
    pub(crate) async fn read_request(&mut self) -> io::Result<Option<HttpRequest>> {
        let end = loop {
            if let Some(end) = find(&self.unread, b"\r\n\r\n") {
                break end;
            }
            if self.unread.len() > MAX_HEAD {
                return Err(io::Error::other("the request's head is too long"));
            }
            if !self.fill().await? {
                return Ok(None);
            }
        };
        let head: Vec<u8> = self.unread.drain(..end + 4).collect();
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let headers = Headers::parse(lines);
        let chunked = headers
            .get("transfer-encoding")
            .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        let body = if chunked {
            self.read_chunks().await?
        } else {
            let length = headers
                .get("content-length")
                .and_then(|length| length.parse().ok());
            self.read_exactly(length.unwrap_or(0)).await?
        };
        self.requests += 1;
        Ok(Some(HttpRequest {
            method: method.to_owned(),
            target: target.to_owned(),
            headers,
            body,
        }))
    }

    async fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                if let Some(end) = find(&self.unread, b"\r\n") {
                    break end;
                }
                if !self.fill().await? {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            };
            let line: Vec<u8> = self.unread.drain(..end + 2).collect();
            let size = String::from_utf8_lossy(&line);
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
            let mut chunk = self.read_exactly(size + 2).await?;
            chunk.truncate(size);
            body.append(&mut chunk);
            if size == 0 {
                return Ok(body);
            }
            if body.len() > MAX_BODY {
                return Err(io::Error::other("the request's body is too long"));
            }
        }
    }

    async fn read_exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        if length > MAX_BODY {
            return Err(io::Error::other("the request's body is too long"));
        }
        while self.unread.len() < length {
            if !self.fill().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.unread.drain(..length).collect())
    }

    async fn fill(&mut self) -> io::Result<bool> {
        Ok(self.stream.read_buf(&mut self.unread).await? > 0)
    }

    /// Returns when the client closes the connection.
    pub(crate) async fn gone(&mut self) {
        while self.unread.len() < MAX_HEAD {
            if !matches!(self.fill().await, Ok(true)) {
                return;
            }
        }
        std::future::pending().await
    }

    /// Sends nothing more until the client closes the connection.
    pub(crate) async fn hang(&mut self) -> io::Result<()> {
        self.log.mark("silent", self.number);
        self.gone().await;
        Err(closed())
    }

    /// Writes bytes unchanged.
    pub(crate) async fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Writes the same bytes repeatedly.
    pub(crate) async fn repeat(&mut self, bytes: &[u8], times: u64) -> io::Result<()> {
        for _ in 0..times {
            self.raw(bytes).await?;
        }
        Ok(())
    }

    /// Writes bytes one at a time, with a pause after each.
    pub(crate) async fn drip(&mut self, bytes: &[u8], pause: Duration) -> io::Result<()> {
        for byte in bytes.chunks(1) {
            self.raw(byte).await?;
            tokio::time::sleep(pause).await;
        }
        Ok(())
    }

    /// Writes a whole response. An empty content type writes none.
    pub(crate) async fn reply(
        &mut self,
        status: u16,
        content_type: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<()> {
        let dress = if content_type == "application/json" {
            self.dress
        } else {
            Dress::Plain
        };
        if dress == Dress::Http10 {
            let mut all = vec![("Content-Type", content_type)];
            all.extend(headers);
            let mut bytes = head(status, &all);
            bytes.splice(..8, *b"HTTP/1.0");
            bytes.extend_from_slice(body);
            self.raw(&bytes).await?;
            return self.close().await;
        }
        let packed = gzip::compress(if dress == Dress::Gzip { body } else { b"" });
        let (content_type, body) = match dress {
            Dress::OddCase => ("Application/JSON; charset=UTF-8", body),
            Dress::Gzip => (content_type, packed.as_slice()),
            Dress::Plain | Dress::Http10 => (content_type, body),
        };
        let length = body.len().to_string();
        let mut all = vec![("Content-Type", content_type), ("Content-Length", &length)];
        all.retain(|(name, value)| {
            !(value.is_empty() || status == 204 && *name == "Content-Length")
        });
        if dress == Dress::Gzip {
            all.push(("Content-Encoding", "gzip"));
        }
        all.extend(headers);
        let mut bytes = head(status, &all);
        bytes.extend_from_slice(body);
        self.raw(&bytes).await
    }

    /// Begins a chunked response.
    pub(crate) async fn begin(
        &mut self,
        status: u16,
        content_type: &str,
        headers: &[(&str, &str)],
    ) -> io::Result<()> {
        let mut all = vec![
            ("Content-Type", content_type),
            ("Cache-Control", "no-cache"),
            ("Transfer-Encoding", "chunked"),
        ];
        all.extend(headers);
        self.raw(&head(status, &all)).await
    }

    /// Begins an event stream.
    pub(crate) async fn begin_events(&mut self, headers: &[(&str, &str)]) -> io::Result<()> {
        self.begin(200, "text/event-stream", headers).await
    }

    /// One chunk of a chunked response.
    pub(crate) async fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        self.raw(&framed).await
    }

    /// Writes the normal end of a chunked response.
    pub(crate) async fn end(&mut self) -> io::Result<()> {
        self.raw(b"0\r\n\r\n").await
    }

    /// Writes a piece to an event stream, with this event id if it is a message.
    pub(crate) async fn write_piece(&mut self, piece: &Piece, id: Option<&str>) -> io::Result<()> {
        match piece {
            Piece::Message(bytes) => self.chunk(&event_of(bytes, id, self.line_end)).await,
            Piece::Many(times, make) => {
                let mut written = 0;
                while written < *times {
                    let batch = BATCH.min(times - written);
                    let events: Vec<u8> = (written..written + batch)
                        .flat_map(|n| event_of(&make(n), None, self.line_end))
                        .collect();
                    self.chunk(&events).await?;
                    written += batch;
                }
                Ok(())
            }
            Piece::Raw(bytes, times) => {
                for _ in 0..*times {
                    self.chunk(bytes).await?;
                }
                Ok(())
            }
            Piece::Flush(written) => {
                if let Some(written) = written.lock().take() {
                    // The waiter may have been dropped.
                    let _ = written.send(());
                }
                Ok(())
            }
            Piece::End => {
                self.end().await?;
                self.close().await
            }
            Piece::Reset => self.reset(),
        }
    }

    /// Closes the connection silently. Always an error: nothing can follow.
    pub(crate) async fn close(&mut self) -> io::Result<()> {
        self.stream.shutdown().await?;
        Err(closed())
    }

    /// Cuts the connection with a TCP reset. Always an error: nothing can follow.
    pub(crate) fn reset(&mut self) -> io::Result<()> {
        self.stream.set_zero_linger()?;
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

/// A message as an event. Line breaks inside it become several data lines.
pub(crate) fn event(message: &[u8], id: Option<&str>) -> Vec<u8> {
    event_of(message, id, b"\n")
}

fn event_of(message: &[u8], id: Option<&str>, line_end: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(message.len() + 16);
    if let Some(id) = id {
        bytes.extend_from_slice(format!("id: {id}").as_bytes());
        bytes.extend_from_slice(line_end);
    }
    for line in message.split(|byte| *byte == b'\n') {
        bytes.extend_from_slice(b"data: ");
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(line_end);
    }
    bytes.extend_from_slice(line_end);
    bytes
}

/// The head of a response.
pub(crate) fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} {}\r\n", reason(status)).into_bytes();
    for (name, value) in headers {
        // Header values are Latin-1 on the wire.
        bytes.extend(name.bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend(
            value
                .chars()
                .map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')),
        );
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        302 => "Found",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Status",
    }
}

fn closed() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}
