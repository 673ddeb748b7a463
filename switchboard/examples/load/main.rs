//! Many conversations at once with `switchboard serve`, each with an approval: none may be lost,
//! none doubled, and the memory is to be as flat after the last wave as after the first. Then the
//! CPU time that many readers of the events cost, the pages of a very long conversation, what a long
//! reply that comes in small pieces writes to the store, and a server that floods its log. `cargo xtask
//! load` builds and runs it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "an example that measures"
)]

mod flood;
mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use model::{REPLY_BYTES, REPLY_DELTAS, long_model};
use serde_json::{Value, json};
use switchboard::store::{
    Change, Conversation, Limits, Message, Role, SqliteStore, Store as _, UserId,
};

const WAVES: usize = 3;
const AT_ONCE: usize = 200;
const MESSAGES: u64 = 10_000;
/// How many read the live events at a time.
const READERS: [usize; 3] = [1, 64, 256];
/// Clients that send requests side by side.
const CLIENTS: usize = 16;

fn main() {
    // Beside the program, not in a file system in memory: what is written is to be counted.
    let example = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir_in(example.parent().unwrap()).unwrap();
    let server = Server::start(folder.path());
    let mut memory = Vec::new();
    for wave in 1..=WAVES {
        let began = Instant::now();
        let waits = server.wave();
        let took = began.elapsed();
        server.settle();
        memory.push(server.memory());
        let (median, last) = (waits[waits.len() / 2], waits[waits.len() - 1]);
        println!(
            "wave {wave}: {AT_ONCE} conversations with an approval each in {took:.2?}; said to \
             answered: median {median:.2?}, slowest {last:.2?}; memory after it {} KiB",
            memory[wave - 1]
        );
    }
    let bound = memory[0] + memory[0] / 10 + 4096;
    assert!(
        memory.iter().all(|size| *size <= bound),
        "the memory grows: {memory:?} KiB"
    );
    for readers in READERS {
        server.read_by(readers);
    }
    server.long_conversation(folder.path());
    server.long_reply();
    server.log_flood(folder.path());
}

struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Server {
    /// The program beside this example's folder, in a home of its own.
    fn start(home: &std::path::Path) -> Self {
        let example = std::env::current_exe().unwrap();
        let program = example
            .parent()
            .unwrap()
            .parent()
            .unwrap()
            .join("switchboard");
        let mut child = Command::new(program)
            .args(["serve", "--json", "--port", "0"])
            .env("SWITCHBOARD_HOME", home)
            .env("OLLAMA_HOST", "127.0.0.1:9")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let reported: Value = serde_json::from_str(&line).unwrap();
        let link = reported["links"][0]["url"].as_str().unwrap();
        let (page, token) = link.split_once("/#token=").unwrap();
        Self {
            child,
            port: page.rsplit(':').next().unwrap().parse().unwrap(),
            token: token.to_owned(),
        }
    }

    /// How much memory the program has in use, in KiB; 0 where the system does not tell.
    fn memory(&self) -> u64 {
        let file = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(file).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// How many seconds of CPU the program has used; 0 where the system does not tell.
    fn cpu(&self) -> f64 {
        let file = format!("/proc/{}/stat", self.child.id());
        let stat = std::fs::read_to_string(file).unwrap_or_default();
        // Its name is in parentheses; user and system time follow, in hundredths of a second.
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let ticks = fields.split_whitespace().skip(11).take(2);
        ticks.filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() / 100.0
    }

    /// How many bytes the program has written to files; 0 where the system does not tell.
    fn written(&self) -> u64 {
        let file = format!("/proc/{}/io", self.child.id());
        let io = std::fs::read_to_string(file).unwrap_or_default();
        let line = io
            .lines()
            .find_map(|line| line.strip_prefix("write_bytes: "));
        line.and_then(|bytes| bytes.trim().parse().ok())
            .unwrap_or(0)
    }

    /// A wave that many readers watch: each hears of every conversation's end, once.
    fn read_by(&self, readers: usize) {
        // The wave itself is read by one.
        let others: Vec<Events> = (1..readers).map(|_| self.events()).collect();
        let (began, cpu) = (Instant::now(), self.cpu());
        let others = others.into_iter().map(|events| {
            std::thread::spawn(move || {
                let mut ended = BTreeSet::new();
                while ended.len() < AT_ONCE {
                    let (kind, data) = events.next();
                    if kind == "run.finished" {
                        let id = data["conversationId"].as_str().unwrap().to_owned();
                        assert!(ended.insert(id), "reported twice: {data}");
                    }
                }
            })
        });
        let others: Vec<_> = others.collect();
        self.wave();
        others.into_iter().for_each(|reader| reader.join().unwrap());
        let (took, cpu) = (began.elapsed(), self.cpu() - cpu);
        println!("{AT_ONCE} conversations, {readers} readers: {cpu:.2} s of CPU in {took:.2?}");
    }

    /// Waits until the program has nothing to do any more.
    fn settle(&self) {
        std::thread::sleep(Duration::from_secs(2));
    }

    fn connect(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
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
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn done(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (status, value) = self.ask(method, path, body);
        assert!(status < 300, "{method} {path}: {status} {value}");
        value
    }

    /// Live events from now on.
    fn events(&self) -> Events {
        let request = format!(
            "GET /api/events HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.port, self.token
        );
        let stream = self.connect(&request);
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while !line.starts_with(": open") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "no events: {line}");
        }
        let (send, received) = mpsc::sync_channel(1 << 16);
        std::thread::spawn(move || {
            let (mut kind, mut line) = (String::new(), String::new());
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                if let Some(named) = line.strip_prefix("event: ") {
                    kind = named.trim().to_owned();
                } else if let Some(data) = line.strip_prefix("data: ") {
                    let data = serde_json::from_str(data).unwrap();
                    if send.send((kind.clone(), data)).is_err() {
                        return;
                    }
                }
                line.clear();
            }
        });
        Events { stream, received }
    }

    /// All conversations of a wave, from the first word to the last answer; how long each took.
    fn wave(&self) -> Vec<Duration> {
        let events = self.events();
        let (begin, confirm) = (queue(0..AT_ONCE), shared_channel());
        let mut begun: BTreeMap<String, Instant> = BTreeMap::new();
        let mut started: BTreeMap<String, i64> = BTreeMap::new();
        let mut running: BTreeSet<String> = BTreeSet::new();
        let mut ended: BTreeSet<String> = BTreeSet::new();
        let mut waits = Vec::new();
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    while begin.lock().next().is_some() {
                        let talk = self.done("POST", "/api/conversations", Some(&json!({})));
                        let path = format!(
                            "/api/conversations/{}/messages",
                            talk["id"].as_str().unwrap()
                        );
                        self.done("POST", &path, Some(&json!({"content": "write a note"})));
                    }
                    loop {
                        let next = confirm.1.lock().recv();
                        let Ok(call) = next else { return };
                        self.approve(&call);
                    }
                });
            }
            while ended.len() < AT_ONCE {
                let (kind, data) = events.next();
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                match kind.as_str() {
                    "message.created" if data["message"]["role"] == "user" => {
                        begun.insert(text(&data["message"]["conversationId"]), Instant::now());
                    }
                    "assistant.toolCall.updated" if data["approval"].is_object() => {
                        confirm.0.lock().as_ref().unwrap().send(data).unwrap();
                    }
                    // A call that its server's queue takes back has not started. Why it waits may
                    // be said several times.
                    "assistant.toolCall.updated" if data["status"] == "queued" => {
                        let call = text(&data["messageId"]);
                        let taken_back = running.remove(&call);
                        *started.entry(call).or_default() -= i64::from(taken_back);
                    }
                    "assistant.toolCall.updated" if data["status"] == "invoking" => {
                        let call = text(&data["messageId"]);
                        running.insert(call.clone());
                        *started.entry(call).or_default() += 1;
                    }
                    "run.finished" => {
                        assert_eq!(data["reason"], "done", "{data}");
                        let id = text(&data["conversationId"]);
                        waits.push(begun[&id].elapsed());
                        assert!(ended.insert(id), "ended twice: {data}");
                    }
                    _ => {}
                }
            }
            // No more calls come: the clients may go.
            drop(confirm.0.lock().take());
        });
        assert_eq!(begun.len(), AT_ONCE, "conversations were lost");
        assert_eq!(started.len(), AT_ONCE, "calls were lost");
        assert!(
            started.values().all(|times| *times == 1),
            "calls were doubled"
        );
        for id in &ended {
            let page = self.done("GET", &format!("/api/conversations/{id}/messages"), None);
            let messages = page["items"].as_array().unwrap();
            assert_eq!(messages.len(), 2);
            let calls = messages[1]["toolCalls"].as_array().unwrap();
            assert!(calls.len() == 1 && calls[0]["status"] == "done", "{page}");
        }
        waits.sort();
        waits
    }

    fn approve(&self, call: &Value) {
        let path = format!(
            "/api/messages/{}/tool-confirm",
            call["messageId"].as_str().unwrap()
        );
        let body = json!({
            "position": call["position"],
            "decision": "approve",
            "digest": call["approval"]["digest"],
        });
        // Twice, as two tabs would: one counts.
        let statuses = [0, 1].map(|_| self.ask("POST", &path, Some(&body)).0);
        assert_eq!(statuses, [200, 409]);
    }

    /// What a long reply in many pieces writes to the store.
    fn long_reply(&self) {
        let endpoint = json!({ "endpoints.long.base_url": long_model() });
        self.done("PUT", "/api/settings", Some(&endpoint));
        let events = self.events();
        let model = json!({"model": "long/text"});
        let talk = self.done("POST", "/api/conversations", Some(&model));
        let path = format!(
            "/api/conversations/{}/messages",
            talk["id"].as_str().unwrap()
        );
        let (began, cpu, written) = (Instant::now(), self.cpu(), self.written());
        self.done("POST", &path, Some(&json!({"content": "go"})));
        let mut deltas = 0;
        loop {
            let (kind, data) = events.next();
            match kind.as_str() {
                "message.delta" => deltas += 1,
                "run.finished" => {
                    assert_eq!(data["reason"], "done", "{data}");
                    break;
                }
                _ => {}
            }
        }
        let page = self.done("GET", &path, None);
        assert_eq!(
            page["items"][1]["content"].as_str().unwrap().len(),
            REPLY_BYTES
        );
        println!(
            "a reply of {REPLY_BYTES} bytes in {REPLY_DELTAS} deltas: {} bytes written to the \
             store, {deltas} events, {:.2} s of CPU in {:.2?}",
            self.written() - written,
            self.cpu() - cpu,
            began.elapsed()
        );
    }

    /// A conversation of very many messages, read page by page.
    fn long_conversation(&self, home: &std::path::Path) {
        let talk = Conversation::new(UserId::local(), "long");
        let id = talk.id.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let file = home.join("switchboard.db");
            let store = SqliteStore::open(file, Limits::default()).await.unwrap();
            let mut changes = vec![Change::PutConversation(talk)];
            for seq in 1..=MESSAGES {
                let role = if seq % 2 == 1 {
                    Role::User
                } else {
                    Role::Assistant
                };
                let mut message = Message::new(id.clone(), seq, role);
                message.content = format!("Message {seq}. {}", "Some words. ".repeat(20));
                changes.push(Change::PutMessage(Box::new(message)));
            }
            store.commit(changes).await.unwrap();
            store.close().await.unwrap();
        });
        let (mut before, mut times, mut read) = (String::new(), Vec::new(), 0);
        loop {
            let path = format!("/api/conversations/{id}/messages?limit=50{before}");
            let began = Instant::now();
            let page = self.done("GET", &path, None);
            times.push(began.elapsed());
            read += page["items"].as_array().unwrap().len();
            match page["next"].as_u64() {
                Some(next) => before = format!("&before={next}"),
                None => break,
            }
        }
        assert_eq!(read as u64, MESSAGES);
        let opened = times[0];
        times.sort();
        println!(
            "{MESSAGES} messages: opened in {opened:.2?}; {} pages of 50, median {:.2?}, slowest \
             {:.2?}; memory {} KiB",
            times.len(),
            times[times.len() / 2],
            times[times.len() - 1],
            self.memory()
        );
    }
}

/// Live events. Dropping them ends the stream.
struct Events {
    stream: TcpStream,
    received: mpsc::Receiver<(String, Value)>,
}

impl Events {
    fn next(&self) -> (String, Value) {
        self.received
            .recv_timeout(Duration::from_secs(300))
            .unwrap()
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn queue(numbers: std::ops::Range<usize>) -> parking_lot::Mutex<std::ops::Range<usize>> {
    parking_lot::Mutex::new(numbers)
}

/// A channel whose ends are shared.
type Shared = (
    parking_lot::Mutex<Option<mpsc::SyncSender<Value>>>,
    parking_lot::Mutex<mpsc::Receiver<Value>>,
);

fn shared_channel() -> Shared {
    let (send, receive) = mpsc::sync_channel(AT_ONCE);
    (
        parking_lot::Mutex::new(Some(send)),
        parking_lot::Mutex::new(receive),
    )
}
