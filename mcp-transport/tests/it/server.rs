//! A scripted HTTP server on raw TCP: it sends exactly the scripted bytes, and remembers what
//! it heard.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// On which connection, counted from 0.
    pub(crate) connection: usize,
    /// How many requests of this HTTP method came before.
    pub(crate) nth: usize,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Whether the body is this JSON-RPC method's.
    pub(crate) fn calls(&self, method: &str) -> bool {
        self.body.contains(&format!("\"method\":\"{method}\""))
    }
}

/// What the server does about a request, step by step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<u8>),
    /// Goes on when the gate is opened.
    Wait(Gate),
    /// Stays until the client hangs up.
    Hold,
    Close,
    Reset,
}

/// Holds an answer back until the test releases it.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }

    async fn passed(&self) {
        self.0.subscribe().wait_for(|open| *open).await.unwrap();
    }
}

impl Answer {
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self(vec![Step::Write(bytes.into())])
    }

    /// A whole answer with these header lines.
    pub(crate) fn with(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let mut text = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        Self::raw(format!("{text}\r\n{body}"))
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::with(status, &[], "")
    }

    pub(crate) fn json(body: &str) -> Self {
        Self::with(200, &[("Content-Type", "application/json")], body)
    }

    /// The start of an event stream that is not over yet.
    pub(crate) fn events(text: &str) -> Self {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
        Self::raw(head).chunk(text)
    }

    /// A whole event stream.
    pub(crate) fn all_events(text: &str) -> Self {
        Self::events(text).end()
    }

    pub(crate) fn chunk(mut self, text: &str) -> Self {
        if !text.is_empty() {
            self.0.push(Step::Write(
                format!("{:x}\r\n{text}\r\n", text.len()).into_bytes(),
            ));
        }
        self
    }

    pub(crate) fn end(mut self) -> Self {
        self.0.push(Step::Write(b"0\r\n\r\n".to_vec()));
        self
    }

    pub(crate) fn wait(mut self, gate: &Gate) -> Self {
        self.0.push(Step::Wait(gate.clone()));
        self
    }

    pub(crate) fn hold(mut self) -> Self {
        self.0.push(Step::Hold);
        self
    }

    pub(crate) fn close(mut self) -> Self {
        self.0.push(Step::Close);
        self
    }

    pub(crate) fn reset(mut self) -> Self {
        self.0.push(Step::Reset);
        self
    }

    pub(crate) fn then(mut self, more: Answer) -> Self {
        self.0.extend(more.0);
        self
    }
}

/// The running server; ends with the test.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: String,
    heard: Arc<Heard>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Heard {
    requests: Mutex<Vec<Seen>>,
    hung_up: Mutex<Vec<usize>>,
    changed: Notify,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers each request as `script` says.
    pub(crate) async fn start(script: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (heard, script) = (Arc::new(Heard::default()), Arc::new(script));
        let memory = heard.clone();
        let task = tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(connection, stream, memory.clone(), script.clone()));
            }
        });
        Self {
            address,
            heard,
            task,
        }
    }

    /// Stops listening; connections that stand are left alone.
    pub(crate) async fn stop(&self) {
        self.task.abort();
        while !self.task.is_finished() {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.heard.requests.lock().clone()
    }

    /// Requests of this HTTP method.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.heard
            .requests
            .lock()
            .iter()
            .filter(|seen| seen.method == method)
            .count()
    }

    /// Waits until what was seen satisfies `enough`.
    pub(crate) async fn saw(&self, enough: impl Fn(&[Seen]) -> bool) {
        self.until(|heard| enough(&heard.requests.lock())).await;
    }

    /// Waits until the client has hung up on this connection while the server was holding it.
    pub(crate) async fn hung_up(&self, connection: usize) {
        self.until(|heard| heard.hung_up.lock().contains(&connection))
            .await;
    }

    async fn until(&self, enough: impl Fn(&Heard) -> bool) {
        let waiting = async {
            loop {
                let changed = self.heard.changed.notified();
                if enough(&self.heard) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waiting)
            .await
            .expect("the server saw it");
    }
}

async fn serve(
    connection: usize,
    stream: TcpStream,
    heard: Arc<Heard>,
    script: Arc<impl Fn(&Seen) -> Answer>,
) {
    let mut stream = BufReader::new(stream);
    while let Some(mut seen) = read_request(&mut stream, connection).await {
        {
            let mut requests = heard.requests.lock();
            seen.nth = requests
                .iter()
                .filter(|known| known.method == seen.method)
                .count();
            requests.push(seen.clone());
        }
        heard.changed.notify_waiters();
        for step in script(&seen).0 {
            match step {
                Step::Write(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                    stream.flush().await.unwrap();
                }
                Step::Wait(gate) => gate.passed().await,
                Step::Hold => {
                    let mut rest = Vec::new();
                    let _ = stream.read_to_end(&mut rest).await;
                    heard.hung_up.lock().push(connection);
                    heard.changed.notify_waiters();
                    return;
                }
                Step::Close => return,
                Step::Reset => {
                    stream.into_inner().set_zero_linger().unwrap();
                    return;
                }
            }
        }
    }
}

async fn read_request(stream: &mut BufReader<TcpStream>, connection: usize) -> Option<Seen> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut seen = Seen {
        method,
        path,
        headers,
        body: String::new(),
        connection,
        nth: 0,
    };
    let length = seen
        .header("content-length")
        .map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    seen.body = String::from_utf8(body).unwrap();
    Some(seen)
}
