//! The demo server: one tool for everything a host has to get right.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_testkit::{Ask, Called, Edit, Prompt, Resource, Script, Step, Tool};
use serde_json::{Value, json};

use crate::display::utc::utc;
use crate::store::Timestamp;

/// A switchboard, drawn by us.
const PICTURE: &[u8] = include_bytes!("picture.png");
/// A fifth of a second of the note A, made by us.
const TONE: &[u8] = include_bytes!("tone.wav");
/// Where the note is.
const NOTE: &str = "demo://note";
/// How many steps `slow` takes.
const STEPS: u32 = 5;
/// The most letters `big` gives.
const BIG: u64 = 8 << 20;

/// What the demo server offers, in both eras. With a clock in milliseconds since 1970, that is
/// the time it always is.
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
pub fn demo_server(clock: Option<i64>) -> Script {
    let mut script = Script::empty()
        .with_info(
            "switchboard-demo",
            "Switchboard's demo server",
            env!("CARGO_PKG_VERSION"),
        )
        .with_instructions("Demo tools. Nothing outside this server changes, whatever you call.");
    for tool in reading(clock).into_iter().chain(acting()).chain(odd()) {
        script = script.with_tool(tool);
    }
    script
        .with_resource(Resource::text(NOTE, "Nothing noted yet."))
        .with_resource(Resource::blob(
            "demo://picture",
            "image/png",
            &STANDARD.encode(PICTURE),
        ))
        .with_prompt(
            Prompt::new(
                "greet",
                &["name", "language"],
                "Greet {name} in {language}, in one sentence.",
            )
            .completing(
                "language",
                &["English", "French", "German", "Chinese", "Spanish"],
            ),
        )
}

/// Tools that change nothing.
fn reading(clock: Option<i64>) -> Vec<Tool> {
    let now = move || clock.unwrap_or_else(wall_clock);
    let time = tool(
        "get_time",
        "The time in milliseconds since 1970, and in UTC, this many milliseconds from now: negative for the past.",
        json!({"offset_ms": {"type": "number", "description": "Milliseconds from now: 0 is now, -86400000 yesterday."}}),
        &["offset_ms"],
    )
    .answering(move |called| {
        // Far enough from now, one moment is as good as another.
        let offset = number(called, "offset_ms").clamp(-1e15, 1e15);
        let time = now().saturating_add(offset as i64);
        text(format!("{time} ({})", utc(time)))
    });
    let add = tool("add", "Adds two numbers.", json!({"a": {"type": "number"}, "b": {"type": "number"}}), &["a", "b"])
        .declaring("outputSchema", json!({"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}))
        .answering(|called| {
            let sum = number(called, "a") + number(called, "b");
            json!({"content": [{"type": "text", "text": format!("{sum}")}], "structuredContent": {"sum": sum}})
        });
    let echo = tool(
        "echo",
        "Says the text again.",
        json!({"text": {"type": "string"}}),
        &["text"],
    )
    .answering(|called| text(string(called, "text")));
    let fail = tool("fail", "Fails.", json!({"reason": {"type": "string"}}), &[]).answering(|called| {
        let reason = called.arguments.get("reason").and_then(Value::as_str).unwrap_or("it was asked to");
        json!({"content": [{"type": "text", "text": format!("This failed, because {reason}.")}], "isError": true})
    });
    let picture = tool("picture", "A small picture.", json!({}), &[])
        .answering(|_| json!({"content": [{"type": "image", "data": STANDARD.encode(PICTURE), "mimeType": "image/png"}]}));
    let sound = tool("sound", "A short tone.", json!({}), &[])
        .answering(|_| json!({"content": [{"type": "audio", "data": STANDARD.encode(TONE), "mimeType": "audio/wav"}]}));
    let big = tool(
        "big",
        "A long text.",
        json!({"letters": {"type": "integer", "minimum": 1, "maximum": BIG, "default": 200_000}}),
        &[],
    )
    .answering(|called| {
        let letters = called
            .arguments
            .get("letters")
            .and_then(Value::as_u64)
            .unwrap_or(200_000);
        let line = "All work and no play makes a very long text.\n";
        let letters = usize::try_from(letters.min(BIG)).unwrap_or_default();
        text(line.chars().cycle().take(letters).collect::<String>())
    });
    let mut slow = tool(
        "slow",
        "Takes five steps and tells of each.",
        json!({"ms": {"type": "integer", "minimum": 0, "description": "Milliseconds a step takes: 200 if not said."}}),
        &[],
    );
    for step in 1..=STEPS {
        slow = slow
            .with_step(Step::PauseArgument {
                name: "ms".to_owned(),
                default: Duration::from_millis(200),
            })
            .with_step(Step::Progress {
                progress: f64::from(step),
                total: Some(f64::from(STEPS)),
                message: Some(format!("step {step} of {STEPS}")),
            });
    }
    let slow = slow.answering(|_| text("Done, slowly."));
    let ask = tool("ask_name", "Asks the user for their name and greets them.", json!({}), &[])
        .with_step(Step::Ask(Ask::form(
            "name",
            "What is your name?",
            json!({"type": "object", "properties": {"name": {"type": "string", "title": "Name", "minLength": 1}}, "required": ["name"]}),
        )))
        .answering(|called| {
            let answer = called.answer("name");
            match answer.pointer("/content/name").and_then(Value::as_str) {
                Some(name) => text(format!("Hello, {name}!")),
                None => text("Hello, whoever you are!"),
            }
        });
    [time, add, echo, fail, picture, sound, big, slow, ask]
        .map(|tool| annotated(tool, true, false))
        .into()
}

/// Tools that change something, if only in this server.
fn acting() -> Vec<Tool> {
    let write = |script: Script, arguments: &Value| {
        let text = arguments
            .get("text")
            .and_then(Value::as_str)
            .unwrap_or_default();
        script.with_resource(Resource::text(NOTE, text))
    };
    let note = tool(
        "write_note",
        "Writes the note. The one before is lost.",
        json!({"text": {"type": "string", "description": "What to write."}}),
        &["text"],
    )
    .with_step(Step::Edit(Edit::new(write)))
    .with_step(Step::ResourceUpdated(NOTE.to_owned()))
    .answering(|called| text(format!("Noted: {}", string(called, "text"))));
    let sprout = |script: Script, _: &Value| {
        let grown = tool("grown", "A tool that was not there before.", json!({}), &[])
            .answering(|_| text("Here I am."));
        script.with_tool(annotated(grown, true, false))
    };
    let grow = tool(
        "grow",
        "Adds the tool `grown` to this server.",
        json!({}),
        &[],
    )
    .with_step(Step::Edit(Edit::new(sprout)))
    .with_step(Step::ToolsChanged)
    .answering(|_| text("There is a new tool: grown."));
    let crash = tool(
        "crash",
        "Ends this server without an answer.",
        json!({}),
        &[],
    )
    .with_step(Step::Exit(1));
    vec![
        annotated(note, false, true),
        annotated(grow, false, false),
        annotated(crash, false, true),
    ]
}

/// Tools whose schemas or names some provider refuses as they are. They say their arguments again.
fn odd() -> Vec<Tool> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"node": {"type": "object", "properties": {
            "label": {"type": ["string", "null"]},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        }}},
        "properties": {
            "tree": {"$ref": "#/$defs/node"},
            "level": {"enum": [1, 2, 3]},
            "kind": {"const": "odd"},
            "either": {"oneOf": [{"type": "string"}, {"type": "integer", "exclusiveMinimum": 0}]},
            "pair": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": false},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "when": {"type": "string", "format": "date-time"},
            "$top": {"type": "integer", "multipleOf": 5},
            "anything": true,
        },
        "required": ["level"],
        "additionalProperties": false,
    });
    let again = |called: &Called<'_>| text(called.arguments.to_string());
    let odd = tool(
        "odd",
        "Says its arguments again. Its schema is odd on purpose.",
        json!({}),
        &[],
    )
    .declaring("inputSchema", schema)
    .answering(again);
    let names = tool(
        "odd.names",
        "Says its arguments again. Its name and its arguments' names are odd on purpose.",
        json!({"user-id": {"type": "string"}, "größe": {"type": "number"}}),
        &[],
    )
    .answering(again);
    [odd, names].map(|tool| annotated(tool, true, false)).into()
}

fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> Tool {
    let mut schema = json!({"type": "object", "properties": properties});
    if let (Some(members), false) = (schema.as_object_mut(), required.is_empty()) {
        members.insert("required".to_owned(), json!(required));
    }
    Tool::new(name)
        .declaring("description", description.into())
        .declaring("inputSchema", schema)
}

/// Nothing here reaches beyond this server; what only reads gives the same each time.
fn annotated(tool: Tool, reads: bool, destroys: bool) -> Tool {
    tool.declaring(
        "annotations",
        json!({
            "readOnlyHint": reads,
            "destructiveHint": destroys,
            "idempotentHint": reads,
            "openWorldHint": false,
        }),
    )
}

fn wall_clock() -> i64 {
    i64::try_from(Timestamp::now().as_millis()).unwrap_or(i64::MAX)
}

fn number(called: &Called<'_>, name: &str) -> f64 {
    called
        .arguments
        .get(name)
        .and_then(Value::as_f64)
        .unwrap_or_default()
}

fn string(called: &Called<'_>, name: &str) -> String {
    called
        .arguments
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}
