//! Decodes Converse replies, streamed and whole.

use std::collections::BTreeMap;

use mcp_jsonrpc::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::adapter::decoder::Frames;
use crate::adapter::reply_builder::{PartIndex, ReplyBuilder, TextKind};
use crate::adapter::text_piece::TextPiece;
use crate::conversation::native::Native;
use crate::json::text::{count, keep, minify, parse};
use crate::json::writer::{Json, Object};
use crate::model::provider_error::ErrorKind;
use crate::reply::Reply;
use crate::reply::stop::StopReason;
use crate::reply::usage::{Usage, sum};
use crate::wire::Wire;

/// A Converse reply while it is read.
#[derive(Debug, Default)]
pub(crate) struct ConverseFrames {
    blocks: BTreeMap<u64, OpenBlock>,
    done: bool,
}

#[derive(Debug)]
struct OpenBlock {
    place: Place,
    id: String,
    name: String,
    signature: Option<String>,
    redacted: Option<String>,
    /// A call's arguments, once they are complete.
    input: Option<RawJson>,
    /// A block that is not ours to read, or that came whole.
    raw: Option<RawJson>,
    item: Option<RawJson>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Text(PartIndex),
    Reasoning(PartIndex),
    Call(PartIndex),
    /// A call of the tool that carries the structured output.
    Output(PartIndex),
    Opaque,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StreamEvent<'a> {
    #[serde(default)]
    content_block_index: u64,
    #[serde(borrow, default)]
    start: Option<Content<'a>>,
    #[serde(borrow, default)]
    delta: Option<Content<'a>>,
    #[serde(borrow, default)]
    stop_reason: Option<TextPiece<'a>>,
    #[serde(default)]
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Whole<'a> {
    #[serde(borrow)]
    output: Output<'a>,
    #[serde(borrow, default)]
    stop_reason: Option<TextPiece<'a>>,
    #[serde(default)]
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow)]
    message: Message<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
}

/// A block, the start of one, or what is new in one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content<'a> {
    #[serde(borrow, default)]
    text: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    tool_use: Option<ToolUse<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<Reasoning<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolUse<'a> {
    #[serde(borrow, default)]
    tool_use_id: Option<TextPiece<'a>>,
    #[serde(borrow, default)]
    name: Option<TextPiece<'a>>,
    /// JSON as text in a stream, a value in a whole reply.
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reasoning<'a> {
    #[serde(borrow, default)]
    text: Option<TextPiece<'a>>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    redacted_content: Option<String>,
    #[serde(borrow, default)]
    reasoning_text: Option<Box<Reasoning<'a>>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TokenUsage {
    #[serde(deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_write_input_tokens: Option<u64>,
}

impl From<TokenUsage> for Usage {
    /// Cached tokens are counted apart from the input.
    fn from(usage: TokenUsage) -> Self {
        let (read, write) = (
            usage.cache_read_input_tokens,
            usage.cache_write_input_tokens,
        );
        Self {
            input: sum(usage.input_tokens, sum(read, write)),
            output: usage.output_tokens,
            reasoning: None,
            cache_read: read,
            cache_write: write,
        }
    }
}

impl ConverseFrames {
    /// The block at `index`, opened by what comes first of it.
    fn open(&mut self, index: u64, content: &Content<'_>, turn: &mut ReplyBuilder) {
        if self.blocks.contains_key(&index) {
            return;
        }
        let (mut id, mut name) = (String::new(), String::new());
        let place = match content {
            Content {
                tool_use: Some(call),
                ..
            } => {
                let text = |piece: &Option<TextPiece<'_>>| {
                    piece
                        .as_ref()
                        .map_or_else(String::new, |it| it.as_str().to_owned())
                };
                (id, name) = (text(&call.tool_use_id), text(&call.name));
                if turn.is_output_tool(&name) {
                    Place::Output(turn.open_output())
                } else {
                    match turn.start_call(Some(id.as_str()).filter(|id| !id.is_empty()), &name) {
                        Some(slot) => Place::Call(slot),
                        None => return,
                    }
                }
            }
            Content {
                reasoning_content: Some(_),
                ..
            } => Place::Reasoning(turn.open_text(TextKind::Reasoning)),
            Content { text: Some(_), .. } => Place::Text(turn.open_text(TextKind::Text)),
            _ => Place::Opaque,
        };
        let block = OpenBlock {
            place,
            id,
            name,
            signature: None,
            redacted: None,
            input: None,
            raw: None,
            item: None,
        };
        self.blocks.insert(index, block);
    }

    fn add(&mut self, index: u64, content: &Content<'_>, turn: &mut ReplyBuilder) {
        let Some(block) = self.blocks.get_mut(&index) else {
            return;
        };
        match block.place {
            Place::Text(slot) => {
                if let Some(text) = &content.text {
                    turn.say_at(slot, text);
                }
            }
            Place::Reasoning(slot) => {
                let Some(new) = &content.reasoning_content else {
                    return;
                };
                let new = new.reasoning_text.as_deref().unwrap_or(new);
                if let Some(text) = &new.text {
                    turn.say_at(slot, text);
                }
                // These come whole: a later one replaces an earlier one.
                block.signature = new.signature.clone().or(block.signature.take());
                block.redacted = new.redacted_content.clone().or(block.redacted.take());
            }
            Place::Call(slot) | Place::Output(slot) => {
                let Some(input) = content.tool_use.as_ref().and_then(|call| call.input) else {
                    return;
                };
                let piece = match serde_json::from_str::<TextPiece<'_>>(input.get()) {
                    Ok(piece) => piece,
                    Err(_) => TextPiece::from(minify(input.get())),
                };
                match block.place {
                    Place::Call(_) => turn.argue(slot, &piece),
                    _ => turn.say_at(slot, &piece),
                }
            }
            Place::Opaque => {}
        }
    }

    fn end_block(&mut self, index: u64, turn: &mut ReplyBuilder) {
        if let Some(block) = self.blocks.get_mut(&index)
            && let Place::Call(slot) = block.place
        {
            let text = turn.call(slot).map_or("", |call| call.text());
            block.input = RawJson::from_text(text.to_owned()).ok();
            turn.end_call(slot, false);
        }
    }
}

impl OpenBlock {
    /// The block as the server wants it back. It does not want blank text.
    fn settle(&mut self, turn: &ReplyBuilder) {
        let block = match self.place {
            Place::Output(_) => return,
            Place::Opaque => {
                self.item = self.raw.take();
                return;
            }
            Place::Text(slot) if turn.text_at(slot).trim().is_empty() => return,
            Place::Text(slot) => Object::default().set("text", turn.text_at(slot)),
            Place::Reasoning(slot) => {
                let inner = match &self.redacted {
                    Some(data) => Object::default().set("redactedContent", data.as_str()),
                    None => {
                        let text = Object::default()
                            .set("text", turn.text_at(slot))
                            .maybe("signature", self.signature.as_deref());
                        Object::default().set("reasoningText", text)
                    }
                };
                Object::default().set("reasoningContent", inner)
            }
            Place::Call(_) => {
                let input = match &self.input {
                    Some(input) => Json::from(input),
                    None => Object::default().into(),
                };
                let call = Object::default()
                    .set("toolUseId", self.id.as_str())
                    .set("name", self.name.as_str())
                    .set("input", input);
                Object::default().set("toolUse", call)
            }
        };
        self.item = Some(Json::from(block).to_raw());
    }
}

impl Frames for ConverseFrames {
    fn event(&mut self, name: &[u8], data: &[u8], turn: &mut ReplyBuilder) {
        let event = match parse::<StreamEvent<'_>>(data) {
            Ok(event) => event,
            Err(error) => {
                let problem = format!("an event is not one of ConverseStream: {error}");
                return turn.fail(ErrorKind::Malformed, problem);
            }
        };
        let index = event.content_block_index;
        match name {
            b"contentBlockStart" => {
                if let Some(start) = event.start {
                    self.open(index, &start, turn);
                }
            }
            b"contentBlockDelta" => {
                if let Some(delta) = event.delta {
                    self.open(index, &delta, turn);
                    self.add(index, &delta, turn);
                }
            }
            b"contentBlockStop" => self.end_block(index, turn),
            b"messageStop" => stop(event.stop_reason.as_ref(), turn),
            b"metadata" => {
                if let Some(usage) = event.usage {
                    turn.set_usage(usage.into());
                }
                // It comes last. Without a reason to stop, the reply is cut.
                self.done = turn.stop_reason().is_some();
            }
            _ => {}
        }
    }

    fn body(&mut self, json: &[u8], turn: &mut ReplyBuilder) {
        let whole = match parse::<Whole<'_>>(json) {
            Ok(whole) => whole,
            Err(error) => {
                return turn.fail(
                    ErrorKind::Malformed,
                    format!("not a reply of Converse: {error}"),
                );
            }
        };
        for (index, raw) in (0..).zip(whole.output.message.content) {
            let Ok(content) = serde_json::from_str::<Content<'_>>(raw.get()) else {
                return turn.fail(ErrorKind::Malformed, "a content block is not an object");
            };
            self.open(index, &content, turn);
            self.add(index, &content, turn);
            self.end_block(index, turn);
            if let Some(block) = self.blocks.get_mut(&index) {
                block.raw = Some(keep(raw));
            }
        }
        if let Some(usage) = whole.usage {
            turn.set_usage(usage.into());
        }
        stop(whole.stop_reason.as_ref(), turn);
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
        let items = self
            .blocks
            .values_mut()
            .filter_map(|block| block.item.take());
        Some(Native {
            wire: Wire::Bedrock,
            dialect: String::new(),
            items: items.collect(),
        })
    }
}

fn stop(reason: Option<&TextPiece<'_>>, turn: &mut ReplyBuilder) {
    let Some(reason) = reason else {
        return;
    };
    let neutral = match reason.as_str() {
        "end_turn" => StopReason::End,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        "guardrail_intervened" | "content_filtered" => StopReason::Filtered,
        "malformed_tool_use" | "malformed_model_output" => StopReason::MalformedToolCall,
        _ => StopReason::Other,
    };
    turn.stop(neutral, reason.as_str());
}
