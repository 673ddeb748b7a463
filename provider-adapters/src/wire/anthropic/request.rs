//! Encodes Anthropic requests.

use mcp_jsonrpc::{RawJson, RawMap};

use super::block::media_block;
use super::generation::{self, takes_system};
use super::output::{is_old, output_tool};
use super::{Anthropic, AnthropicVersion, cache};
use crate::adapter::content::{Kind, MediaRef, Piece, result_pieces, user_piece};
use crate::adapter::replay;
use crate::adapter::wire_call::{CallWriter, WireCall};
use crate::adapter::wire_id::IdRule;
use crate::conversation::media::Media;
use crate::conversation::part::AssistantPart;
use crate::conversation::tool_result::ToolResult;
use crate::conversation::turn::{AssistantTurn, Turn};
use crate::json::writer::{Json, Object, typed};
use crate::output::compiled::CompiledOutput;
use crate::request::options::{Effort, Options};
use crate::request::tool::ToolChoice;
use crate::request::tool_set::{CompiledTool, ToolSet};
use crate::request::{EncodeError, Omitted, Request};
use crate::wire::Wire;

/// The server insists on a limit.
const DEFAULT_MAX_TOKENS: u64 = 8192;
const VERTEX_VERSION: &str = "vertex-2023-10-16";

/// Writes one request's messages. Neighbours of the same role become one message, so that results
/// stand first in the message after their calls.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    /// Whether the model takes instructions between the turns.
    takes_system: bool,
    calls: CallWriter<'a>,
    media_bytes: usize,
    messages: Vec<(&'static str, Vec<Json<'a>>)>,
    /// The number of messages, and of blocks in the last one, after each turn.
    ends: Vec<(usize, usize)>,
    omitted: Vec<Omitted>,
}

/// The body of a request. What grows comes last, so that a request starts like the one before.
pub(crate) fn body<'a>(
    request: &'a Request,
    output: Option<&'a CompiledOutput>,
    adapter: &Anthropic,
) -> Result<(Object<'a>, Vec<Omitted>), EncodeError> {
    let version = adapter.version;
    let media_bytes = request.limits.media_bytes;
    let mut writer = Writer::new(version, &request.model, &request.tools, media_bytes);
    writer.turns(request.conversation.turns());
    let mut omitted = std::mem::take(&mut writer.omitted);
    let cache = cache::place(
        &request.cache,
        &mut writer.messages,
        &writer.ends,
        &mut omitted,
    );
    let messages = writer.into_messages();
    if messages.is_empty() {
        return Err(EncodeError::Empty);
    }
    let options = &request.options;
    let max_tokens = options
        .max_output_tokens
        .unwrap_or_else(|| DEFAULT_MAX_TOKENS + options.thinking_tokens.unwrap_or_default());
    // Vertex has the model in the path, and the version here.
    let body = match &adapter.vertex {
        Some(_) => Object::default().set("anthropic_version", VERTEX_VERSION),
        None => Object::default().set("model", request.model.as_str()),
    };
    let body = body.set("max_tokens", max_tokens);
    let body = sampling(body, options, version, &mut omitted);
    let format = output.filter(|output| output.tool().is_none());
    let body = thinking(body, request, format, &mut omitted);
    let body = body.maybe("stream", request.stream.then_some(true));
    let body = tools(body, request, output, cache.tools, &mut omitted)?;
    let system = request.conversation.system().map(|text| -> Json<'_> {
        match cache.system {
            true => vec![cache::cached(typed("text").set("text", text))].into(),
            false => text.into(),
        }
    });
    let body = body.maybe("system", system).set("messages", messages);
    Ok((body, omitted))
}

/// A tool's definition.
pub(crate) fn definition(tool: &CompiledTool) -> Object<'_> {
    let empty = || typed("object").set("properties", Object::default()).into();
    let schema: Json<'_> = tool.schema.as_ref().map_or_else(empty, Json::from);
    Object::default()
        .set("name", tool.wire_name.as_str())
        .maybe("description", tool.description.as_deref())
        .set("input_schema", schema)
        .maybe("strict", tool.strict.then_some(true))
}

fn tools<'a>(
    body: Object<'a>,
    request: &'a Request,
    output: Option<&'a CompiledOutput>,
    cached: bool,
    omitted: &mut Vec<Omitted>,
) -> Result<Object<'a>, EncodeError> {
    let choice = request.checked_choice()?;
    let answer = output.and_then(|output| Some((output, output.tool()?)));
    let choice = match (choice, answer) {
        (Some(choice), None) => choice,
        (None, None) => return Ok(body),
        // The answer is a call, so the model has to make one.
        (None | Some(ToolChoice::None), Some((output, name))) => {
            let free = request.options.thinking_tokens.is_some();
            let choice = match free {
                true => None,
                false => Some(typed("tool").set("name", name)),
            };
            let tool = output_tool(output, name);
            let tool = if cached { cache::cached(tool) } else { tool };
            return Ok(body.set("tools", vec![tool]).maybe("tool_choice", choice));
        }
        (Some(ToolChoice::Auto), Some(_)) => &ToolChoice::Required,
        (Some(choice), Some(_)) => choice,
    };
    let mut sent: Vec<&CompiledTool> = request.tools.compiled().iter().collect();
    // A model that thinks by a budget cannot be forced to call.
    let free = request.options.thinking_tokens.is_some();
    let kind = match choice {
        ToolChoice::None => "none",
        ToolChoice::Required | ToolChoice::Tool(_) if free => {
            if request.choice != ToolChoice::Auto {
                omitted.push(Omitted::Option("choice"));
            }
            "auto"
        }
        ToolChoice::Required => "any",
        ToolChoice::Tool(_) => "tool",
        ToolChoice::Among(names) => {
            sent.retain(|tool| names.contains(&tool.name));
            "auto"
        }
        ToolChoice::Auto => "auto",
    };
    let name = match choice {
        ToolChoice::Tool(name) if kind == "tool" => Some(request.tools.wire_name(name)),
        _ => None,
    };
    let single = request.options.parallel_tool_calls == Some(false) && kind != "none";
    let said = kind != "auto" || single;
    let choice = said.then(|| {
        typed(kind)
            .maybe("name", name)
            .maybe("disable_parallel_tool_use", single.then_some(true))
    });
    let mut definitions: Vec<Object<'_>> = Vec::with_capacity(sent.len());
    let deferred: Vec<&CompiledTool> = match is_old(&request.model) {
        true => Vec::new(),
        false => sent.extract_if(.., |tool| tool.deferred).collect(),
    };
    if !deferred.is_empty() {
        let search = typed("tool_search_tool_bm25_20251119");
        definitions.push(search.set("name", "tool_search_tool_bm25"));
    }
    definitions.extend(sent.into_iter().map(definition));
    definitions.extend(answer.map(|(output, name)| output_tool(output, name)));
    if cached && let Some(last) = definitions.pop() {
        definitions.push(cache::cached(last));
    }
    // These are not part of the prompt, so nothing is cached up to them.
    let defer = |tool| definition(tool).set("defer_loading", true);
    definitions.extend(deferred.into_iter().map(defer));
    if definitions.is_empty() {
        return Ok(body);
    }
    Ok(body.set("tools", definitions).maybe("tool_choice", choice))
}

/// The version of 2026 has no sampling options any more, not even at their default.
fn sampling<'a>(
    body: Object<'a>,
    options: &'a Options,
    version: AnthropicVersion,
    omitted: &mut Vec<Omitted>,
) -> Object<'a> {
    let old = version == AnthropicVersion::V2023_06_01;
    let unknown = [
        ("seed", options.seed.is_some()),
        ("temperature", options.temperature.is_some() && !old),
        ("top_p", options.top_p.is_some() && !old),
        ("top_k", options.top_k.is_some() && !old),
    ];
    omitted.extend(Omitted::options(&unknown));
    body.maybe("temperature", options.temperature.filter(|_| old))
        .maybe("top_p", options.top_p.filter(|_| old))
        .maybe("top_k", options.top_k.filter(|_| old))
        .filled("stop_sequences", options.stop.as_slice())
}

fn thinking<'a>(
    body: Object<'a>,
    request: &Request,
    output: Option<&'a CompiledOutput>,
    omitted: &mut Vec<Omitted>,
) -> Object<'a> {
    let options = &request.options;
    let display = options
        .show_thoughts
        .map(|shown| if shown { "summarized" } else { "omitted" });
    let (thinking, effort) = generation::thinking(&request.model, options, omitted);
    let off = options.effort == Some(Effort::None);
    // Thoughts can only be shown where there are any.
    let thinks =
        display.is_some() && options.effort.is_none() && generation::adapts(&request.model);
    let thinking = thinking.or_else(|| thinks.then(|| typed("adaptive")));
    let thinking = thinking.map(|it| it.maybe("display", display.filter(|_| !off)));
    let format = output.map(|output| typed("json_schema").set("schema", output.schema()));
    let config = Object::default()
        .maybe("effort", effort)
        .maybe("format", format);
    body.maybe("thinking", thinking)
        .filled("output_config", config)
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        version: AnthropicVersion,
        model: &str,
        tools: &'a ToolSet,
        media_bytes: usize,
    ) -> Self {
        Self {
            takes_system: version == AnthropicVersion::V2026_10_21 && takes_system(model),
            calls: CallWriter::new(IdRule::upto(64), tools),
            media_bytes,
            messages: Vec::new(),
            ends: Vec::new(),
            omitted: Vec::new(),
        }
    }

    /// The messages of these turns.
    pub(crate) fn turns(&mut self, turns: &'a [Turn]) {
        for (at, turn) in turns.iter().enumerate() {
            match turn {
                Turn::System(turn) => {
                    let after = turns.get(at + 1..).unwrap_or_default();
                    let role = match self.takes_system && self.is_place_of_system(after) {
                        true => "system",
                        false => "user",
                    };
                    self.text(role, &turn.text);
                }
                Turn::User(turn) => {
                    let blocks: Vec<Json<'a>> = turn
                        .parts
                        .iter()
                        .filter_map(|part| self.piece(user_piece(part)))
                        .collect();
                    self.push("user", blocks);
                }
                Turn::Assistant(turn) => self.assistant(turn),
            }
            let blocks = self.messages.last().map_or(0, |(_, blocks)| blocks.len());
            self.ends.push((self.messages.len(), blocks));
        }
    }

    /// Whether instructions are taken here: between a user's message and the assistant's, or at the end.
    fn is_place_of_system(&self, after: &[Turn]) -> bool {
        let before = self.messages.last().map(|(role, _)| *role);
        let next = after.iter().find(|turn| !matches!(turn, Turn::System(_)));
        matches!(before, Some("user" | "system")) && matches!(next, None | Some(Turn::Assistant(_)))
    }

    pub(crate) fn into_messages(self) -> Vec<Json<'a>> {
        let message = |(role, blocks)| Object::default().set("role", role).set("content", blocks);
        self.messages
            .into_iter()
            .map(message)
            .map(Json::from)
            .collect()
    }

    fn push(&mut self, role: &'static str, blocks: Vec<Json<'a>>) {
        if blocks.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some((last, there)) if *last == role => there.extend(blocks),
            _ => self.messages.push((role, blocks)),
        }
    }

    /// Text, unless it is blank, which the server refuses.
    fn text(&mut self, role: &'static str, text: &'a str) {
        self.push(role, text_block(text.into()).into_iter().collect());
    }

    fn piece(&mut self, piece: Piece<'a>) -> Option<Json<'a>> {
        match piece {
            Piece::Text(text) => text_block(text),
            Piece::Media(media) => match media_block(&media, self.media_bytes) {
                Some(block) => Some(block.into()),
                None => text_block(media.omit(&mut self.omitted).into()),
            },
        }
    }

    fn assistant(&mut self, turn: &'a AssistantTurn) {
        let calls: Vec<WireCall<'a>> = turn.calls().map(|call| self.calls.write(call)).collect();
        let blocks = match replay::items(turn, Wire::Anthropic) {
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
            blocks.extend(match part {
                AssistantPart::Text { text } | AssistantPart::Refusal { text } => {
                    text_block(text.as_str().into())
                }
                AssistantPart::ToolCall(_) => calls.next().map(|call| {
                    typed("tool_use")
                        .set("id", call.id.clone())
                        .set("name", call.name.clone())
                        .set("input", Json::Raw(call.arguments.clone()))
                        .into()
                }),
                AssistantPart::Image(media) => self.made(Kind::Image, media),
                AssistantPart::Audio(media) => self.made(Kind::Audio, media),
                AssistantPart::File(media) => self.made(Kind::File, media),
                // Thoughts count only with the signature this server gave them.
                AssistantPart::Reasoning { .. } => None,
            });
        }
        blocks
    }

    fn made(&mut self, kind: Kind, media: &Media) -> Option<Json<'a>> {
        text_block(MediaRef::new(kind, media).omit(&mut self.omitted).into())
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
                Piece::Media(media) if result.is_error => {
                    let line = media.placeholder();
                    blocks.extend(text_block(line.clone().into()));
                    if let Some(block) = media_block(&media, self.media_bytes) {
                        let whose = format!("{line} from {} ({}):", call.name, call.id);
                        shown.extend(text_block(whose.into()));
                        shown.push(block.into());
                    }
                }
                piece => blocks.extend(self.piece(piece)),
            }
        }
        typed("tool_result")
            .set("tool_use_id", call.id.clone())
            .filled("content", blocks)
            .maybe("is_error", result.is_error.then_some(true))
            .into()
    }
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
        let Ok(mut members) = item.parse::<RawMap>() else {
            continue;
        };
        if replay::member(&members, "type").as_deref() != Some("tool_use") {
            blocks.push(item.into());
            continue;
        }
        let Some((call, wire)) = pairs.next() else {
            continue;
        };
        let mut changed = replay::correct(&mut members, "id", &wire.id);
        changed |= replay::correct(&mut members, "name", &wire.name);
        if call.arguments.object().is_none()
            && let Ok(input) = RawJson::from_text(wire.arguments.clone().into_owned())
        {
            members.insert("input", input);
            changed = true;
        }
        blocks.push(match changed {
            false => item.into(),
            true => RawJson::from_serialize(&members)
                .unwrap_or_else(|_| item.clone())
                .into(),
        });
    }
    blocks
}

fn text_block(text: std::borrow::Cow<'_, str>) -> Option<Json<'_>> {
    (!text.trim().is_empty()).then(|| typed("text").set("text", text).into())
}
