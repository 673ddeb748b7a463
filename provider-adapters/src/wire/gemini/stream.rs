//! Decodes Gemini replies, streamed and whole, from the Developer API and from Vertex.

use mcp_jsonrpc::RawJson;
use serde_json::value::RawValue;

use super::chunk::{Call, Chunk, Part};
use super::items::Items;
use super::partial_args::PartialArgs;
use crate::adapter::decoder::Frames;
use crate::adapter::error_body;
use crate::adapter::reply_builder::{PartIndex, ReplyBuilder, TextKind};
use crate::adapter::text_piece::TextPiece;
use crate::conversation::media::{Media, MediaSource};
use crate::conversation::native::Native;
use crate::json::text::{minify, parse};
use crate::model::provider_error::ErrorKind;
use crate::reply::Reply;
use crate::reply::stop::StopReason;
use crate::wire::Wire;

/// A Gemini reply while it is read.
#[derive(Debug)]
pub(crate) struct GeminiFrames {
    wire: Wire,
    items: Items,
    /// A call whose arguments are being streamed.
    open: Option<(PartIndex, PartialArgs)>,
    /// Whole calls: the provider's id, and the arguments.
    calls: Vec<(PartIndex, String)>,
}

impl GeminiFrames {
    pub(crate) fn new(wire: Wire) -> Self {
        Self {
            wire,
            items: Items::default(),
            open: None,
            calls: Vec::new(),
        }
    }

    fn chunk(&mut self, data: &[u8], turn: &mut ReplyBuilder) {
        let chunk: Chunk<'_> = match parse(data) {
            Ok(chunk) => chunk,
            Err(error) => {
                let error = format!("an event is not a generateContent reply: {error}");
                return turn.fail(ErrorKind::Malformed, error);
            }
        };
        if chunk.error.is_some() {
            return turn.fail_with(error_body::read(None, data));
        }
        if let Some(usage) = chunk.usage_metadata {
            turn.set_usage(usage.into());
        }
        if let Some(reason) = chunk
            .prompt_feedback
            .and_then(|feedback| feedback.block_reason)
        {
            turn.stop(StopReason::Filtered, &format!("prompt:{}", reason.as_str()));
        }
        let Some(candidate) = chunk.candidates.into_iter().flatten().next() else {
            return;
        };
        let parts = candidate
            .content
            .and_then(|content| content.parts)
            .unwrap_or_default();
        for raw in parts {
            match serde_json::from_str(raw.get()) {
                Ok(part) => self.part(raw, part, turn),
                Err(error) => {
                    return turn.fail(
                        ErrorKind::Malformed,
                        format!("a part is malformed: {error}"),
                    );
                }
            }
        }
        if let Some(reason) = candidate.finish_reason.filter(|reason| !reason.is_empty()) {
            turn.stop(neutral(reason.as_str()), reason.as_str());
        }
    }

    /// Looks at every field of a part: text and a call may be in the same one.
    fn part(&mut self, raw: &RawValue, part: Part<'_>, turn: &mut ReplyBuilder) {
        if let Some(text) = &part.text {
            let voice = if part.thought == Some(true) {
                TextKind::Reasoning
            } else {
                TextKind::Text
            };
            turn.say(voice, text);
        }
        if let Some(blob) = &part.inline_data {
            turn.push_media(Media::data(blob.mime_type.as_str(), blob.data.as_str()));
        }
        if let Some(file) = &part.file_data {
            let source = MediaSource::Url(file.file_uri.as_str().to_owned());
            let mime_type = Some(file.mime_type.as_str().to_owned());
            turn.push_media(Media {
                mime_type,
                name: None,
                source,
            });
        }
        let Some(call) = &part.function_call else {
            return self.items.push(raw, &part);
        };
        let streamed = call.partial_args.is_some() || call.will_continue.is_some();
        if streamed || self.open.is_some() && given(call.name.as_ref()).is_none() {
            self.streamed_call(raw, call, turn);
        } else if self.whole_call(call, turn) {
            self.items.push(raw, &part);
        }
    }

    /// A call that arrived whole; `false` if it repeats an earlier one.
    fn whole_call(&mut self, call: &Call<'_>, turn: &mut ReplyBuilder) -> bool {
        let arguments = call
            .args
            .map_or_else(|| "{}".to_owned(), |args| minify(args.get()));
        let id = given(call.id.as_ref());
        let name = call.name.as_ref().map_or("", TextPiece::as_str);
        let said = |(slot, text): &(PartIndex, String)| {
            let same = turn.call(*slot).is_some_and(|known| Some(known.id()) == id);
            same && *text == arguments
        };
        if self.calls.iter().any(said) {
            return false;
        }
        if let Some(slot) = turn.start_call(id, name) {
            turn.argue(slot, &arguments.as_str().into());
            self.calls.push((slot, arguments));
        }
        true
    }

    /// Vertex: first the name, then values with paths, then an empty call.
    fn streamed_call(&mut self, raw: &RawValue, call: &Call<'_>, turn: &mut ReplyBuilder) {
        if let Some(name) = given(call.name.as_ref()) {
            self.close(turn);
            let Some(slot) = turn.start_call(given(call.id.as_ref()), name) else {
                return;
            };
            self.open = Some((slot, PartialArgs::new()));
            self.items.open_call(raw);
        }
        let Some((_, built)) = &mut self.open else {
            return turn.fail(
                ErrorKind::Malformed,
                "arguments that belong to no tool call",
            );
        };
        for arg in call.partial_args.iter().flatten() {
            if built.apply(arg).is_err() {
                let path = arg.json_path.as_str();
                return turn.fail(
                    ErrorKind::Malformed,
                    format!("an argument has the path {path:?}"),
                );
            }
        }
        if call.will_continue != Some(true) {
            self.close(turn);
        }
    }

    /// The streamed arguments are whole.
    fn close(&mut self, turn: &mut ReplyBuilder) {
        if let Some((slot, built)) = self.open.take() {
            let arguments = built.to_json();
            self.items.close_call(&arguments);
            turn.argue(slot, &arguments.into());
        }
    }
}

impl Frames for GeminiFrames {
    fn event(&mut self, _name: &[u8], data: &[u8], turn: &mut ReplyBuilder) {
        if data.trim_ascii() != b"[DONE]" {
            self.chunk(data, turn);
        }
    }

    /// One reply, or a list of them: what a stream is without server-sent events.
    fn body(&mut self, json: &[u8], turn: &mut ReplyBuilder) {
        match parse::<Vec<&RawValue>>(json) {
            Ok(chunks) => {
                for chunk in chunks {
                    self.chunk(chunk.get().as_bytes(), turn);
                }
            }
            Err(_) => self.chunk(json, turn),
        }
    }

    /// There is no end mark.
    fn is_done(&self) -> bool {
        false
    }

    /// The mark that ends streamed arguments may be missing, but not if the reply was cut.
    fn end(&mut self, turn: &mut ReplyBuilder) {
        if turn.stop_reason() == Some(StopReason::End) {
            self.close(turn);
        }
    }

    fn native(&mut self, _reply: &Reply) -> Option<Native> {
        let items: Vec<RawJson> = self.items.take();
        Some(Native {
            wire: self.wire,
            dialect: String::new(),
            items,
        })
    }
}

fn neutral(reason: &str) -> StopReason {
    match reason {
        "STOP" => StopReason::End,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => {
            StopReason::Filtered
        }
        image if image.starts_with("IMAGE_") => StopReason::Filtered,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MALFORMED_RESPONSE" => StopReason::MalformedToolCall,
        "CONTINUATION" => StopReason::Pause,
        _ => StopReason::Other,
    }
}

fn given<'a>(piece: Option<&'a TextPiece<'_>>) -> Option<&'a str> {
    piece.map(TextPiece::as_str).filter(|text| !text.is_empty())
}
