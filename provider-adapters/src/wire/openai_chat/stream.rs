//! Decodes Chat Completions replies, streamed and whole.

use serde_json::value::RawValue;

use super::chunk::{Call, Chunk, Delta, Function};
use super::dialect::{Dialect, Thoughts};
use super::extras::Extras;
use super::resolver::{Fragment, Home, Resolver, repeats};
use super::think::ThinkSplitter;
use crate::adapter::decoder::Frames;
use crate::adapter::error_body;
use crate::adapter::reply_builder::{PartIndex, ReplyBuilder, TextKind};
use crate::adapter::text_piece::{Joiner, TextPiece};
use crate::conversation::native::Native;
use crate::json::text::{minify, parse};
use crate::model::provider_error::ErrorKind;
use crate::reply::Reply;
use crate::reply::stop::StopReason;
use crate::wire::Wire;

/// A Chat Completions reply while it is read.
#[derive(Debug)]
pub(crate) struct ChatFrames {
    dialect: &'static str,
    calls: Resolver,
    think: Option<(ThinkSplitter, Joiner)>,
    extras: Extras,
    done: bool,
}

impl ChatFrames {
    pub(crate) fn new(dialect: &Dialect) -> Self {
        Self {
            dialect: dialect.name,
            calls: Resolver::default(),
            think: (dialect.thoughts == Thoughts::Tags).then(Default::default),
            extras: Extras::default(),
            done: false,
        }
    }

    fn chunk(&mut self, data: &[u8], turn: &mut ReplyBuilder) {
        let chunk: Chunk<'_> = match parse(data) {
            Ok(chunk) => chunk,
            Err(error) => {
                let error = format!("an event is not a chat completion chunk: {error}");
                return turn.fail(ErrorKind::Malformed, error);
            }
        };
        if let Some(error) = chunk.error {
            let value = serde_json::json!({ "error": parsed(error) });
            return turn.fail_with(error_body::from_event(&value));
        }
        let usage = chunk
            .usage
            .or_else(|| chunk.x_groq.and_then(|groq| groq.usage));
        if let Some(usage) = usage {
            turn.set_usage(usage.into());
        }
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta, turn);
            }
            match choice.finish_reason {
                Some(reason) if !reason.is_empty() => self.finished(reason.as_str(), turn),
                _ => {}
            }
        }
    }

    fn delta(&mut self, delta: Delta<'_>, turn: &mut ReplyBuilder) {
        let blank = |piece: &TextPiece<'_>| !piece.is_empty();
        if let Some(thought) = delta.reasoning_content.filter(blank) {
            self.extras.reasoning_field("reasoning_content");
            turn.say(TextKind::Reasoning, &thought);
        } else if let Some(thought) = delta.reasoning.filter(blank) {
            self.extras.reasoning_field("reasoning");
            turn.say(TextKind::Reasoning, &thought);
        }
        for detail in delta.reasoning_details.unwrap_or_default() {
            self.extras.reasoning_detail(detail);
        }
        if let Some(content) = delta.content {
            turn.say(TextKind::Reasoning, &content.thought);
            match &mut self.think {
                None => turn.say(TextKind::Text, &content.text),
                Some((splitter, joiner)) => {
                    let text = joiner.push(&content.text);
                    splitter.push(&text, &mut |voice, piece| turn.say(voice, &piece.into()));
                }
            }
        }
        if let Some(refusal) = delta.refusal {
            turn.say(TextKind::Refusal, &refusal);
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.call(call, turn);
        }
        if let Some(function) = delta.function_call {
            self.call(
                Call {
                    index: Some(0),
                    function: Some(function),
                    ..Call::default()
                },
                turn,
            );
        }
    }

    fn call(&mut self, call: Call<'_>, turn: &mut ReplyBuilder) {
        let Function { name, arguments } = call.function.unwrap_or_default();
        let arguments = arguments.map(argument_text).unwrap_or_default();
        let fragment = Fragment {
            index: call.index,
            id: given(call.id.as_ref()),
            name: given(name.as_ref()),
            arguments: &arguments,
        };
        let slot = match self.calls.resolve(&fragment, turn) {
            Home::Known(slot) => slot,
            Home::New => match self.open(&fragment, turn) {
                Some(slot) => slot,
                None => return,
            },
            // Nothing is lost if there is nothing in it.
            Home::Ambiguous if arguments.is_empty() => return,
            Home::Ambiguous => {
                let what = "arguments that belong to no tool call, or to any of several";
                return turn.fail(ErrorKind::Malformed, what);
            }
        };
        if let (Some(extra), Some(call)) = (call.extra_content, turn.call(slot)) {
            self.extras.call(call.id(), extra);
        }
        if let Some(name) = fragment.name {
            turn.name_call(slot, name);
        }
        // Some servers send the whole arguments again at the end.
        if repeats(slot, &fragment, turn) {
            return;
        }
        if turn.call(slot).is_some_and(|call| call.is_over()) {
            return turn.fail(
                ErrorKind::Malformed,
                "arguments after the end of their tool call",
            );
        }
        turn.argue(slot, &arguments);
    }

    fn open(&mut self, fragment: &Fragment<'_>, turn: &mut ReplyBuilder) -> Option<PartIndex> {
        let slot = turn.open_call(fragment.id)?;
        self.calls.opened(slot, fragment);
        let earlier: Vec<PartIndex> = self.calls.earlier().collect();
        end_whole(earlier, turn);
        Some(slot)
    }

    fn finished(&mut self, reason: &str, turn: &mut ReplyBuilder) {
        let neutral = match reason {
            "stop" | "eos" | "end_turn" => StopReason::End,
            "tool_calls" | "function_call" | "tool_use" => StopReason::ToolUse,
            "length" | "max_tokens" | "model_length" => StopReason::MaxTokens,
            "content_filter" => StopReason::Filtered,
            "refusal" => StopReason::Refusal,
            "stop_sequence" => StopReason::StopSequence,
            "error" => StopReason::Error,
            _ => StopReason::Other,
        };
        turn.stop(neutral, reason);
        let all: Vec<PartIndex> = self.calls.all().collect();
        end_whole(all, turn);
    }

    fn flush(&mut self, turn: &mut ReplyBuilder) {
        if let Some((splitter, _)) = &mut self.think {
            splitter.finish(&mut |voice, piece| turn.say(voice, &piece.into()));
        }
    }
}

impl Frames for ChatFrames {
    fn event(&mut self, name: &[u8], data: &[u8], turn: &mut ReplyBuilder) {
        if data.trim_ascii() == b"[DONE]" {
            self.done = true;
        } else if name == b"error" {
            turn.fail_with(error_body::read(None, data));
        } else {
            self.chunk(data, turn);
        }
    }

    fn body(&mut self, json: &[u8], turn: &mut ReplyBuilder) {
        self.chunk(json, turn);
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn end(&mut self, turn: &mut ReplyBuilder) {
        self.flush(turn);
    }

    fn native(&mut self, reply: &Reply) -> Option<Native> {
        let item = self.extras.item(reply)?;
        Some(Native {
            wire: Wire::OpenAiChat,
            dialect: self.dialect.to_owned(),
            items: vec![item],
        })
    }
}

/// Ends those of the calls whose arguments are whole.
fn end_whole(calls: Vec<PartIndex>, turn: &mut ReplyBuilder) {
    for slot in calls {
        if turn.call(slot).is_some_and(|call| call.is_whole()) {
            turn.end_call(slot, false);
        }
    }
}

/// A name or an id, unless it is blank.
fn given<'a>(piece: Option<&'a TextPiece<'_>>) -> Option<&'a str> {
    piece
        .map(TextPiece::as_str)
        .filter(|text| !text.trim().is_empty())
}

/// Arguments: a string as it should be, or the object itself, or nothing.
fn argument_text(raw: &RawValue) -> TextPiece<'_> {
    match raw.get().as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw.get()).unwrap_or_default(),
        Some(b'n') => TextPiece::default(),
        _ => TextPiece::from(minify(raw.get())),
    }
}

fn parsed(raw: &RawValue) -> serde_json::Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}
