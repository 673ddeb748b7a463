//! The parts of a Gemini turn, in the form they are sent back.

use mcp_jsonrpc::{RawJson, RawMap};
use serde_json::value::RawValue;

use super::chunk::Part;
use crate::adapter::text_piece::{Joiner, TextPiece};
use crate::json::text::keep;

/// Collects parts as they came. Neighbours of plain text become one part; a part with a signature
/// is never merged, because the signature belongs to exactly that part.
#[derive(Debug, Default)]
pub(crate) struct Items {
    done: Vec<RawJson>,
    text: Option<Run>,
    call: Option<RawMap>,
}

#[derive(Debug)]
struct Run {
    text: String,
    joiner: Joiner,
    thought: bool,
}

impl Items {
    pub(crate) fn push(&mut self, raw: &RawValue, part: &Part<'_>) {
        match &part.text {
            Some(text) if is_plain(part) => self.add_text(text, part.thought == Some(true)),
            _ => {
                self.flush();
                self.done.push(keep(raw));
            }
        }
    }

    /// A call whose arguments are still to come.
    pub(crate) fn open_call(&mut self, raw: &RawValue) {
        self.flush();
        self.call = keep(raw).parse().ok();
    }

    /// The call with its arguments, as if it had come whole.
    pub(crate) fn close_call(&mut self, arguments: &str) {
        let Some(mut part) = self.call.take() else {
            return;
        };
        let mut call: RawMap = part.read_as("functionCall").unwrap_or_default();
        call.remove("partialArgs");
        call.remove("willContinue");
        if let Ok(arguments) = RawJson::from_text(arguments.to_owned()) {
            call.insert("args", arguments);
        }
        if part.set("functionCall", &call).is_ok() {
            self.done.extend(RawJson::from_serialize(&part));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<RawJson> {
        self.flush();
        std::mem::take(&mut self.done)
    }

    fn add_text(&mut self, piece: &TextPiece<'_>, thought: bool) {
        if self.text.as_ref().is_some_and(|run| run.thought != thought) {
            self.flush();
        }
        let run = self.text.get_or_insert_with(|| Run {
            text: String::new(),
            joiner: Joiner::default(),
            thought,
        });
        run.text.push_str(&run.joiner.push(piece));
    }

    fn flush(&mut self) {
        let Some(run) = self.text.take().filter(|run| !run.text.is_empty()) else {
            return;
        };
        let mut part = RawMap::new();
        let mut written = part.set("text", &run.text);
        if run.thought {
            written = written.and_then(|()| part.set("thought", &true));
        }
        if written.is_ok() {
            self.done.extend(RawJson::from_serialize(&part));
        }
    }
}

/// Whether there is nothing but text in the part.
fn is_plain(part: &Part<'_>) -> bool {
    part.thought_signature.is_none()
        && part.function_call.is_none()
        && part.inline_data.is_none()
        && part.file_data.is_none()
}
