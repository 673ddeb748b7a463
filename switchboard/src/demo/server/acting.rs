//! Tools that change something, if only in this server.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_server::{Context, Server};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{NOTE, State, hinted, reading};

/// The tool that `grow` adds.
pub(super) const GROWN: &str = "grown";

#[derive(Deserialize)]
struct Note {
    text: String,
}

pub(super) fn add(server: Server, state: &State) -> Server {
    let text = json!({"text": {"type": "string", "description": "What to write."}});
    let write = reading(
        "write_note",
        "Writes the note. The one before is lost.",
        text,
        &["text"],
    );
    let grow = reading(
        "grow",
        "Adds the tool `grown` to this server.",
        json!({}),
        &[],
    );
    let crash = reading(
        "crash",
        "Ends this server without an answer.",
        json!({}),
        &[],
    );
    let grown = reading(GROWN, "A tool that was not there before.", json!({}), &[]);
    let (note, grows, crashes) = (
        Arc::clone(&state.note),
        Arc::clone(&state.grown),
        Arc::clone(&state.crash),
    );
    server
        .tool_with_schema(hinted(write, false, true), move |it: Note, cx: Context| {
            note.lock().clone_from(&it.text);
            cx.notifier().resource_updated(NOTE);
            async move { format!("Noted: {}", it.text) }
        })
        .tool_with_schema(hinted(grow, false, false), move |_: Value, cx: Context| {
            grows.store(true, Ordering::Relaxed);
            cx.notifier().tools_changed();
            async { "There is a new tool: grown." }
        })
        .tool_with_schema(hinted(crash, false, true), move |_: Value, _: Context| {
            crashes.notify_one();
            std::future::pending::<()>()
        })
        .tool_with_schema(grown, |_: Value, _: Context| async { "Here I am." })
}
