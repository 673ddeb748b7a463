//! What one user reaches at one replica.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

/// Live events that were not taken yet.
const MAX_EVENTS: usize = 1 << 16;

/// A user's event: whose, its kind, and its data.
pub(super) type Event = (usize, String, Value);

/// A user's access to a replica.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) port: u16,
    pub(super) token: String,
}

impl Door {
    /// From a link with a token.
    pub(super) fn new(link: &str) -> Self {
        let (page, token) = link.split_once("/#token=").unwrap();
        Self {
            port: page.rsplit(':').next().unwrap().parse().unwrap(),
            token: token.to_owned(),
        }
    }

    fn connect(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    pub(super) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let (status, body) = self.text(method, path, body);
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    /// The same, with the body as it is.
    pub(super) fn text(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, String) {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
             Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            self.token,
            body.len()
        );
        let mut reply = String::new();
        self.connect(&request).read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    pub(super) fn done(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (status, value) = self.ask(method, path, body);
        assert!(status < 300, "{method} {path}: {status} {value}");
        value
    }

    /// The request for live events from now on.
    pub(super) fn wish(&self) -> String {
        format!(
            "GET /api/events HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.port, self.token
        )
    }

    /// Live events from now on.
    pub(super) fn events(&self) -> Events {
        let (send, received) = mpsc::sync_channel(MAX_EVENTS);
        let stream = self.events_into(0, send);
        Events {
            _stream: stream,
            received,
        }
    }

    /// The same, as this user's, into a channel that others may send to as well.
    pub(super) fn events_into(&self, user: usize, send: mpsc::SyncSender<Event>) -> Stream {
        let stream = self.connect(&self.wish());
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while !line.starts_with(": open") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "no events: {line}");
        }
        std::thread::spawn(move || {
            let (mut kind, mut line) = (String::new(), String::new());
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                if let Some(named) = line.strip_prefix("event: ") {
                    kind = named.trim().to_owned();
                } else if let Some(data) = line.strip_prefix("data: ") {
                    let data = serde_json::from_str(data).unwrap();
                    if send.send((user, kind.clone(), data)).is_err() {
                        return;
                    }
                }
                line.clear();
            }
        });
        Stream(stream)
    }
}

/// Live events. Dropping them ends the stream.
pub(super) struct Events {
    _stream: Stream,
    received: mpsc::Receiver<Event>,
}

impl Events {
    pub(super) fn next(&self) -> (String, Value) {
        let (_, kind, data) = next(&self.received);
        (kind, data)
    }
}

/// The next event, which comes before long.
pub(super) fn next(received: &mpsc::Receiver<Event>) -> Event {
    received.recv_timeout(Duration::from_secs(300)).unwrap()
}

/// A stream of events, until it is dropped.
pub(super) struct Stream(TcpStream);

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
