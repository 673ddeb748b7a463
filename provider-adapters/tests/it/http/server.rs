//! A scripted provider on loopback.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// What the provider answers to one request.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) end: End,
}

/// How a reply ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// As it should.
    Said,
    /// Never.
    Never,
    /// With the connection.
    Closed,
}

impl Answer {
    pub(crate) fn new(status: u16, body: impl AsRef<[u8]>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            chunks: vec![body.as_ref().to_vec()],
            end: End::Said,
        }
    }

    /// Not even a status.
    pub(crate) fn none() -> Self {
        Self::new(0, "")
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    /// In pieces of this many bytes.
    pub(crate) fn in_pieces(mut self, size: usize) -> Self {
        self.chunks = self
            .chunks
            .concat()
            .chunks(size)
            .map(<[u8]>::to_vec)
            .collect();
        self
    }

    /// Without ever ending.
    pub(crate) fn stalling(mut self) -> Self {
        self.end = End::Never;
        self
    }

    /// With the connection closed instead of an end.
    pub(crate) fn closing(mut self) -> Self {
        self.end = End::Closed;
        self
    }
}

/// What the provider was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: serde_json::Value,
}

pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Tells of requests.
    pub(crate) arrivals: mpsc::Receiver<()>,
    /// Tells of clients that hung up on a stalling answer.
    pub(crate) hang_ups: mpsc::Receiver<()>,
}

impl Server {
    /// Answers one request after the other, in order.
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (arrived, arrivals) = mpsc::channel(8);
        let (hung_up, hang_ups) = mpsc::channel(8);
        let answers = Arc::new(Mutex::new(answers.into_iter()));
        let log = asked.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, arrived) = (log.clone(), arrived.clone());
                tokio::spawn(serve(
                    stream,
                    answers.clone(),
                    log,
                    arrived,
                    hung_up.clone(),
                ));
            }
        });
        Self {
            url,
            asked,
            arrivals,
            hang_ups,
        }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    answers: Arc<Mutex<std::vec::IntoIter<Answer>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    arrived: mpsc::Sender<()>,
    hung_up: mpsc::Sender<()>,
) {
    while let Some(request) = read(&mut stream).await {
        asked.lock().push(request);
        let _ = arrived.try_send(());
        let Some(answer) = answers.lock().next() else {
            return;
        };
        if answer.status != 0 {
            say(&mut stream, &answer).await;
        }
        if answer.end == End::Closed {
            return;
        }
        if answer.end == End::Never {
            let gone = stream.read(&mut [0; 64]).await.unwrap_or(0) == 0;
            assert!(gone, "a client speaks while it should listen");
            let _ = hung_up.send(()).await;
            return;
        }
        let _ = stream.write_all(b"0\r\n\r\n").await;
    }
}

async fn say(stream: &mut TcpStream, answer: &Answer) {
    let mut head = format!(
        "HTTP/1.1 {} x\r\ntransfer-encoding: chunked\r\n",
        answer.status
    );
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    for chunk in &answer.chunks {
        let mut frame = format!("{:x}\r\n", chunk.len()).into_bytes();
        frame.extend_from_slice(chunk);
        frame.extend_from_slice(b"\r\n");
        if stream.write_all(&frame).await.is_err() {
            break;
        }
    }
}

/// Nothing, once the client has nothing more to say.
async fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let count = stream.read_buf(bytes).await.ok()?;
    (count > 0).then_some(())
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let head = loop {
        read_more(stream, &mut bytes).await?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            break head.to_owned();
        }
    };
    let length: usize = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")?
                .parse()
                .ok()
        })
        .unwrap_or_default();
    let mut body = bytes.split_off(head.len() + 4);
    while body.len() < length {
        read_more(stream, &mut body).await?;
    }
    Some(Asked {
        head,
        body: match body.is_empty() {
            true => serde_json::Value::Null,
            // A form, unless it is JSON.
            false => serde_json::from_slice(&body)
                .unwrap_or_else(|_| String::from_utf8(body).unwrap().into()),
        },
    })
}
