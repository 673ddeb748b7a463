//! A user's folder with `switchboard serve` at work in it, and requests to it.

use std::io::{BufRead as _, BufReader};
use std::process::Child;

use serde_json::{Value, json};

use crate::database::Database;
use crate::program::path;
use crate::servers::bench::{Bench, CLOCK};

/// A program that serves.
pub(super) struct Desk {
    pub(super) bench: Bench,
    child: Child,
    base: String,
    /// Each user's token.
    tokens: Vec<String>,
    /// What was asked and answered, for a snapshot.
    reported: parking_lot::Mutex<Vec<Value>>,
    /// The document of the API.
    document: tokio::sync::OnceCell<Value>,
}

/// What was answered.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) text: String,
}

impl Reply {
    /// The id of what the answer is about.
    #[track_caller]
    pub(super) fn id(&self) -> String {
        let id = self.body["id"].as_str();
        id.unwrap_or_else(|| panic!("no id: {}", self.text))
            .to_owned()
    }

    #[track_caller]
    pub(super) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }
}

impl Desk {
    pub(super) fn open() -> Self {
        Self::with(Bench::new().on_tested_store(), &[], &[])
    }

    /// For these users, who may use the machine as its owner does.
    pub(super) fn with(bench: Bench, users: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::trusting(bench, users, users, variables)
    }

    /// For these users, of whom some may use the machine as its owner does.
    pub(super) fn trusting(
        bench: Bench,
        users: &[&str],
        trusted: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut arguments = vec!["serve", "--json", "--port", "0"];
        if bench.is_shared() {
            arguments.extend(Database::SWIFT);
        }
        for user in users {
            arguments.extend(["--user", user]);
        }
        for user in trusted {
            arguments.extend(["--trust-user", user]);
        }
        let mut command = bench.command(&arguments);
        for provider in ["ANTHROPIC", "OPENAI", "GEMINI", "GOOGLE"] {
            command.env_remove(format!("{provider}_API_KEY"));
        }
        // Nothing answers there.
        command.env("OLLAMA_HOST", "http://127.0.0.1:9");
        command.envs(variables.iter().copied());
        command.stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut ready = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut ready).unwrap();
        let ready: Value = serde_json::from_str(&ready).unwrap();
        let links = ready["links"].as_array().unwrap().iter();
        let token = |link: &Value| {
            let url = link["url"].as_str().unwrap();
            url.split_once("#token=").unwrap().1.to_owned()
        };
        Self {
            bench,
            child,
            base: ready["url"].as_str().unwrap().to_owned(),
            tokens: links.map(token).collect(),
            reported: parking_lot::Mutex::default(),
            document: tokio::sync::OnceCell::new(),
        }
    }

    /// The first user's request, without a body.
    pub(super) async fn ask(&self, request: &str) -> Reply {
        self.send(0, request, None).await
    }

    /// The first user's request.
    pub(super) async fn say(&self, request: &str, body: Value) -> Reply {
        self.send(0, request, Some(body)).await
    }

    /// What the first user gets, as bytes.
    pub(super) async fn bytes(&self, path: &str) -> Vec<u8> {
        let client = mcp_transport::client_builder().unwrap();
        let client = client.no_proxy().build().unwrap();
        let request = client.get(format!("{}api/{path}", self.base));
        let token = format!("Bearer {}", self.tokens[0]);
        let answer = request.header("authorization", token).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        answer.bytes().await.unwrap().to_vec()
    }

    /// How many servers of a user are stored; the demo server is not.
    pub(super) async fn stored_servers(&self, user: usize) -> usize {
        let listed = self.send(user, "GET mcp-servers", None).await.is(200);
        let servers = listed.body["items"].as_array().unwrap().iter();
        servers.filter(|it| it.get("builtIn").is_none()).count()
    }

    /// A user's request.
    pub(super) async fn send(&self, user: usize, request: &str, body: Option<Value>) -> Reply {
        let client = mcp_transport::client_builder().unwrap();
        let client = client.no_proxy().build().unwrap();
        let (method, path) = request.split_once(' ').unwrap();
        let url = format!("{}api/{path}", self.base);
        let builder = match method {
            "GET" => client.get(url),
            "POST" => client.post(url),
            "PUT" => client.put(url),
            "PATCH" => client.patch(url),
            "DELETE" => client.delete(url),
            other => panic!("{other}"),
        };
        let token = &self.tokens[user];
        let mut builder = builder.header("authorization", format!("Bearer {token}"));
        if let Some(body) = &body {
            let builder_with = builder.header("content-type", "application/json");
            builder = builder_with.body(body.to_string());
        }
        let response = builder.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        let document = self.document.get_or_init(|| self.read_document());
        judge(document.await, method, path, status, &answer);
        let mut reported = json!({ "request": request });
        if user > 0 {
            reported["user"] = json!(user);
        }
        if let Some(body) = body {
            reported["body"] = body;
        }
        reported["status"] = json!(status);
        reported["answer"] = answer.clone();
        self.redact(&mut reported);
        self.reported.lock().push(reported);
        Reply {
            status,
            body: answer,
            text,
        }
    }

    async fn read_document(&self) -> Value {
        let client = mcp_transport::client_builder().unwrap();
        let client = client.no_proxy().build().unwrap();
        let request = client.get(format!("{}api/openapi.json", self.base));
        let token = format!("Bearer {}", self.tokens[0]);
        let answer = request.header("authorization", token).send().await.unwrap();
        serde_json::from_str(&answer.text().await.unwrap()).unwrap()
    }

    /// Adds the demo server, and gives back its id.
    pub(super) async fn demo(&self, name: &str) -> String {
        let body = json!({
            "name": name,
            "command": path(),
            "args": ["demo-server", "--clock", CLOCK],
        });
        self.say("POST mcp-servers", body).await.is(201).id()
    }

    /// Everything that was asked and answered since the last time, fit for a snapshot.
    pub(super) fn reported(&self) -> Vec<Value> {
        std::mem::take(&mut *self.reported.lock())
    }

    /// Drops what was recorded so far.
    pub(super) fn forget(&self) {
        self.reported.lock().clear();
    }

    /// The first user's events, from the first one on, until one of this kind has these members.
    pub(super) async fn events_until(&self, kind: &str, members: Value) -> Vec<(String, Value)> {
        self.events_until_that(kind, |data| has(data, &members))
            .await
    }

    /// The same, until one of this kind fits.
    pub(super) async fn events_until_that(
        &self,
        kind: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Vec<(String, Value)> {
        let client = mcp_transport::client_builder().unwrap();
        let client = client.no_proxy().build().unwrap();
        let request = client
            .get(format!("{}api/events", self.base))
            .header("authorization", format!("Bearer {}", self.tokens[0]))
            .header("last-event-id", "0");
        let mut response = request.send().await.unwrap();
        let (mut text, mut events) = (String::new(), Vec::new());
        // A piece may end within a character.
        let mut bytes = Vec::new();
        loop {
            let piece = response.chunk().await.unwrap();
            bytes.extend_from_slice(&piece.unwrap());
            let valid = match std::str::from_utf8(&bytes) {
                Ok(whole) => whole.len(),
                Err(error) => error.valid_up_to(),
            };
            text.push_str(std::str::from_utf8(&bytes.drain(..valid).collect::<Vec<_>>()).unwrap());
            while let Some((event, rest)) = text.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = event.lines();
                    lines
                        .find_map(|line| line.strip_prefix(name))
                        .map(str::trim)
                };
                if let (Some(reported), Some(data)) = (field("event:"), field("data:")) {
                    let data: Value = serde_json::from_str(data).unwrap();
                    let found = reported == kind && fits(&data);
                    events.push((reported.to_owned(), data));
                    if found {
                        return events;
                    }
                }
                text = rest.to_owned();
            }
        }
    }

    /// Ends the program as Ctrl-C would. No process of a server may be left then.
    pub(super) fn close(mut self) {
        #[cfg(unix)]
        {
            use nix::sys::signal::{Signal, kill};
            let id = nix::unistd::Pid::from_raw(self.child.id().try_into().unwrap());
            kill(id, Signal::SIGTERM).unwrap();
            assert!(self.child.wait().unwrap().success());
            assert_eq!(self.bench.left(), Vec::<String>::new());
        }
    }

    /// Takes out whatever differs from run to run.
    fn redact(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match name.as_str() {
                        _ if member.is_null() => {}
                        "id" | "serverId" => *member = json!("ID"),
                        "ids" | "serverIds" => {
                            for id in member.as_array_mut().into_iter().flatten() {
                                *id = json!("ID");
                            }
                        }
                        "createdAt" | "updatedAt" => *member = json!("TIME"),
                        "tookMs" => *member = json!("MS"),
                        "request" => *member = json!(without_ids(member.as_str().unwrap())),
                        _ => self.redact(member),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact(item)),
            other => self.bench.redact(other),
        }
    }
}

/// Holds an answer against the document of the API.
fn judge(document: &Value, method: &str, path: &str, status: u16, answer: &Value) {
    let path = path.split('?').next().unwrap();
    let asked: Vec<&str> = path.split('/').collect();
    let fits = |(template, _): &(&String, &Value)| {
        let Some(template) = template.strip_prefix("/api/") else {
            return false;
        };
        let parts: Vec<&str> = template.split('/').collect();
        let same = |(part, asked): (&&str, &&str)| part.starts_with('{') || part == asked;
        parts.len() == asked.len() && parts.iter().zip(&asked).all(same)
    };
    let paths = document["paths"].as_object().unwrap();
    // Of two that fit, the one with fewer holes is meant.
    let holes = |(template, _): &(&String, &Value)| template.matches('{').count();
    let (template, methods) = paths.iter().filter(fits).min_by_key(holes).unwrap();
    let responses = &methods[method.to_lowercase()]["responses"];
    let response = responses.get(status.to_string());
    let response = response.unwrap_or(&responses["default"]);
    let kinds = response["content"]
        .as_object()
        .map_or(0, |kinds| kinds.len());
    if answer.is_null() && kinds > 1 {
        return; // It is of the other kind.
    }
    let Some(schema) = response["content"].get("application/json") else {
        assert!(answer.is_null(), "{method} {template}: {answer}");
        return;
    };
    let mut schema = schema["schema"].clone();
    schema["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap();
    if let Err(error) = validator.validate(answer) {
        let place = error.instance_path();
        panic!(
            "{method} {template}: {status} is not as documented: {error} at {place}: {answer:#}"
        );
    }
}

/// Whether a value has these members, with these values.
fn has(value: &Value, members: &Value) -> bool {
    match members {
        Value::Object(members) => members
            .iter()
            .all(|(name, member)| has(&value[name], member)),
        other => value == other,
    }
}

/// A path with `ID` for every part that is one.
fn without_ids(request: &str) -> String {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_id = |part: &str| part.len() == 16 && part.chars().all(letter);
    let parts = request.split('/').map(|part| match is_id(part) {
        true => "ID",
        false => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
