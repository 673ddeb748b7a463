//! The tools, resources and prompts of [`Script::standard`].

use std::time::Duration;

use serde_json::{Value, json};

use super::{Ask, Called, Prompt, Resource, Script, Step, TaskSupport, Tool};

/// A red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// An empty WAV file.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// `echo` answers a longer text with its length only.
const LONG: usize = 100_000;

pub(super) fn standard() -> Script {
    let mut script = Script::empty().with_instructions("Ask for anything; it is only a test.");
    for tool in tools() {
        script = script.with_tool(tool);
    }
    script
        .with_resource(Resource::text("test://notes/first", "The first note."))
        .with_resource(Resource::text("test://notes/second", "The second note."))
        .with_resource(Resource::blob("test://pixel", "image/png", PNG))
        .with_template(json!({
            "uriTemplate": "test://notes/{name}", "name": "note", "mimeType": "text/plain",
        }))
        .with_prompt(Prompt::new("plain", &[], "Say hello."))
        .with_prompt(
            Prompt::new("greet", &["name", "city"], "Greet {name} from {city}.")
                .completing("city", &["Paris", "Prague", "Porto", "Rome"]),
        )
}

pub(super) fn echo() -> Tool {
    Tool::new("echo")
        .taking("Says the text again.", json!({"text": {"type": "string"}}))
        .answering(|called| {
            let text = string(called, "text");
            let length = text.chars().count();
            text_result(if length > LONG {
                format!("len:{length}")
            } else {
                text
            })
        })
}

pub(super) fn slow() -> Tool {
    Tool::new("slow")
        .taking("Answers late.", json!({"text": {"type": "string"}}))
        .with_step(Step::PauseArgument {
            name: "ms".to_owned(),
            default: Duration::from_secs(600),
        })
        .answering(|called| text_result(string(called, "text")))
}

pub(super) fn generated(number: usize) -> Tool {
    Tool::new(&format!("tool_{number:04}"))
        .taking(
            &format!(
                "Generated tool number {number}. It looks one record up and says what it found."
            ),
            json!({
                "id": {"type": "string", "description": "The record's id."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                "fields": {"type": "array", "items": {"type": "string"}},
                "mode": {"type": "string", "enum": ["fast", "exact", "loose"]},
            }),
        )
        .answering(move |_| text_result(format!("tool {number}")))
}

fn tools() -> Vec<Tool> {
    let mut tools = vec![echo(), slow()];
    tools.extend(content_tools());
    tools.extend(stepping_tools());
    tools.extend(asking_tools());
    tools
}

fn content_tools() -> Vec<Tool> {
    let number = json!({"type": "number"});
    vec![
        Tool::new("add")
            .taking("Adds two numbers.", json!({"a": number, "b": number}))
            .answering(|called| {
                let term = |name| {
                    called
                        .arguments
                        .get(name)
                        .and_then(Value::as_f64)
                        .unwrap_or(f64::NAN)
                };
                text_result(format!("{}", term("a") + term("b")))
            }),
        Tool::new("structured")
            .taking("Tells the weather.", json!({"city": {"type": "string"}}))
            .declaring(
                "outputSchema",
                json!({
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "celsius": {"type": "number"}},
                    "required": ["city", "celsius"],
                }),
            )
            .answering(|called| {
                let weather = json!({"city": string(called, "city"), "celsius": 21.5});
                let mut result = text_result(weather.to_string());
                if let Some(members) = result.as_object_mut() {
                    members.insert("structuredContent".to_owned(), weather);
                }
                result
            }),
        fixed(
            "image",
            json!({"type": "image", "data": PNG, "mimeType": "image/png"}),
        ),
        fixed(
            "audio",
            json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"}),
        ),
        fixed(
            "resource_link",
            json!({"type": "resource_link", "uri": "test://notes/first", "name": "first"}),
        ),
        fixed(
            "resource",
            json!({"type": "resource", "resource": {"uri": "test://notes/first", "text": "The first note."}}),
        ),
        Tool::new("error")
            .declaring("description", "Fails.".into())
            .answering(
                |_| json!({"content": [{"type": "text", "text": "it broke"}], "isError": true}),
            ),
        Tool::new("big")
            .taking(
                "Answers with many letters.",
                json!({"bytes": {"type": "integer"}}),
            )
            .answering(|called| {
                let bytes = called
                    .arguments
                    .get("bytes")
                    .and_then(Value::as_u64)
                    .unwrap_or(0);
                let bytes = usize::try_from(bytes).unwrap_or(0).min(64 << 20);
                text_result("x".repeat(bytes))
            }),
        Tool::new("mirror")
            .taking(
                "Wants its region in a header.",
                json!({"region": {"type": "string", "x-mcp-header": "Region"}}),
            )
            .answering(|called| text_result(string(called, "region"))),
    ]
}

fn stepping_tools() -> Vec<Tool> {
    let mut progress =
        Tool::new("progress").declaring("description", "Tells how far it is.".into());
    let mut logging = Tool::new("log").declaring("description", "Logs at every level.".into());
    for step in 1..=3 {
        progress = progress.with_step(Step::Progress {
            progress: f64::from(step),
            total: Some(3.0),
            message: Some(format!("step {step} of 3")),
        });
    }
    for level in crate::protocol::LEVELS {
        logging = logging.with_step(Step::Log {
            level: level.to_owned(),
            data: json!({"level": level}),
        });
    }
    vec![
        progress.answering(|_| text_result("done")),
        logging.answering(|_| text_result("logged")),
        Tool::new("change_tools")
            .declaring("description", "Says that the tools changed.".into())
            .with_step(Step::ToolsChanged)
            .answering(|_| text_result("changed")),
        Tool::new("touch")
            .declaring("description", "Says that the first note changed.".into())
            .with_step(Step::ResourceUpdated("test://notes/first".to_owned()))
            .answering(|_| text_result("touched")),
        Tool::new("job")
            .taking("Runs as a task.", json!({"text": {"type": "string"}}))
            .as_task(TaskSupport::Optional)
            .with_step(Step::PauseArgument {
                name: "ms".to_owned(),
                default: Duration::from_millis(20),
            })
            .answering(|called| text_result(string(called, "text"))),
        Tool::new("asking_job")
            .declaring("description", "Runs as a task and asks on the way.".into())
            .as_task(TaskSupport::Optional)
            .with_step(Step::Ask(name_form()))
            .answering(|called| text_result(called.answer("name").to_string())),
    ]
}

fn asking_tools() -> Vec<Tool> {
    let visit = Ask::url(
        "visit",
        "Please sign in.",
        "https://example.com/sign-in?id=1",
    );
    vec![
        asking("elicit", vec![name_form()]),
        asking("elicit_url", vec![visit]),
        asking(
            "sample",
            vec![Ask::sample("sample", "What is the capital of France?")],
        ),
        asking("roots", vec![Ask::roots("roots")]),
        asking(
            "ask_all",
            vec![
                name_form(),
                Ask::sample("sample", "Say yes."),
                Ask::roots("roots"),
            ],
        ),
    ]
}

fn asking(name: &str, asks: Vec<Ask>) -> Tool {
    let keys: Vec<String> = asks.iter().map(|ask| ask.key.clone()).collect();
    let mut tool = Tool::new(name).declaring("description", "Asks the client.".into());
    for ask in asks {
        tool = tool.with_step(Step::Ask(ask));
    }
    tool.answering(move |called| {
        let answers: serde_json::Map<String, Value> = keys
            .iter()
            .map(|key| (key.clone(), called.answer(key)))
            .collect();
        text_result(Value::Object(answers).to_string())
    })
}

fn name_form() -> Ask {
    Ask::form(
        "name",
        "Who are you?",
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Name", "default": "Ada"},
                "age": {"type": "integer", "minimum": 0, "default": 36},
                "score": {"type": "number", "default": 9.5},
                "status": {"type": "string", "enum": ["active", "away"], "default": "active"},
                "verified": {"type": "boolean", "default": true},
            },
            "required": ["name"],
        }),
    )
}

fn fixed(name: &str, block: Value) -> Tool {
    Tool::new(name)
        .declaring(
            "description",
            format!("Answers with one {name} block.").into(),
        )
        .answering(move |_| json!({"content": [block]}))
}

fn string(called: &Called<'_>, name: &str) -> String {
    called
        .arguments
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn text_result(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}
