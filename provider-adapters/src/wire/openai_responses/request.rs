//! Encodes Responses requests.

use mcp_jsonrpc::{RawJson, RawMap};

use crate::adapter::content::{
    Kind, MediaRef, Piece, SourceRef, is_document, is_web_image, result_pieces, user_piece,
};
use crate::adapter::replay;
use crate::adapter::wire_call::{CallWriter, WireCall};
use crate::adapter::wire_id::IdRule;
use crate::conversation::part::AssistantPart;
use crate::conversation::turn::{AssistantTurn, Turn};
use crate::json::writer::{Json, Object, typed};
use crate::output::compiled::CompiledOutput;
use crate::request::options::Options;
use crate::request::tool::ToolChoice;
use crate::request::tool_set::{CompiledTool, ToolSet};
use crate::request::{EncodeError, Omitted, Request};
use crate::wire::Wire;

/// Writes one request's input items.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    calls: CallWriter<'a>,
    media_bytes: usize,
    pub(crate) items: Vec<Json<'a>>,
    omitted: Vec<Omitted>,
}

/// The body of a request. What grows comes last, so that a request starts like the one before.
pub(crate) fn body<'a>(
    request: &'a Request,
    output: Option<&'a CompiledOutput>,
) -> Result<(Object<'a>, Vec<Omitted>), EncodeError> {
    let mut writer = Writer::new(&request.tools, request.limits.media_bytes);
    writer.turns(request.conversation.turns());
    let Writer {
        items, mut omitted, ..
    } = writer;
    if items.is_empty() {
        return Err(EncodeError::Empty);
    }
    let body = Object::default().set("model", request.model.as_str());
    let body = options(body, &request.options, &mut omitted);
    let format = output.map(|output| Object::default().set("format", format(output)));
    // Nothing is kept at the provider, so the reasoning has to travel.
    let body = body
        .set("store", false)
        .set("include", vec!["reasoning.encrypted_content"])
        .maybe("stream", request.stream.then_some(true))
        .maybe("text", format);
    let body = tools(body, request)?
        .maybe("instructions", request.conversation.system())
        .set("input", items)
        // After the input it is derived from: a difference between two requests shows there first.
        .maybe("prompt_cache_key", request.cache_key());
    Ok((body, omitted))
}

/// The format of a reply in a JSON schema.
fn format(output: &CompiledOutput) -> Object<'_> {
    typed("json_schema")
        .set("name", output.name())
        .set("schema", output.schema())
        .set("strict", output.is_strict())
}

/// Whether a model can search for tools: from GPT-5.4 on.
pub(crate) fn defers_tools(model: &str) -> bool {
    let Some(version) = model.strip_prefix("gpt-") else {
        return false;
    };
    let version = version.split(['-', ':']).next().unwrap_or_default();
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    let number = |text: &str| text.parse::<u32>().unwrap_or_default();
    (number(major), number(minor)) >= (5, 4)
}

/// A tool's definition. Without `strict` the server would change the schema on its own.
pub(crate) fn definition(tool: &CompiledTool) -> Object<'_> {
    let parameters = tool.schema.as_ref().map_or(Json::Null, Json::from);
    typed("function")
        .set("name", tool.wire_name.as_str())
        .maybe("description", tool.description.as_deref())
        .set("parameters", parameters)
        .set("strict", tool.strict)
}

fn tools<'a>(body: Object<'a>, request: &'a Request) -> Result<Object<'a>, EncodeError> {
    let Some(choice) = request.checked_choice()? else {
        return Ok(body);
    };
    let named = |name: &str| typed("function").set("name", request.tools.wire_name(name));
    let choice: Option<Json<'_>> = match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Tool(name) => Some(named(name).into()),
        ToolChoice::Among(names) => {
            let tools: Vec<Object<'_>> = names.iter().map(|name| named(name)).collect();
            Some(
                typed("allowed_tools")
                    .set("mode", "auto")
                    .set("tools", tools)
                    .into(),
            )
        }
    };
    let tools = request.tools.compiled();
    let defers = defers_tools(&request.model);
    let is_deferred = |tool: &CompiledTool| defers && tool.deferred;
    let define = |tool| definition(tool).maybe("defer_loading", is_deferred(tool).then_some(true));
    let mut definitions: Vec<Object<'_>> = tools.iter().map(define).collect();
    if tools.iter().any(is_deferred) {
        definitions.push(typed("tool_search"));
    }
    Ok(body
        .set("tools", definitions)
        .maybe("tool_choice", choice)
        .maybe("parallel_tool_calls", request.options.parallel_tool_calls))
}

fn options<'a>(body: Object<'a>, options: &Options, omitted: &mut Vec<Omitted>) -> Object<'a> {
    let unknown = [
        ("top_k", options.top_k.is_some()),
        ("seed", options.seed.is_some()),
        ("stop", !options.stop.is_empty()),
        ("thinking_tokens", options.thinking_tokens.is_some()),
    ];
    omitted.extend(Omitted::options(&unknown));
    let reasoning = Object::default()
        .maybe("effort", options.effort.map(|effort| effort.as_str()))
        .maybe(
            "summary",
            options.show_thoughts.filter(|shown| *shown).map(|_| "auto"),
        );
    body.maybe("max_output_tokens", options.max_output_tokens)
        .maybe("temperature", options.temperature)
        .maybe("top_p", options.top_p)
        .filled("reasoning", reasoning)
}

impl<'a> Writer<'a> {
    pub(crate) fn new(tools: &'a ToolSet, media_bytes: usize) -> Self {
        Self {
            calls: CallWriter::new(IdRule::upto(64), tools),
            media_bytes,
            items: Vec::new(),
            omitted: Vec::new(),
        }
    }

    /// The items of these turns.
    pub(crate) fn turns(&mut self, turns: &'a [Turn]) {
        for turn in turns {
            match turn {
                Turn::System(turn) => self.message("developer", turn.text.as_str().into()),
                Turn::User(turn) => {
                    let pieces = turn.parts.iter().map(user_piece).collect();
                    let content = self.content(pieces);
                    self.message("user", content);
                }
                Turn::Assistant(turn) => self.assistant(turn),
            }
        }
    }

    fn message(&mut self, role: &'static str, content: Json<'a>) {
        self.items.push(
            Object::default()
                .set("role", role)
                .set("content", content)
                .into(),
        );
    }

    /// A string where it is text only, else a list of parts.
    fn content(&mut self, pieces: Vec<Piece<'a>>) -> Json<'a> {
        let mut parts: Vec<Json<'a>> = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        let mut text_only = true;
        for piece in pieces {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::Media(media) => match media_part(&media, self.media_bytes) {
                    Some(part) => {
                        text_only = false;
                        parts.push(part.into());
                        continue;
                    }
                    None => {
                        let placeholder = media.placeholder();
                        self.omitted.push(Omitted::Media(placeholder.clone()));
                        placeholder.into()
                    }
                },
            };
            texts.push(text.clone().into_owned());
            parts.push(typed("input_text").set("text", text).into());
        }
        if text_only {
            texts.join("\n").into()
        } else {
            parts.into()
        }
    }

    fn assistant(&mut self, turn: &'a AssistantTurn) {
        let calls: Vec<WireCall<'a>> = turn.calls().map(|call| self.calls.write(call)).collect();
        match replay::items(turn, Wire::OpenAiResponses) {
            Some(items) => self.replay(turn, items, &calls),
            None => self.neutral(turn, &calls),
        }
        self.results(turn, &calls);
    }

    fn neutral(&mut self, turn: &'a AssistantTurn, calls: &[WireCall<'a>]) {
        let mut calls = calls.iter();
        for part in turn.parts() {
            match part {
                AssistantPart::Text { text } | AssistantPart::Refusal { text } => {
                    self.message("assistant", text.as_str().into());
                }
                AssistantPart::ToolCall(_) => {
                    if let Some(call) = calls.next() {
                        let item = typed("function_call")
                            .set("call_id", call.id.clone())
                            .set("name", call.name.clone())
                            .set("arguments", call.arguments.clone());
                        self.items.push(item.into());
                    }
                }
                AssistantPart::Image(media) => self.made(Kind::Image, media),
                AssistantPart::Audio(media) => self.made(Kind::Audio, media),
                AssistantPart::File(media) => self.made(Kind::File, media),
                // Another provider's thoughts are not for this one.
                AssistantPart::Reasoning { .. } => {}
            }
        }
    }

    fn made(&mut self, kind: Kind, media: &crate::conversation::media::Media) {
        let placeholder = MediaRef::new(kind, media).placeholder();
        self.omitted.push(Omitted::Media(placeholder.clone()));
        self.message("assistant", placeholder.into());
    }

    /// The provider's own items. Reasoning that cannot travel, or whose item is gone, stays out.
    fn replay(&mut self, turn: &'a AssistantTurn, items: &'a [RawJson], calls: &[WireCall<'a>]) {
        let mut waiting: Vec<&'a RawJson> = Vec::new();
        for item in items {
            let Ok(mut members) = item.parse::<RawMap>() else {
                continue;
            };
            let kind = replay::member(&members, "type").unwrap_or_default();
            if kind == "reasoning" {
                if replay::member(&members, "encrypted_content").is_some() {
                    waiting.push(item);
                }
                continue;
            }
            self.items.extend(waiting.drain(..).map(Json::from));
            let place = replay::member(&members, "call_id")
                .and_then(|id| turn.calls().position(|call| call.id == id.as_str()));
            let Some(call) = place
                .and_then(|at| calls.get(at))
                .filter(|_| kind == "function_call")
            else {
                self.items.push(item.into());
                continue;
            };
            let broken = turn
                .calls()
                .nth(place.unwrap_or_default())
                .is_some_and(|call| call.arguments.object().is_none());
            let mut changed = replay::correct(&mut members, "call_id", &call.id);
            changed |= replay::correct(&mut members, "name", &call.name);
            changed |= broken && replay::correct(&mut members, "arguments", &call.arguments);
            self.items.push(match changed {
                false => item.into(),
                true => RawJson::from_serialize(&members)
                    .unwrap_or_else(|_| item.clone())
                    .into(),
            });
        }
    }

    fn results(&mut self, turn: &'a AssistantTurn, calls: &[WireCall<'a>]) {
        for (result, call) in turn.results().iter().zip(calls) {
            let mut pieces = result_pieces(result);
            if result.is_error {
                pieces = marked(pieces);
            }
            let output = self.content(pieces);
            let item = typed("function_call_output")
                .set("call_id", call.id.clone())
                .set("output", output);
            self.items.push(item.into());
        }
    }
}

/// The parts of a failure, with a prefix that marks it.
fn marked(mut pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    match pieces.first_mut() {
        Some(Piece::Text(text)) => *text = format!("Error: {text}").into(),
        _ => pieces.insert(0, Piece::Text("Error:".into())),
    }
    pieces
}

fn media_part<'a>(media: &MediaRef<'a>, limit: usize) -> Option<Object<'a>> {
    let known = match media.kind {
        Kind::Image => media.is_known(is_web_image),
        Kind::File => media.is_known(is_document),
        Kind::Audio => false,
    };
    if !known {
        return None;
    }
    match (media.kind, media.source) {
        (Kind::Image, SourceRef::FileId(id)) => Some(
            typed("input_image")
                .set("file_id", id)
                .set("detail", "auto"),
        ),
        (Kind::Image, _) => {
            let url = media.url(limit)?;
            Some(
                typed("input_image")
                    .set("image_url", url)
                    .set("detail", "auto"),
            )
        }
        (Kind::File, SourceRef::FileId(id)) => Some(typed("input_file").set("file_id", id)),
        (Kind::File, SourceRef::Url(url)) => Some(typed("input_file").set("file_url", url)),
        (Kind::File, SourceRef::Data(_)) => {
            let name = media.name.unwrap_or("file");
            Some(
                typed("input_file")
                    .set("filename", name)
                    .set("file_data", media.url(limit)?),
            )
        }
        (Kind::Audio, _) | (_, SourceRef::Absent) => None,
    }
}
