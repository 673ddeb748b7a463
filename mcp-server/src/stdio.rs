//! Byte streams, one message a line: standard input and output, sockets, pipes.

use async_trait::async_trait;
use mcp_transport::{Line, LineFramer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;

use crate::pipe::{Received, Wire};

/// A pair of byte streams.
pub(crate) struct StreamWire<R, W> {
    input: Mutex<Input<R>>,
    output: Mutex<W>,
}

struct Input<R> {
    reader: R,
    framer: LineFramer,
}

impl<R, W> StreamWire<R, W> {
    pub(crate) fn new(reader: R, writer: W, message_bytes: usize) -> Self {
        Self {
            input: Mutex::new(Input {
                reader,
                framer: LineFramer::new(message_bytes),
            }),
            output: Mutex::new(writer),
        }
    }
}

#[async_trait]
impl<R, W> Wire for StreamWire<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    async fn recv(&self) -> Received {
        let mut input = self.input.lock().await;
        let Input { reader, framer } = &mut *input;
        loop {
            match framer.next_line() {
                Some(Line::Whole(line)) => return Received::Message(line),
                Some(Line::TooLarge { .. }) => return Received::TooLarge,
                Some(_) => return Received::End,
                None if framer.is_finished() => return Received::End,
                None => {}
            }
            match reader.read_buf(framer.room()).await {
                Ok(0) | Err(_) => framer.finish(),
                Ok(_) => {}
            }
        }
    }

    async fn send(&self, messages: Vec<Vec<u8>>) -> bool {
        let mut lines = Vec::with_capacity(messages.iter().map(|message| message.len() + 1).sum());
        for message in messages {
            lines.extend_from_slice(&message);
            lines.push(b'\n');
        }
        let mut output = self.output.lock().await;
        output.write_all(&lines).await.is_ok() && output.flush().await.is_ok()
    }
}
