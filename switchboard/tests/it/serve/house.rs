//! A server that runs, and a client that sends exactly the given bytes.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use super::live::Events;
use crate::cli::Desk;
use crate::database::Database;

/// Nothing takes longer, even on a busy machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(120);

/// `switchboard serve` at a desk of its own.
pub(crate) struct House {
    pub(crate) desk: Desk,
    arguments: Vec<String>,
    /// What the shell's `ulimit` limits.
    limit: Option<String>,
    child: Option<Child>,
    pub(crate) port: u16,
    tokens: BTreeMap<String, String>,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl House {
    pub(crate) fn open() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(arguments: &[&str]) -> Self {
        Self::at(Desk::new().on_tested_store(), arguments)
    }

    pub(crate) fn at(desk: Desk, arguments: &[&str]) -> Self {
        let mut house = Self::closed(desk, arguments);
        house.start();
        house
    }

    /// One that may write files of this size at most.
    #[cfg(unix)]
    pub(crate) fn limited(desk: Desk, file_size: u64) -> Self {
        let mut house = Self::closed(desk, &[]);
        // A shell counts blocks of 512 bytes.
        house.limit = Some(format!("-f {}", file_size / 512));
        house.start();
        house
    }

    /// One that may open this many files, unless it asks for more.
    #[cfg(unix)]
    pub(crate) fn with_few_files(files: u32) -> Self {
        let mut house = Self::closed(Desk::new().on_tested_store(), &[]);
        house.limit = Some(format!("-S -n {files}"));
        house.start();
        house
    }

    /// Asks it to end, as a service manager does.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        use nix::sys::signal::{Signal, kill};
        let id = self.child.as_ref().unwrap().id();
        kill(nix::unistd::Pid::from_raw(id as i32), Signal::SIGTERM).unwrap();
    }

    fn closed(desk: Desk, arguments: &[&str]) -> Self {
        let begun_on_a_file = desk.home().join("switchboard.db").exists();
        let desk = desk.on_tested_store();
        assert!(
            !(begun_on_a_file && desk.is_shared()),
            "the desk was used on another store before: call on_tested_store first"
        );
        Self {
            desk,
            arguments: arguments.iter().map(|text| (*text).to_owned()).collect(),
            limit: None,
            child: None,
            port: 0,
            tokens: BTreeMap::new(),
        }
    }

    /// Starts another one at the same desk, and asks that one from here on. Gives back the first.
    pub(crate) fn start_another(&mut self) -> (Child, u16) {
        let first = (self.child.take().unwrap(), self.port);
        self.start();
        first
    }

    /// Ends the one that is asked, as `kill -9` does, and asks this one again.
    pub(crate) fn go_back_to(&mut self, first: (Child, u16)) {
        let mut child = self.child.replace(first.0).unwrap();
        self.port = first.1;
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Starts it, on a port of its own.
    pub(crate) fn start(&mut self) {
        let mut all = vec!["serve", "--json"];
        let waits = self.arguments.iter().any(|it| it == "--drain-time");
        if self.desk.is_shared() && !waits {
            all.extend(Database::SWIFT);
        }
        if !self.arguments.iter().any(|it| it == "--listen") {
            all.extend(["--port", "0"]);
        }
        all.extend(self.arguments.iter().map(String::as_str));
        let mut command = self.desk.command(&all);
        if let Some(limit) = &self.limit {
            command = limited(&command, limit);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        let reported: Value = serde_json::from_str(&line).unwrap();
        let url = reported["url"].as_str().unwrap().trim_end_matches('/');
        self.port = url.rsplit(':').next().unwrap().parse().unwrap();
        for link in reported["links"].as_array().unwrap() {
            let (page, token) = link["url"].as_str().unwrap().split_once("#token=").unwrap();
            assert_eq!(page, format!("{url}/"));
            let user = link["user"].as_str().unwrap().to_owned();
            self.tokens.insert(user, token.to_owned());
        }
        self.child = Some(child);
    }

    /// Ends it as `kill -9` does, and waits until its children are gone.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let mark = format!("SWITCHBOARD_HOME={}", self.desk.home().display());
        for _ in 0..500 {
            if crate::program::left_running(&mark).is_empty() {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        self.desk.assert_nothing_left();
    }

    /// Ends it as a service is ended, and sees that nothing is left.
    #[cfg(unix)]
    pub(crate) fn stop(&mut self) {
        self.terminate();
        self.ended();
    }

    /// Waits until it takes no connections any more.
    #[cfg(unix)]
    pub(crate) fn until_it_refuses_connections(&self) {
        while TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// Waits for its end.
    #[cfg(unix)]
    pub(crate) fn ended(&mut self) {
        let mut child = self.child.take().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        self.desk.assert_nothing_left();
    }

    pub(crate) fn token(&self, user: &str) -> &str {
        &self.tokens[user]
    }

    /// Sends these bytes, and reads what comes until the other side closes.
    pub(crate) fn raw(&self, request: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        // Whoever refuses a request may do so before it has read it.
        let _ = stream.write_all(request);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        Reply::read(&all)
    }

    /// A request with these headers and no others but `Connection`.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str(&format!("\r\n{body}"));
        self.raw(text.as_bytes())
    }

    /// As the page asks, for the local user; the status and the JSON, which the document allows.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        self.ask_as("local", method, path, body)
    }

    pub(crate) fn ask_as(
        &self,
        user: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> (u16, Value) {
        let reply = self.fetch(user, method, path, body);
        let value = match reply.body.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&reply.body).unwrap_or(Value::Null),
        };
        self.check(method, path, reply.status, &value);
        (reply.status, value)
    }

    pub(crate) fn fetch(
        &self,
        user: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Reply {
        let host = format!("127.0.0.1:{}", self.port);
        let bearer = format!("Bearer {}", self.token(user));
        let mut headers = vec![("Host", host.as_str()), ("Authorization", bearer.as_str())];
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            headers.push(("Content-Type", "application/json"));
        }
        self.send(method, path, &headers, &body)
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, value) = self.ask("GET", path, None);
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let (status, value) = self.ask("POST", path, Some(body));
        assert!((200..300).contains(&status), "{path}: {status} {value}");
        value
    }

    /// Begins a conversation, and says something in it.
    pub(crate) fn say(&self, wish: &Value, words: &str) -> Chat {
        let conversation = self.post("/api/conversations", wish);
        let id = conversation["id"].as_str().unwrap().to_owned();
        let said = self.post(
            &format!("/api/conversations/{id}/messages"),
            &json!({ "content": words }),
        );
        let answer = said["assistantMessage"]["id"].as_str().unwrap().to_owned();
        Chat { id, answer }
    }

    /// The latest message of a conversation.
    pub(crate) fn latest(&self, chat: &Chat) -> Value {
        let page = self.get(&format!("/api/conversations/{}/messages", chat.id));
        page["items"].as_array().unwrap().last().unwrap().clone()
    }

    /// Answers the first call of a message that waits.
    pub(crate) fn confirm(&self, message: &Value, more: &Value) -> (u16, Value) {
        let calls = message["toolCalls"].as_array().unwrap();
        let call = calls.iter().find(|call| call["approval"].is_object());
        let call = call.unwrap_or(&calls[0]);
        let mut body = json!({
            "position": call["position"],
            "decision": "approve",
            "digest": call["approval"]["digest"],
        });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let path = format!(
            "/api/messages/{}/tool-confirm",
            message["id"].as_str().unwrap()
        );
        self.ask("POST", &path, Some(&body))
    }

    /// Listens to live events.
    pub(crate) fn events(&self, query: &str) -> Events {
        self.events_as("local", query, &[])
    }

    pub(crate) fn events_as(&self, user: &str, query: &str, headers: &[(&str, &str)]) -> Events {
        let events = self.try_events_as(user, query, headers);
        events.expect("there is room for a reader")
    }

    /// Live events; nothing if the user has too many readers.
    pub(crate) fn try_events_as(
        &self,
        user: &str,
        query: &str,
        headers: &[(&str, &str)],
    ) -> Option<Events> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        // With HTTP/1.0 the body comes as it is.
        let mut text = format!(
            "GET /api/events?{query} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n",
            self.port,
            self.token(user)
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        stream.write_all(text.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        if line.contains(" 429 ") {
            return None;
        }
        assert!(line.contains(" 200 "), "{line}");
        while !line.trim().is_empty() {
            line.clear();
            lines.read_line(&mut line).unwrap();
        }
        Some(Events { lines })
    }

    /// Holds a reply against the document.
    #[track_caller]
    fn check(&self, method: &str, path: &str, status: u16, value: &Value) {
        let document = document(self);
        let path = path.split('?').next().unwrap();
        let fits = |template: &str| {
            let (template, path) = (template.split('/'), path.split('/'));
            template.clone().count() == path.clone().count()
                && template
                    .zip(path)
                    .all(|(a, b)| a == b || a.starts_with('{'))
        };
        let paths = document["paths"].as_object().unwrap();
        let exact = paths.get(path);
        let found = exact.or_else(|| paths.iter().find(|(key, _)| fits(key)).map(|it| it.1));
        let Some(operation) = found.and_then(|methods| methods.get(method.to_lowercase())) else {
            return assert!(status >= 400, "{method} {path} is not in the document");
        };
        let responses = &operation["responses"];
        let response = responses.get(status.to_string());
        let response = response.unwrap_or_else(|| {
            assert!(
                status >= 400,
                "{method} {path}: {status} is not in the document"
            );
            &responses["default"]
        });
        let schema = &response["content"]["application/json"]["schema"];
        if schema.is_null() {
            return;
        }
        let mut whole = schema.clone();
        whole["components"] = document["components"].clone();
        let validator = jsonschema::validator_for(&whole).unwrap();
        let problems: Vec<String> = validator
            .iter_errors(value)
            .map(|it| it.to_string())
            .collect();
        assert!(
            problems.is_empty(),
            "{method} {path} {status}: {problems:?} in {value:#}"
        );
    }
}

/// A command that is limited by the shell's `ulimit`.
fn limited(command: &Command, limit: &str) -> Command {
    let mut shell = Command::new("sh");
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    shell.args(["-c", &script]);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell
}

fn document(house: &House) -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let reply = house.fetch(
            house.tokens.keys().next().unwrap(),
            "GET",
            "/api/openapi.json",
            None,
        );
        serde_json::from_slice(&reply.body).unwrap()
    })
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A conversation in which something was said.
pub(crate) struct Chat {
    pub(crate) id: String,
    pub(crate) answer: String,
}

impl Reply {
    fn read(all: &[u8]) -> Self {
        let end = all.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no reply: {:?}", String::from_utf8_lossy(all)));
        let head = String::from_utf8_lossy(&all[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_lowercase(), value.trim().to_owned()))
        });
        Self {
            status: status.parse().unwrap(),
            headers: headers.collect(),
            body: all[end + 4..].to_vec(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}
