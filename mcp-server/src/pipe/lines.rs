//! Byte streams with one message per line: standard input and output, sockets, pipes.

use async_trait::async_trait;
use mcp_transport::{Line, LineFramer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::pipe::{Input, Output, Received};

/// Lines from a byte stream.
pub(crate) struct LineInput<R> {
    reader: R,
    framer: LineFramer,
}

/// Lines to a byte stream.
pub(crate) struct LineOutput<W>(pub(crate) W);

impl<R> LineInput<R> {
    pub(crate) fn new(reader: R, message_bytes: usize) -> Self {
        Self {
            reader,
            framer: LineFramer::new(message_bytes),
        }
    }
}

#[async_trait]
impl<R: AsyncRead + Send + Unpin + 'static> Input for LineInput<R> {
    async fn recv(&mut self) -> Received {
        loop {
            match self.framer.next_line() {
                Some(Line::Whole(line)) => return Received::Message(line),
                Some(Line::TooLarge { .. }) => return Received::TooLarge,
                Some(_) => return Received::End,
                None if self.framer.is_finished() => return Received::End,
                None => {}
            }
            match self.reader.read_buf(self.framer.room()).await {
                Ok(0) | Err(_) => self.framer.finish(),
                Ok(_) => {}
            }
        }
    }
}

#[async_trait]
impl<W: AsyncWrite + Send + Unpin + 'static> Output for LineOutput<W> {
    async fn send(&mut self, messages: Vec<Vec<u8>>) -> bool {
        let size = messages.iter().map(|message| message.len() + 1).sum();
        let mut lines = Vec::with_capacity(size);
        for message in messages {
            lines.extend_from_slice(&message);
            lines.push(b'\n');
        }
        self.0.write_all(&lines).await.is_ok() && self.0.flush().await.is_ok()
    }
}
