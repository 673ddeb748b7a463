//! Encodes the messages of a Converse request.

use std::borrow::Cow;

use mcp_jsonrpc::{RawJson, RawMap};

use super::request::cache_point;
use crate::adapter::content::{ASSISTANT_FIRST, Kind, MediaRef, Piece, result_pieces, user_piece};
use crate::adapter::replay;
use crate::adapter::wire_call::{CallWriter, WireCall};
use crate::adapter::wire_id::IdRule;
use crate::conversation::part::AssistantPart;
use crate::conversation::tool_result::ToolResult;
use crate::conversation::turn::{AssistantTurn, Turn};
use crate::json::writer::{Json, Object};
use crate::request::Omitted;
use crate::request::tool_set::ToolSet;
use crate::wire::Wire;

/// Writes one request's messages. Neighbours of the same role become one message, so that results
/// stand first in the message after their calls.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    calls: CallWriter<'a>,
    media_bytes: usize,
    messages: Vec<(&'static str, Vec<Json<'a>>)>,
    /// The number of messages, and of blocks in the last one, after each turn.
    ends: Vec<(usize, usize)>,
    documents: usize,
    pub(crate) omitted: Vec<Omitted>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(tools: &'a ToolSet, media_bytes: usize) -> Self {
        Self {
            calls: CallWriter::new(IdRule::upto(64), tools),
            media_bytes,
            messages: Vec::new(),
            ends: Vec::new(),
            documents: 0,
            omitted: Vec::new(),
        }
    }

    /// The messages of these turns.
    pub(crate) fn turns(&mut self, turns: &'a [Turn]) {
        for turn in turns {
            match turn {
                // Instructions have one place only, which is not here.
                Turn::System(turn) => self.push("user", text_block(turn.text.as_str().into())),
                Turn::User(turn) => {
                    let pieces = turn.parts.iter().map(user_piece).collect();
                    let blocks = self.pieces(pieces);
                    self.push("user", blocks);
                }
                Turn::Assistant(turn) => self.assistant(turn),
            }
            let blocks = self.messages.last().map_or(0, |(_, blocks)| blocks.len());
            self.ends.push((self.messages.len(), blocks));
        }
    }

    /// A conversation that the assistant begins is refused.
    pub(crate) fn begin_with_user(&mut self) {
        if let Some(("assistant", _)) = self.messages.first() {
            let begin = text_block(ASSISTANT_FIRST.into());
            self.messages
                .insert(0, ("user", begin.into_iter().collect()));
            let counts = self.ends.iter_mut().map(|(count, _)| count);
            counts
                .filter(|count| **count > 0)
                .for_each(|count| *count += 1);
        }
    }

    pub(crate) fn into_messages(self) -> Vec<Json<'a>> {
        let message = |(role, blocks)| Object::default().set("role", role).set("content", blocks);
        let messages = self.messages.into_iter();
        messages.map(message).map(Json::from).collect()
    }

    /// Sets a breakpoint at the end of the last `count` user messages.
    pub(crate) fn mark_last_users(&mut self, count: usize) {
        let users = self.messages.iter_mut().rev();
        let users = users.filter(|(role, _)| *role == "user");
        for (_, blocks) in users.take(count) {
            blocks.push(cache_point().into());
        }
    }

    /// Sets a breakpoint after the last user block of the turns up to this one.
    pub(crate) fn mark_turn(&mut self, at: usize) {
        let Some((count, last)) = self.ends.get(at).copied() else {
            return;
        };
        for (at, (role, blocks)) in self.messages.iter_mut().take(count).enumerate().rev() {
            let end = if at + 1 == count { last } else { blocks.len() };
            if *role == "user" && end <= blocks.len() {
                blocks.insert(end, cache_point().into());
                return;
            }
        }
    }

    fn push(&mut self, role: &'static str, blocks: impl IntoIterator<Item = Json<'a>>) {
        let mut blocks = blocks.into_iter().peekable();
        if blocks.peek().is_none() {
            return;
        }
        match self.messages.last_mut() {
            Some((last, there)) if *last == role => there.extend(blocks),
            _ => self.messages.push((role, blocks.collect())),
        }
    }

    /// Content of a user message. A document is refused without text beside it.
    fn pieces(&mut self, pieces: Vec<Piece<'a>>) -> Vec<Json<'a>> {
        let mut blocks = Vec::new();
        let (mut texts, mut documents) = (0, 0);
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    let block = text_block(text);
                    texts += usize::from(block.is_some());
                    blocks.extend(block);
                }
                Piece::Media(media) => match self.media(&media) {
                    Some(block) => {
                        documents += usize::from(media.kind == Kind::File);
                        blocks.push(block);
                    }
                    None => {
                        texts += 1;
                        blocks.extend(text_block(media.omit(&mut self.omitted).into()));
                    }
                },
            }
        }
        if documents > 0 && texts == 0 {
            blocks.extend(text_block("See the document.".into()));
        }
        blocks
    }

    /// An image or a document, if its bytes are here and its kind is known.
    fn media(&mut self, media: &MediaRef<'a>) -> Option<Json<'a>> {
        let data = media.data(self.media_bytes)?;
        let mime_type = media.mime_type?;
        let (member, format) = match media.kind {
            Kind::Image => ("image", image_format(mime_type)?),
            Kind::File => ("document", document_format(mime_type)?),
            Kind::Audio => return None,
        };
        let mut block = Object::default().set("format", format);
        if media.kind == Kind::File {
            // Few characters are allowed, and no name twice.
            self.documents += 1;
            block = block.set("name", format!("Document {}", self.documents));
        }
        let block = block.set("source", Object::default().set("bytes", data));
        Some(Object::default().set(member, block).into())
    }

    fn assistant(&mut self, turn: &'a AssistantTurn) {
        let calls: Vec<WireCall<'a>> = turn.calls().map(|call| self.calls.write(call)).collect();
        let blocks = match replay::items(turn, Wire::Bedrock) {
            Some(items) => replayed(turn, items, &calls),
            None => self.neutral(turn, &calls),
        };
        self.push("assistant", blocks);
        let mut shown = Vec::new();
        let mut blocks: Vec<Json<'a>> = Vec::new();
        for (result, call) in turn.results().iter().zip(&calls) {
            blocks.push(self.result(result, call, &mut shown));
        }
        self.push("user", blocks);
        self.push("user", shown);
    }

    fn neutral(&mut self, turn: &'a AssistantTurn, calls: &[WireCall<'a>]) -> Vec<Json<'a>> {
        let mut calls = calls.iter();
        let mut blocks = Vec::new();
        for part in turn.parts() {
            let (kind, media) = match part {
                AssistantPart::Text { text } | AssistantPart::Refusal { text } => {
                    blocks.extend(text_block(text.as_str().into()));
                    continue;
                }
                AssistantPart::ToolCall(_) => {
                    blocks.extend(calls.next().map(tool_use));
                    continue;
                }
                // Thoughts count only with the signature this server gave them.
                AssistantPart::Reasoning { .. } => continue,
                AssistantPart::Image(media) => (Kind::Image, media),
                AssistantPart::Audio(media) => (Kind::Audio, media),
                AssistantPart::File(media) => (Kind::File, media),
            };
            let line = MediaRef::new(kind, media).omit(&mut self.omitted);
            blocks.extend(text_block(line.into()));
        }
        blocks
    }

    /// A failed result may hold text only: its media come after all results.
    fn result(
        &mut self,
        result: &'a ToolResult,
        call: &WireCall<'a>,
        shown: &mut Vec<Json<'a>>,
    ) -> Json<'a> {
        let mut blocks = Vec::new();
        for piece in result_pieces(result) {
            match piece {
                Piece::Text(text) => blocks.extend(text_block(text)),
                Piece::Media(media) => match self.media(&media) {
                    Some(block) if result.is_error => {
                        let line = media.placeholder();
                        let whose = format!("{line} from {} ({}):", call.name, call.id);
                        blocks.extend(text_block(line.into()));
                        shown.extend(text_block(whose.into()));
                        shown.push(block);
                    }
                    Some(block) => blocks.push(block),
                    None => blocks.extend(text_block(media.omit(&mut self.omitted).into())),
                },
            }
        }
        if blocks.is_empty() {
            blocks.extend(text_block("(no content)".into()));
        }
        let result = Object::default()
            .set("toolUseId", call.id.clone())
            .set("content", blocks)
            .maybe("status", result.is_error.then_some("error"));
        Object::default().set("toolResult", result).into()
    }
}

fn tool_use<'a>(call: &WireCall<'a>) -> Json<'a> {
    let call = Object::default()
        .set("toolUseId", call.id.clone())
        .set("name", call.name.clone())
        .set("input", Json::Raw(call.arguments.clone()));
    Object::default().set("toolUse", call).into()
}

/// The provider's own blocks. Only what would be refused is corrected.
fn replayed<'a>(
    turn: &'a AssistantTurn,
    items: &'a [RawJson],
    calls: &[WireCall<'a>],
) -> Vec<Json<'a>> {
    let mut pairs = turn.calls().zip(calls);
    let mut blocks = Vec::new();
    for item in items {
        let Ok(members) = item.parse::<RawMap>() else {
            continue;
        };
        let Some(mut call) = members.read_as::<RawMap>("toolUse") else {
            blocks.push(item.into());
            continue;
        };
        let Some((original, wire)) = pairs.next() else {
            continue;
        };
        let mut changed = replay::correct(&mut call, "toolUseId", &wire.id);
        changed |= replay::correct(&mut call, "name", &wire.name);
        changed |= original.arguments.object().is_none();
        blocks.push(match changed {
            false => item.into(),
            true => tool_use(wire),
        });
    }
    blocks
}

fn text_block(text: Cow<'_, str>) -> Option<Json<'_>> {
    (!text.trim().is_empty()).then(|| Object::default().set("text", text).into())
}

fn image_format(mime_type: &str) -> Option<&'static str> {
    Some(match mime_type {
        "image/png" => "png",
        "image/jpeg" => "jpeg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        _ => return None,
    })
}

fn document_format(mime_type: &str) -> Option<&'static str> {
    Some(match mime_type {
        "application/pdf" => "pdf",
        "text/csv" => "csv",
        "text/html" => "html",
        "text/markdown" => "md",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        kind if kind.starts_with("text/") => "txt",
        _ => return None,
    })
}
