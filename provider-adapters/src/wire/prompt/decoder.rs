//! Extracts tool calls from the text of another wire's reply.

use std::collections::BTreeMap;

use mcp_jsonrpc::RawJson;

use super::parser::{Found, Grammar, PromptParser};
use crate::adapter::decoder::{Decoder, Expected};
use crate::adapter::reply_builder::{PartIndex, ReplyBuilder, TextKind};
use crate::conversation::call_id::CallId;
use crate::conversation::native::Native;
use crate::conversation::part::AssistantPart;
use crate::reply::event::ReplyEvent;
use crate::reply::stop::StopReason;
use crate::reply::{Note, Reply};
use crate::wire::Wire;

/// A reply of another wire, with the calls in its text made real ones.
#[derive(Debug)]
pub(crate) struct PromptDecoder {
    inner: Box<dyn Decoder>,
    parser: PromptParser,
    turn: ReplyBuilder,
    /// Calls that the inner wire knows as such.
    calls: BTreeMap<CallId, PartIndex>,
    keeps: Keeps,
    /// The text as the model wrote it, tags and all.
    text: String,
    /// Events of the inner decoder.
    heard: Vec<ReplyEvent>,
}

/// What the provider gets back of the turn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Keeps {
    /// The text, with the calls in it.
    Text,
    /// Everything the inner wire keeps.
    Inner,
}

impl PromptDecoder {
    /// `inner` must not know the tools: names and arguments are turned back here, once.
    pub(crate) fn new(
        inner: Box<dyn Decoder>,
        grammar: Grammar,
        keeps: Keeps,
        expected: Expected,
    ) -> Self {
        Self {
            inner,
            parser: PromptParser::new(grammar),
            turn: ReplyBuilder::new(expected),
            calls: BTreeMap::new(),
            keeps,
            text: String::new(),
            heard: Vec::new(),
        }
    }

    fn listen(&mut self) {
        let mut heard = std::mem::take(&mut self.heard);
        for event in heard.drain(..) {
            match event {
                ReplyEvent::Text { text } => {
                    self.text.push_str(&text);
                    let Self { parser, turn, .. } = self;
                    parser.push(&text, &mut |found| tell(found, turn));
                }
                ReplyEvent::Reasoning { text } => self.turn.say(TextKind::Reasoning, &text.into()),
                ReplyEvent::Refusal { text } => self.turn.say(TextKind::Refusal, &text.into()),
                ReplyEvent::Media(media) => self.turn.push_media(media),
                ReplyEvent::ToolCallStart {
                    tool_call_id,
                    tool_call_name,
                } => {
                    let slot = self
                        .turn
                        .start_call(Some(tool_call_id.as_str()), &tool_call_name);
                    self.calls.extend(slot.map(|slot| (tool_call_id, slot)));
                }
                ReplyEvent::ToolCallChunk {
                    tool_call_id,
                    tool_call_arguments_chunk,
                } => {
                    if let Some(slot) = self.calls.get(&tool_call_id) {
                        self.turn.argue(*slot, &tool_call_arguments_chunk.into());
                    }
                }
                ReplyEvent::ToolCallEnd {
                    tool_call_id,
                    complete,
                    ..
                } => {
                    if let Some(slot) = self.calls.get(&tool_call_id) {
                        self.turn.end_call(*slot, !complete);
                    }
                }
                ReplyEvent::Error(error) => self.turn.fail_with(*error),
                // The rest comes with the reply.
                _ => {}
            }
        }
        self.heard = heard;
    }
}

impl Decoder for PromptDecoder {
    fn push(&mut self, bytes: &[u8], events: &mut Vec<ReplyEvent>) {
        self.inner.push(bytes, &mut self.heard);
        std::mem::swap(&mut self.turn.events, events);
        self.listen();
        std::mem::swap(&mut self.turn.events, events);
    }

    fn is_done(&self) -> bool {
        self.inner.is_done() || self.turn.has_failed()
    }

    fn finish(mut self: Box<Self>, events: &mut Vec<ReplyEvent>) -> Reply {
        let this = &mut *self;
        std::mem::swap(&mut this.turn.events, events);
        let inner = std::mem::replace(&mut this.inner, Box::new(Silence));
        let whole = inner.finish(&mut this.heard);
        this.listen();
        this.turn.set_usage(whole.usage);
        let reason = whole.stop_reason();
        if let Some(stop) = &whole.stop {
            this.turn.stop(stop.reason, &stop.raw);
        }
        let cut = reason.is_none_or(StopReason::cuts);
        let stopped = reason == Some(StopReason::StopSequence);
        let PromptDecoder { parser, turn, .. } = this;
        parser.finish(cut, stopped, &mut |found| tell(found, turn));
        for note in &whole.notes {
            turn.note(note.clone());
        }
        let mut reply = turn.finish();
        let generated = |id: &CallId| whole.calls().any(|call| call.generated && call.id == *id);
        for part in &mut reply.parts {
            if let AssistantPart::ToolCall(call) = part {
                call.generated |= generated(&call.id);
            }
        }
        reply.native = match this.keeps {
            Keeps::Inner => whole.native,
            Keeps::Text => RawJson::from_serialize(&this.text).ok().map(|text| Native {
                wire: Wire::Prompt,
                dialect: String::new(),
                items: vec![text],
            }),
        };
        std::mem::swap(&mut this.turn.events, events);
        reply
    }
}

fn tell(found: Found<'_>, turn: &mut ReplyBuilder) {
    match found {
        Found::Text(text) => turn.say(TextKind::Text, &text.into()),
        Found::Call { name, arguments } => {
            if let Some(slot) = turn.start_call(None, name) {
                turn.argue(slot, &arguments.into());
                turn.end_call(slot, false);
            }
        }
        Found::Rejected {
            name,
            text,
            problem,
        } => turn.reject_call(name, text, problem),
        Found::Unclosed => turn.note(Note::UnclosedCall),
    }
}

/// Stands in for a decoder that is used up.
#[derive(Debug)]
struct Silence;

impl Decoder for Silence {
    fn push(&mut self, _bytes: &[u8], _events: &mut Vec<ReplyEvent>) {}

    fn is_done(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>, _events: &mut Vec<ReplyEvent>) -> Reply {
        Reply::default()
    }
}
