//! The demo server: one tool for everything a host has to get right.

mod acting;
mod odd;
mod reading;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{
    CompleteParams, Implementation, Prompt, PromptArgument, Resource, Tool, ToolAnnotations,
};
use mcp_server::{Eras, PromptArguments, Server, Service};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// A switchboard, drawn by us.
const PICTURE: &[u8] = include_bytes!("picture.png");
/// Where the note is.
const NOTE: &str = "demo://note";
/// The languages that the prompt `greet` completes.
const LANGUAGES: [&str; 5] = ["English", "French", "German", "Chinese", "Spanish"];

/// Seals the state of questions. It protects nothing here; being the same in every process, it lets a
/// question be answered after a restart.
const STATE_KEY: &[u8; 32] = b"the public key of every demo srv";

/// What the demo tools share.
#[derive(Clone)]
struct State {
    note: Arc<Mutex<String>>,
    /// Whether the tool `grown` is there.
    grown: Arc<AtomicBool>,
    crash: Arc<Notify>,
    /// The time it always is, in milliseconds since 1970.
    clock: Option<i64>,
}

/// The demo server, ready to serve.
#[derive(Debug)]
pub struct DemoServer {
    service: Service,
    crash: Arc<Notify>,
}

impl DemoServer {
    /// The server to serve.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Returns once the tool `crash` was called: the server has to end without an answer.
    pub async fn crashed(&self) {
        self.crash.notified().await;
    }
}

/// The demo server. With a clock in milliseconds since 1970, that is the time it always is.
///
/// | tool | shows |
/// |---|---|
/// | `get_time`, `add`, `echo` | calls that only read; `add` with structured content |
/// | `write_note` | a destructive call; the note is the resource `demo://note` |
/// | `slow` | progress, and that a call can be cancelled |
/// | `fail` | a failure that the model sees |
/// | `picture`, `sound`, `big` | content that is not a short text |
/// | `ask_name` | a question to the user |
/// | `grow` | a list of tools that changes |
/// | `crash` | a server that dies |
/// | `odd`, `odd.names` | schemas and names that providers refuse as they are |
pub fn demo_server(clock: Option<i64>, eras: Eras) -> DemoServer {
    let state = State {
        note: Arc::new(Mutex::new("Nothing noted yet.".to_owned())),
        grown: Arc::default(),
        crash: Arc::default(),
        clock,
    };
    let mut info = Implementation::new("switchboard-demo", env!("CARGO_PKG_VERSION"));
    info.title = Some("Switchboard's demo server".to_owned());
    let server = Server::new(info)
        .instructions("Demo tools. Nothing outside this server changes, whatever you call.");
    let server = odd::add(acting::add(reading::add(server, &state), &state));
    let (note, grown) = (Arc::clone(&state.note), Arc::clone(&state.grown));
    let server = server
        .filter_tools(move |tool, _| tool.name != acting::GROWN || grown.load(Ordering::Relaxed))
        .resource(resource(NOTE, "note", "text/plain"), move |_| {
            let note = note.lock().clone();
            async move { note }
        })
        .resource(
            resource("demo://picture", "picture", "image/png"),
            |_| async { PICTURE.to_vec() },
        )
        .prompt(greet(), |arguments: PromptArguments, _| async move {
            let argument = |name, default| arguments.get(name).map_or(default, String::as_str);
            let (name, language) = (argument("name", ""), argument("language", "English"));
            format!("Greet {name} in {language}, in one sentence.")
        })
        .completion(|params: CompleteParams, _| async move {
            let known = LANGUAGES.iter().filter(|language| {
                params.argument.name == "language" && language.starts_with(&params.argument.value)
            });
            Ok(known.map(|&language| language.to_owned()).collect())
        });
    DemoServer {
        service: server.eras(eras).state_key(*STATE_KEY).build(),
        crash: state.crash,
    }
}

fn resource(uri: &str, name: &str, mime_type: &str) -> Resource {
    let mut resource = Resource::new(uri, name);
    resource.mime_type = Some(mime_type.to_owned());
    resource
}

fn greet() -> Prompt {
    let mut prompt = Prompt::new("greet");
    prompt.title = Some("Greet".to_owned());
    prompt.description = Some("Greets a person in a language.".to_owned());
    let arguments = ["name", "language"].map(|name| {
        let mut argument = PromptArgument::new(name);
        argument.required = Some(name == "name");
        argument
    });
    prompt.arguments = Some(arguments.into());
    prompt
}

/// A tool that only reads.
fn reading(name: &str, description: &str, properties: Value, required: &[&str]) -> Tool {
    let mut schema = json!({"type": "object", "properties": properties});
    if let (Some(members), false) = (schema.as_object_mut(), required.is_empty()) {
        members.insert("required".to_owned(), json!(required));
    }
    let mut tool = Tool::new(name, object(&schema));
    tool.description = Some(description.to_owned());
    hinted(tool, true, false)
}

/// Nothing here reaches beyond this server; what only reads returns the same each time.
fn hinted(mut tool: Tool, reads: bool, destroys: bool) -> Tool {
    let mut hints = ToolAnnotations::default();
    hints.read_only_hint = Some(reads);
    hints.destructive_hint = Some(destroys);
    hints.idempotent_hint = Some(reads);
    hints.open_world_hint = Some(false);
    tool.annotations = Some(hints);
    tool
}

/// A schema of ours, which is an object.
fn object(schema: &Value) -> RawObject {
    RawObject::from_serialize(schema).unwrap_or_else(|_| RawObject::empty())
}
