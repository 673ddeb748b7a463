//! Decodes Responses replies, streamed and whole.

use std::collections::BTreeMap;

use mcp_jsonrpc::RawJson;
use serde_json::value::RawValue;

use super::event::{Item, ItemPart, Response, StreamEvent};
use crate::adapter::decoder::Frames;
use crate::adapter::error_body;
use crate::adapter::reply_builder::{PartIndex, ReplyBuilder, TextKind};
use crate::adapter::text_piece::TextPiece;
use crate::conversation::media::Media;
use crate::conversation::native::Native;
use crate::json::text::{keep, parse};
use crate::model::provider_error::ErrorKind;
use crate::reply::Reply;
use crate::reply::stop::StopReason;
use crate::wire::Wire;

/// A Responses reply while it is read. Items are identified by their output index alone: they may
/// interleave, and names and ids come only with the first event of an item.
#[derive(Debug, Default)]
pub(crate) struct ResponsesFrames {
    open: BTreeMap<u64, OpenItem>,
    /// Items that are over, as they came.
    items: BTreeMap<u64, RawJson>,
    done: bool,
}

#[derive(Debug, Default)]
struct OpenItem {
    call: Option<PartIndex>,
    /// Parts of a message, by content index.
    parts: BTreeMap<u64, PartIndex>,
    reasoning: Option<PartIndex>,
    /// Which piece of the reasoning came last: pieces stand apart.
    piece: Option<(&'static str, u64)>,
}

impl ResponsesFrames {
    fn stream_event(&mut self, event: StreamEvent<'_>, data: &[u8], turn: &mut ReplyBuilder) {
        let (at, part) = (event.output_index, event.content_index);
        let delta = event.delta.unwrap_or_default();
        match event.kind.as_str() {
            "response.output_text.delta" => self.part(at, part, TextKind::Text, &delta, turn),
            "response.refusal.delta" => self.part(at, part, TextKind::Refusal, &delta, turn),
            "response.reasoning_summary_text.delta" => {
                self.reason(at, ("summary", event.summary_index), &delta, turn);
            }
            "response.reasoning_text.delta" => {
                self.reason(at, ("content", part), &delta, turn);
            }
            "response.function_call_arguments.delta" => {
                if let Some(slot) = self.item(at).call {
                    turn.argue(slot, &delta);
                }
            }
            "response.function_call_arguments.done" => {
                self.whole_arguments(at, &text(event.arguments), turn);
            }
            "response.output_item.added" => {
                if let Some(item) = event.item.and_then(read_item) {
                    self.begin(at, &item, turn);
                }
            }
            "response.output_item.done" => {
                if let Some(raw) = event.item {
                    self.item_done(at, raw, turn);
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                self.done = true;
                self.response(event.response.map_or("{}", RawValue::get).as_bytes(), turn);
            }
            "error" => turn.fail_with(error_body::read(None, data)),
            _ => {}
        }
    }

    fn item(&mut self, at: u64) -> &mut OpenItem {
        self.open.entry(at).or_default()
    }

    fn begin(&mut self, at: u64, item: &Item<'_>, turn: &mut ReplyBuilder) {
        if item.kind.as_str() == "function_call" && self.item(at).call.is_none() {
            let id = item
                .call_id
                .as_ref()
                .map(TextPiece::as_str)
                .filter(|id| !id.is_empty());
            let name = item.name.as_ref().map_or("", TextPiece::as_str);
            self.item(at).call = turn.start_call(id, name);
        }
    }

    fn part(
        &mut self,
        at: u64,
        part: u64,
        voice: TextKind,
        delta: &TextPiece<'_>,
        turn: &mut ReplyBuilder,
    ) {
        let slot = *self
            .item(at)
            .parts
            .entry(part)
            .or_insert_with(|| turn.open_text(voice));
        turn.say_at(slot, delta);
    }

    fn reason(
        &mut self,
        at: u64,
        piece: (&'static str, u64),
        text: &TextPiece<'_>,
        turn: &mut ReplyBuilder,
    ) {
        let item = self.item(at);
        let slot = *item
            .reasoning
            .get_or_insert_with(|| turn.open_text(TextKind::Reasoning));
        if item.piece.replace(piece).is_some_and(|last| last != piece) {
            turn.say_at(slot, &"\n\n".into());
        }
        turn.say_at(slot, text);
    }

    /// Arguments that come whole count only if they did not come in pieces.
    fn whole_arguments(&mut self, at: u64, text: &TextPiece<'_>, turn: &mut ReplyBuilder) {
        if let Some(slot) = self.item(at).call
            && turn
                .call(slot)
                .is_some_and(|call| call.text().is_empty() && !call.is_over())
        {
            turn.argue(slot, text);
        }
    }

    /// An item is complete: emits what has not been emitted yet, and keeps it.
    fn item_done(&mut self, at: u64, raw: &RawValue, turn: &mut ReplyBuilder) {
        let Some(item) = read_item(raw) else { return };
        match item.kind.as_str() {
            "function_call" => {
                self.begin(at, &item, turn);
                if let Some(arguments) = &item.arguments {
                    self.whole_arguments(at, arguments, turn);
                }
                let cut = item
                    .status
                    .is_some_and(|status| status.as_str() == "incomplete");
                if let Some(slot) = self.item(at).call {
                    turn.end_call(slot, cut);
                }
            }
            "message" if self.item(at).parts.is_empty() => {
                for part in item.content.iter().flatten() {
                    say_part(part, turn);
                }
            }
            "reasoning" if self.item(at).reasoning.is_none() => {
                for (list, parts) in [("summary", &item.summary), ("content", &item.content)] {
                    for (number, part) in parts.iter().flatten().enumerate() {
                        if let Some(text) = &part.text {
                            self.reason(at, (list, number as u64), text, turn);
                        }
                    }
                }
            }
            "image_generation_call" => {
                if let Some(image) = item.result.filter(|image| !image.is_empty()) {
                    turn.push_media(Media::data("image/png", image.as_str()));
                }
            }
            _ => {}
        }
        self.items.insert(at, keep(raw));
    }

    fn response(&mut self, json: &[u8], turn: &mut ReplyBuilder) {
        let response: Response<'_> = match parse(json) {
            Ok(response) => response,
            Err(error) => {
                return turn.fail(ErrorKind::Malformed, format!("not a response: {error}"));
            }
        };
        for (at, raw) in response.output.into_iter().flatten().enumerate() {
            if !self.items.contains_key(&(at as u64)) {
                self.item_done(at as u64, raw, turn);
            }
        }
        if let Some(usage) = response.usage {
            turn.set_usage(usage.into());
        }
        let reason = response
            .incomplete_details
            .and_then(|details| details.reason);
        let status = response.status.unwrap_or_default();
        match (status.as_str(), reason.as_ref().map(TextPiece::as_str)) {
            ("incomplete", Some(reason)) => turn.stop(incomplete(reason), reason),
            ("completed", _) => turn.stop(StopReason::End, "completed"),
            ("incomplete", None) => turn.stop(StopReason::Other, "incomplete"),
            ("cancelled", _) => turn.stop(StopReason::Cancelled, "cancelled"),
            ("failed", _) => turn.stop(StopReason::Error, "failed"),
            _ => {}
        }
        if let Some(error) = response.error {
            let value = serde_json::from_str(error.get()).unwrap_or_default();
            turn.fail_with(error_body::from_event(&value));
        }
    }
}

impl Frames for ResponsesFrames {
    fn event(&mut self, _name: &[u8], data: &[u8], turn: &mut ReplyBuilder) {
        if data.trim_ascii() == b"[DONE]" {
            return;
        }
        match StreamEvent::read(data) {
            Ok(event) => self.stream_event(event, data, turn),
            Err(error) => {
                turn.fail(
                    ErrorKind::Malformed,
                    format!("an event is not a response event: {error}"),
                );
            }
        }
    }

    fn body(&mut self, json: &[u8], turn: &mut ReplyBuilder) {
        self.response(json, turn);
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn native(&mut self, _reply: &Reply) -> Option<Native> {
        let items = std::mem::take(&mut self.items).into_values().collect();
        Some(Native {
            wire: Wire::OpenAiResponses,
            dialect: String::new(),
            items,
        })
    }
}

fn incomplete(reason: &str) -> StopReason {
    match reason {
        "max_output_tokens" => StopReason::MaxTokens,
        "content_filter" => StopReason::Filtered,
        "steered" | "max_messages" => StopReason::Pause,
        _ => StopReason::Other,
    }
}

fn say_part(part: &ItemPart<'_>, turn: &mut ReplyBuilder) {
    for (voice, text) in [
        (TextKind::Text, &part.text),
        (TextKind::Refusal, &part.refusal),
    ] {
        if let Some(text) = text {
            let slot = turn.open_text(voice);
            turn.say_at(slot, text);
        }
    }
}

fn read_item(raw: &RawValue) -> Option<Item<'_>> {
    serde_json::from_str(raw.get()).ok()
}

/// The text of a raw string; nothing if it is none.
fn text(raw: Option<&RawValue>) -> TextPiece<'_> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}
