//! Floods, and what they leave in the memory of a server that is a process of its own: the example
//! `conformance_server`, which is built along with the tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http_kit::{initialize, modern};

/// How much larger a flood may leave the process. What clients may keep is a part of it: ten
/// thousand sessions, a thousand tasks.
const MAX_GROWTH: u64 = 48 << 20;

/// The time that any one reply may take.
const LIMIT: Duration = Duration::from_secs(30);

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start() -> Self {
        let test = std::env::current_exe().unwrap();
        let folder: PathBuf = test.ancestors().nth(2).unwrap().join("examples");
        let mut child = Command::new(folder.join("conformance_server"))
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut url).unwrap();
        let address = url.trim().strip_prefix("http://").unwrap();
        let address = address.strip_suffix("/mcp").unwrap().to_owned();
        Self { child, address }
    }

    fn connect(&self) -> Wire {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Wire(BufReader::new(stream))
    }

    /// Bytes of it in memory.
    fn memory(&self) -> u64 {
        let file = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(file).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let number = line.unwrap().split_whitespace().nth(1).unwrap();
        number.parse::<u64>().unwrap() << 10
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that is used for one request after the other.
struct Wire(BufReader<TcpStream>);

impl Wire {
    fn write(&mut self, headers: &str, body: &[u8]) {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n{headers}\r\n",
            body.len()
        );
        // The server may refuse a request before it has read all of it.
        let _ = self.0.get_mut().write_all(head.as_bytes());
        let _ = self.0.get_mut().write_all(body);
    }

    /// The status, the session, and the body if its length is announced.
    fn read(&mut self) -> (u16, String, Vec<u8>) {
        let (mut status, mut session, mut length) = (0, String::new(), 0);
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            let line = line.trim().to_ascii_lowercase();
            if let Some(code) = line.strip_prefix("http/1.1 ") {
                status = code[..3].parse().unwrap();
            } else if let Some(id) = line.strip_prefix("mcp-session-id: ") {
                session = id.to_owned();
            } else if let Some(bytes) = line.strip_prefix("content-length: ") {
                length = bytes.parse().unwrap();
            } else if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (status, session, body)
    }

    fn post(&mut self, headers: &str, body: &Value) -> (u16, String, Vec<u8>) {
        self.write(headers, body.to_string().as_bytes());
        self.read()
    }
}

const JSON_ONLY: &str = "accept: application/json\r\n";

fn opened(wire: &mut Wire, version: &str) -> String {
    let (status, session, _) = wire.post("", &initialize(version));
    assert_eq!(status, 200);
    format!("mcp-session-id: {session}\r\n")
}

fn flood_of_sessions(served: &Served) {
    let mut wire = served.connect();
    let statuses = (0..10_050).map(|_| wire.post("", &initialize("2025-11-25")).0);
    let refused = statuses.filter(|status| *status == 503).count();
    assert!(refused >= 50, "{refused}");
}

fn flood_of_nonsense(served: &Served) {
    let mut wire = served.connect();
    for _ in 0..2_000 {
        wire.write("", b"{\"jsonrpc\": \"2.0\", \"id\": [[[[");
        assert_eq!(wire.read().0, 400);
    }
}

fn flood_of_bytes(served: &Served) {
    let body = vec![b' '; 5 << 20];
    for _ in 0..50 {
        let mut wire = served.connect();
        wire.write("", &body);
        // Refused, or cut off where it went on writing.
        let mut reply = Vec::new();
        let _ = wire.0.read_until(b'\n', &mut reply);
        assert!(reply.is_empty() || reply.starts_with(b"HTTP/1.1 413"));
    }
}

fn flood_of_streams_without_a_reader(served: &Served) {
    let mut wire = served.connect();
    let session = opened(&mut wire, "2025-11-25");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for _ in 0..500 {
        let mut other = served.connect();
        other.write(
            &format!("{session}accept: text/event-stream\r\n"),
            call.to_string().as_bytes(),
        );
    }
}

fn flood_of_subscriptions(served: &Served) {
    let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\n";
    let listen = modern(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let mut open = Vec::new();
    for _ in 0..500 {
        let mut wire = served.connect();
        wire.write(headers, listen.to_string().as_bytes());
        open.push(wire);
    }
    for wire in &mut open {
        assert_eq!(wire.read().0, 200);
    }
}

fn flood_of_giant_cursors(served: &Served) {
    let mut wire = served.connect();
    let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\n";
    for number in 0..50 {
        let cursor = format!("at-{number}-{}", "9".repeat(1 << 20));
        let list = modern("tools/list", json!({"cursor": cursor}));
        assert_eq!(wire.post(&format!("{headers}{JSON_ONLY}"), &list).0, 400);
    }
}

#[test]
fn no_flood_leaves_more_in_the_process_than_the_limits_allow() {
    let served = Served::start();
    type Flood = fn(&Served);
    let floods: [(&str, Flood); 6] = [
        ("nonsense", flood_of_nonsense),
        ("bytes", flood_of_bytes),
        ("streams", flood_of_streams_without_a_reader),
        ("subscriptions", flood_of_subscriptions),
        ("cursors", flood_of_giant_cursors),
        ("sessions", flood_of_sessions),
    ];
    for (name, flood) in floods {
        let before = served.memory();
        flood(&served);
        let after = served.memory();
        assert!(
            after < before + MAX_GROWTH,
            "{name}: from {before} to {after} bytes"
        );
        // Whoever comes next is served.
        let discover = modern("server/discover", json!({}));
        let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: server/discover\r\n";
        assert_eq!(served.connect().post(headers, &discover).0, 200, "{name}");
    }
}
