//! Tools that change nothing.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::{
    AudioContent, CallToolResult, ContentBlock, ElicitFormParams, FormSchema, ImageContent,
};
use mcp_server::{Context, Error, Server};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{PICTURE, State, object, reading};
use crate::display::utc::utc;
use crate::store::Timestamp;

/// A fifth of a second of the note A, made by us.
const TONE: &[u8] = include_bytes!("../tone.wav");
/// How many steps `slow` takes.
const STEPS: u32 = 5;
/// The most letters `big` returns.
const MAX_LETTERS: u64 = 8 << 20;

#[derive(Deserialize)]
struct Offset {
    offset_ms: f64,
}

#[derive(Deserialize)]
struct Terms {
    a: f64,
    b: f64,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
struct Reason {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Letters {
    letters: Option<u64>,
}

#[derive(Deserialize)]
struct Pace {
    ms: Option<u64>,
}

pub(super) fn add(server: Server, state: &State) -> Server {
    let time = reading(
        "get_time",
        "The time in milliseconds since 1970, and in UTC, this many milliseconds from now: negative for the past.",
        json!({"offset_ms": {"type": "number", "description": "Milliseconds from now: 0 is now, -86400000 yesterday."}}),
        &["offset_ms"],
    );
    let numbers = json!({"a": {"type": "number"}, "b": {"type": "number"}});
    let mut sum = reading("add", "Adds two numbers.", numbers, &["a", "b"]);
    sum.output_schema = Some(object(&json!({
        "type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"],
    })));
    let text = json!({"text": {"type": "string"}});
    let echo = reading("echo", "Says the text again.", text, &["text"]);
    let reason = json!({"reason": {"type": "string"}});
    let clock = state.clock;
    let server = server
        .tool_with_schema(time, move |offset: Offset, _: Context| {
            let now = clock.unwrap_or_else(wall_clock);
            // Far enough from now, one moment is as good as another.
            let time = now.saturating_add(offset.offset_ms.clamp(-1e15, 1e15) as i64);
            async move { format!("{time} ({})", utc(time)) }
        })
        .tool_with_schema(sum, |terms: Terms, _: Context| async move {
            let sum = terms.a + terms.b;
            let mut result = CallToolResult::new(vec![ContentBlock::text(sum.to_string())]);
            result.structured_content = Some(RawJson::from_serialize(&json!({"sum": sum}))?);
            Ok::<_, Error>(result)
        })
        .tool_with_schema(echo, |it: Text, _: Context| async move { it.text })
        .tool_with_schema(
            reading("fail", "Fails.", reason, &[]),
            |it: Reason, _: Context| async move {
                let reason = it.reason.as_deref().unwrap_or("it was asked to");
                Err::<(), _>(Error::failed(format!("This failed, because {reason}.")))
            },
        )
        .tool_with_schema(
            reading("picture", "A small picture.", json!({}), &[]),
            |_: Value, _: Context| async {
                ContentBlock::Image(ImageContent::new(STANDARD.encode(PICTURE), "image/png"))
            },
        )
        .tool_with_schema(
            reading("sound", "A short tone.", json!({}), &[]),
            |_: Value, _: Context| async {
                ContentBlock::Audio(AudioContent::new(STANDARD.encode(TONE), "audio/wav"))
            },
        );
    let letters = json!({"letters": {"type": "integer", "minimum": 1, "maximum": MAX_LETTERS, "default": 200_000}});
    let ms = json!({"ms": {"type": "integer", "minimum": 0, "description": "Milliseconds a step takes: 200 if not said."}});
    let slow = reading("slow", "Takes five steps and tells of each.", ms, &[]);
    let ask = "Asks the user for their name and greets them.";
    server
        .tool_with_schema(
            reading("big", "A long text.", letters, &[]),
            |it: Letters, _: Context| async move { big(it.letters.unwrap_or(200_000)) },
        )
        .tool_with_schema(slow, |pace: Pace, cx: Context| async move {
            for step in 1..=STEPS {
                tokio::time::sleep(Duration::from_millis(pace.ms.unwrap_or(200))).await;
                let message = format!("step {step} of {STEPS}");
                cx.progress(f64::from(step), Some(f64::from(STEPS)), Some(&message));
            }
            "Done, slowly."
        })
        .tool_with_schema(
            reading("ask_name", ask, json!({}), &[]),
            |_: Value, cx: Context| async move { ask_name(&cx).await },
        )
}

fn big(letters: u64) -> String {
    let line = "All work and no play makes a very long text.\n";
    let letters = usize::try_from(letters.min(MAX_LETTERS)).unwrap_or_default();
    line.chars().cycle().take(letters).collect()
}

async fn ask_name(cx: &Context) -> Result<String, Error> {
    let form: FormSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {"name": {"type": "string", "title": "Name", "minLength": 1}},
        "required": ["name"],
    }))?;
    let question = ElicitFormParams::new("What is your name?", form);
    let answer = cx.ask("name", question).await?;
    let content = answer.content.unwrap_or_default();
    Ok(match content.get("name").and_then(Value::as_str) {
        Some(name) => format!("Hello, {name}!"),
        None => "Hello, whoever you are!".to_owned(),
    })
}

fn wall_clock() -> i64 {
    i64::try_from(Timestamp::now().as_millis()).unwrap_or(i64::MAX)
}
