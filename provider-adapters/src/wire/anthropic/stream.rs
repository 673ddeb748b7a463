//! Decodes Anthropic replies, streamed and whole.

use std::collections::BTreeMap;

use mcp_jsonrpc::{RawJson, RawMap};
use serde_json::value::RawValue;

use super::event::{Block, Delta, Message, MessageUsage, StreamEvent};
use crate::adapter::decoder::Frames;
use crate::adapter::error_body;
use crate::adapter::reply_builder::{PartIndex, ReplyBuilder, TextKind};
use crate::adapter::text_piece::{Joiner, TextPiece};
use crate::conversation::native::Native;
use crate::json::text::{keep, minify, parse};
use crate::model::provider_error::ErrorKind;
use crate::reply::Reply;
use crate::reply::stop::StopReason;
use crate::wire::Wire;

/// An Anthropic reply while it is read.
#[derive(Debug, Default)]
pub(crate) struct AnthropicFrames {
    blocks: BTreeMap<u64, OpenBlock>,
    usage: MessageUsage,
    /// The reply is not a stream.
    whole: bool,
    done: bool,
}

/// A content block: as it began, and what has been added since.
#[derive(Debug)]
struct OpenBlock {
    raw: RawMap,
    place: Place,
    /// JSON of a block that is not ours to read, such as a call of a tool the server runs.
    json: String,
    joiner: Joiner,
    citations: Vec<RawJson>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Text(PartIndex),
    Thinking(PartIndex),
    Call(PartIndex),
    /// A call of the tool that carries the structured output.
    Output(PartIndex),
    /// Kept for the server; opaque to us.
    Opaque,
}

impl AnthropicFrames {
    fn stream_event(&mut self, event: StreamEvent<'_>, data: &[u8], turn: &mut ReplyBuilder) {
        match event.kind.as_str() {
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.delta(event.index, &delta, turn);
                }
            }
            "content_block_start" => {
                if let Some(raw) = event.content_block {
                    self.begin(event.index, raw, turn);
                }
            }
            "content_block_stop" => self.end_block(event.index, turn),
            "message_start" => {
                if let Some(message) = event.message {
                    self.message(*message, turn);
                }
            }
            "message_delta" => {
                if let Some(usage) = event.usage {
                    self.usage.update(*usage);
                    turn.set_usage(self.usage.into());
                }
                if let Some(reason) = event.delta.and_then(|delta| delta.stop_reason) {
                    stop(&reason, turn);
                }
            }
            "message_stop" => self.done = true,
            "error" => turn.fail_with(error_body::read(None, data)),
            _ => {}
        }
    }

    fn message(&mut self, message: Message<'_>, turn: &mut ReplyBuilder) {
        for (index, raw) in message.content.into_iter().flatten().enumerate() {
            self.begin(index as u64, raw, turn);
            self.end_block(index as u64, turn);
        }
        if let Some(usage) = message.usage {
            self.usage.update(usage);
            turn.set_usage(self.usage.into());
        }
        if let Some(reason) = message.stop_reason {
            stop(&reason, turn);
        }
    }

    fn begin(&mut self, index: u64, raw: &RawValue, turn: &mut ReplyBuilder) {
        let (Ok(block), Ok(members)) = (
            serde_json::from_str::<Block<'_>>(raw.get()),
            keep(raw).parse(),
        ) else {
            return turn.fail(ErrorKind::Malformed, "a content block is not an object");
        };
        let name = block.name.as_ref().map_or("", TextPiece::as_str);
        let place = match block.kind.as_str() {
            "text" => {
                let slot = turn.open_text(TextKind::Text);
                say(slot, &block.text, turn);
                Place::Text(slot)
            }
            "thinking" => {
                let slot = turn.open_text(TextKind::Reasoning);
                say(slot, &block.thinking, turn);
                Place::Thinking(slot)
            }
            "tool_use" if turn.is_output_tool(name) => Place::Output(turn.open_output()),
            "tool_use" => {
                let id = block
                    .id
                    .as_ref()
                    .map(TextPiece::as_str)
                    .filter(|id| !id.is_empty());
                match turn.start_call(id, name) {
                    Some(slot) => Place::Call(slot),
                    None => return,
                }
            }
            _ => Place::Opaque,
        };
        self.blocks.insert(
            index,
            OpenBlock {
                raw: members,
                place,
                json: String::new(),
                joiner: Joiner::default(),
                citations: Vec::new(),
            },
        );
    }

    fn delta(&mut self, index: u64, delta: &Delta<'_>, turn: &mut ReplyBuilder) {
        let Some(block) = self.blocks.get_mut(&index) else {
            return;
        };
        match (delta.kind.as_str(), block.place) {
            ("text_delta", Place::Text(slot)) => say(slot, &delta.text, turn),
            ("thinking_delta", Place::Thinking(slot)) => say(slot, &delta.thinking, turn),
            ("input_json_delta", Place::Output(slot)) => say(slot, &delta.partial_json, turn),
            ("input_json_delta", Place::Call(slot)) => {
                if let Some(piece) = &delta.partial_json {
                    turn.argue(slot, piece);
                }
            }
            ("input_json_delta", Place::Opaque) => {
                if let Some(piece) = &delta.partial_json {
                    block.json.push_str(&block.joiner.push(piece));
                }
            }
            // The signature comes whole: a later one replaces an earlier one.
            ("signature_delta", _) => {
                if let Some(signature) = &delta.signature {
                    let _ = block.raw.set("signature", signature.as_str());
                }
            }
            ("citations_delta", _) => block.citations.extend(delta.citation.map(keep)),
            _ => {}
        }
    }

    fn end_block(&mut self, index: u64, turn: &mut ReplyBuilder) {
        if let Some(OpenBlock {
            place: Place::Output(slot),
            raw,
            ..
        }) = self.blocks.get(&index)
            && turn.text_at(*slot).is_empty()
            && let Some(input) = raw.get("input")
        {
            turn.say_at(*slot, &TextPiece::from(minify(input.get())));
        }
        let Some(OpenBlock {
            place: Place::Call(slot),
            raw,
            ..
        }) = self.blocks.get_mut(&index)
        else {
            return;
        };
        let Some(call) = turn.call(*slot).filter(|call| !call.is_over()) else {
            return;
        };
        if call.text().is_empty() {
            // Some proxies send the whole input at the start, and no deltas.
            let input = raw
                .get("input")
                .map_or_else(String::new, |input| minify(input.get()));
            if self.whole || input != "{}" {
                turn.argue(*slot, &TextPiece::from(input));
            }
        } else if let Ok(input) = RawJson::from_text(call.text().to_owned()) {
            raw.insert("input", input);
        }
        turn.end_call(*slot, false);
    }
}

impl OpenBlock {
    /// Writes what has been added since into the block.
    fn settle(&mut self, turn: &ReplyBuilder) {
        let (key, text) = match self.place {
            Place::Text(slot) => ("text", turn.text_at(slot)),
            Place::Thinking(slot) => ("thinking", turn.text_at(slot)),
            Place::Call(_) | Place::Output(_) => return,
            Place::Opaque => {
                if let Ok(input) = RawJson::from_text(std::mem::take(&mut self.json)) {
                    self.raw.insert("input", input);
                }
                return;
            }
        };
        let _ = self.raw.set(key, text);
        if !self.citations.is_empty() {
            let _ = self.raw.set("citations", &self.citations);
        }
    }

    /// The block as the server wants it back. It does not want blank text.
    fn item(&self) -> Option<RawJson> {
        let blank = matches!(self.place, Place::Text(_))
            && self
                .raw
                .read_as::<String>("text")
                .is_none_or(|text| text.trim().is_empty());
        if blank {
            None
        } else {
            RawJson::from_serialize(&self.raw).ok()
        }
    }
}

impl Frames for AnthropicFrames {
    fn event(&mut self, name: &[u8], data: &[u8], turn: &mut ReplyBuilder) {
        match parse::<StreamEvent<'_>>(data) {
            Ok(mut event) => {
                if event.kind.is_empty() {
                    event.kind = TextPiece::from_bytes(name.into());
                }
                self.stream_event(event, data, turn);
            }
            Err(_) if name == b"error" => turn.fail_with(error_body::read(None, data)),
            Err(error) => {
                turn.fail(
                    ErrorKind::Malformed,
                    format!("an event is not a message event: {error}"),
                );
            }
        }
    }

    fn body(&mut self, json: &[u8], turn: &mut ReplyBuilder) {
        self.whole = true;
        match parse(json) {
            Ok(message) => self.message(message, turn),
            Err(error) => turn.fail(ErrorKind::Malformed, format!("not a message: {error}")),
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn end(&mut self, turn: &mut ReplyBuilder) {
        for block in self.blocks.values_mut() {
            block.settle(turn);
        }
    }

    fn native(&mut self, _reply: &Reply) -> Option<Native> {
        // A call that gets no result cannot go back.
        let is_output = |block: &OpenBlock| matches!(block.place, Place::Output(_));
        if self.blocks.values().any(is_output) {
            return None;
        }
        let items = self.blocks.values().filter_map(OpenBlock::item).collect();
        Some(Native {
            wire: Wire::Anthropic,
            dialect: String::new(),
            items,
        })
    }
}

fn say(slot: PartIndex, piece: &Option<TextPiece<'_>>, turn: &mut ReplyBuilder) {
    if let Some(piece) = piece {
        turn.say_at(slot, piece);
    }
}

fn stop(reason: &TextPiece<'_>, turn: &mut ReplyBuilder) {
    let neutral = match reason.as_str() {
        "end_turn" => StopReason::End,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        "refusal" => StopReason::Refusal,
        "pause_turn" => StopReason::Pause,
        _ => StopReason::Other,
    };
    turn.stop(neutral, reason.as_str());
}
