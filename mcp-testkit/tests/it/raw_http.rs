//! HTTP read byte by byte, as far as a server speaks.

use mcp_testkit::{Running, Seen};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::wire_text::SHOWN;

/// A connection and what came on it so far.
pub(crate) struct Raw {
    stream: TcpStream,
    pub(crate) bytes: Vec<u8>,
    silences: usize,
}

impl Raw {
    /// Sends one request on a connection of its own.
    pub(crate) async fn send(server: &Running, head: &str, body: &str) -> Self {
        let url = server.url();
        let address = url
            .trim_start_matches("http://")
            .split('/')
            .next()
            .unwrap()
            .to_owned();
        let silences = silences(server);
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let request = format!(
            "{head} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\nAccept: application/json, \
             text/event-stream\r\nAccept-Encoding: gzip\r\nMcp-Session-Id: session-000001\r\n\r\n{body}",
            body.len()
        );
        // A server that closes at once may be gone before we have written.
        let _ = stream.write_all(request.as_bytes()).await;
        Self {
            stream,
            bytes: Vec::new(),
            silences,
        }
    }

    /// Reads until enough is there, or the server closes, or says that it will say no more.
    pub(crate) async fn read_until(&mut self, server: &Running, enough: impl Fn(&[u8]) -> bool) {
        while !enough(&self.bytes) {
            let before = self.silences;
            let silent = server.log().wait_for(|_| silences(server) > before);
            let end = tokio::select! {
                biased;
                read = self.stream.read_buf(&mut self.bytes) => match read {
                    Ok(0) => "(closed)",
                    Ok(_) => continue,
                    Err(_) => "(reset)",
                },
                _ = silent => "(silence)",
            };
            self.bytes.extend_from_slice(end.as_bytes());
            return;
        }
    }
}

/// How often the server said that it will say no more.
fn silences(server: &Running) -> usize {
    let silent = |event: &mcp_testkit::Event| matches!(&event.seen, Seen::Milestone { name, .. } if name == "silent");
    server
        .log()
        .events()
        .iter()
        .filter(|event| silent(event))
        .count()
}

/// Whether a whole response is there, or so much that the rest does not matter.
pub(crate) fn complete(bytes: &[u8]) -> bool {
    // What comes before the answer is not the answer.
    let ends = |bytes: &[u8]| bytes.windows(4).position(|w| w == b"\r\n\r\n");
    if let (true, Some(end)) = (bytes.starts_with(b"HTTP/1.1 1"), ends(bytes)) {
        return complete(&bytes[end + 4..]);
    }
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return bytes.len() >= SHOWN;
    };
    let start = ends(bytes).unwrap_or(0) + 4;
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
    bytes.len() >= SHOWN
        || head.contains(" 204 ")
        || head.contains("chunked") && body.ends_with("0\r\n\r\n")
        || length.is_some_and(|length: usize| bytes.len() - start >= length)
}
