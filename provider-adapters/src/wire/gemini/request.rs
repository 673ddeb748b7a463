//! Encodes `generateContent` requests.

use mcp_jsonrpc::{RawJson, RawMap};

use super::Gemini;
use super::part::{call_part, media_part, text_part};
use crate::adapter::Adapter as _;
use crate::adapter::content::{ASSISTANT_FIRST, Kind, MediaRef, Piece, result_pieces, user_piece};
use crate::adapter::replay;
use crate::adapter::wire_call::{CallWriter, WireCall};
use crate::adapter::wire_id::IdRule;
use crate::conversation::media::Media;
use crate::conversation::part::AssistantPart;
use crate::conversation::turn::{AssistantTurn, Turn};
use crate::json::writer::{Json, Object};
use crate::output::compiled::CompiledOutput;
use crate::request::options::{Effort, Options};
use crate::request::tool::ToolChoice;
use crate::request::tool_set::{CompiledTool, ToolSet};
use crate::request::{EncodeError, Omitted, Request};

/// Writes one request's contents.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    gemini: &'a Gemini,
    calls: CallWriter<'a>,
    media_bytes: usize,
    /// Whether results may carry images and sound.
    media_in_results: bool,
    contents: Vec<(&'static str, Vec<Json<'a>>)>,
    omitted: Vec<Omitted>,
}

/// The body of a request. What grows comes last, so that a request starts like the one before.
pub(crate) fn body<'a>(
    request: &'a Request,
    output: Option<&'a CompiledOutput>,
    gemini: &'a Gemini,
) -> Result<(Object<'a>, Vec<Omitted>), EncodeError> {
    let media_bytes = request.limits.media_bytes;
    let mut writer = Writer::new(gemini, &request.model, &request.tools, media_bytes);
    writer.turns(request.conversation.turns());
    writer.begin_with_user();
    let mut omitted = std::mem::take(&mut writer.omitted);
    let contents = writer.into_contents();
    if contents.is_empty() {
        return Err(EncodeError::Empty);
    }
    // Older models take a schema or functions, not both.
    let instructed = is_old(&request.model) && !request.tools.is_empty();
    let system = request
        .system_with(output.filter(|_| instructed))
        .map(|text| Object::default().set("parts", vec![text_part(text)]));
    let config = generation_config(&request.options);
    let config = match output.filter(|_| !instructed) {
        None => config,
        Some(output) => {
            let field = match gemini.openapi {
                true => "responseSchema",
                false => "responseJsonSchema",
            };
            config
                .set("responseMimeType", "application/json")
                .set(field, output.schema())
        }
    };
    let body = Object::default().filled("generationConfig", config);
    let body = tools(body, request, gemini, &mut omitted)?
        .maybe("systemInstruction", system)
        .set("contents", contents);
    Ok((body, omitted))
}

/// Whether a model is of the first two generations.
fn is_old(model: &str) -> bool {
    ["gemini-1", "gemini-2"]
        .iter()
        .any(|family| model.contains(family))
}

/// All definitions: one list in one tool.
pub(crate) fn definitions<'a>(
    tools: impl Iterator<Item = &'a CompiledTool>,
    gemini: &Gemini,
) -> Option<Json<'a>> {
    let field = if gemini.openapi {
        "parameters"
    } else {
        "parametersJsonSchema"
    };
    let declare = |tool: &'a CompiledTool| {
        Object::default()
            .set("name", tool.wire_name.as_str())
            .maybe("description", tool.description.as_deref())
            .maybe(field, tool.schema.as_ref())
    };
    let declarations: Vec<Object<'a>> = tools.map(declare).collect();
    if declarations.is_empty() {
        return None;
    }
    Some(vec![Object::default().set("functionDeclarations", declarations)].into())
}

fn tools<'a>(
    body: Object<'a>,
    request: &'a Request,
    gemini: &Gemini,
    omitted: &mut Vec<Omitted>,
) -> Result<Object<'a>, EncodeError> {
    let Some(choice) = request.checked_choice()? else {
        return Ok(body);
    };
    let wire = |name: &String| request.tools.wire_name(name);
    let (mode, names): (_, Vec<String>) = match choice {
        ToolChoice::Auto if gemini.validated => ("VALIDATED", Vec::new()),
        ToolChoice::Auto => ("AUTO", Vec::new()),
        ToolChoice::None => ("NONE", Vec::new()),
        ToolChoice::Required => ("ANY", Vec::new()),
        ToolChoice::Tool(name) => ("ANY", vec![wire(name)]),
        ToolChoice::Among(names) => ("VALIDATED", names.iter().map(wire).collect()),
    };
    if request.options.parallel_tool_calls == Some(false) {
        omitted.push(Omitted::Option("parallel_tool_calls"));
    }
    let config = (mode != "AUTO").then(|| {
        let config = Object::default()
            .set("mode", mode)
            .filled("allowedFunctionNames", names);
        Object::default().set("functionCallingConfig", config)
    });
    Ok(body
        .maybe(
            "tools",
            definitions(request.tools.compiled().iter(), gemini),
        )
        .maybe("toolConfig", config))
}

fn generation_config(options: &Options) -> Object<'_> {
    let level = match (options.effort, options.thinking_tokens) {
        (None | Some(Effort::None), _) | (_, Some(_)) => None,
        (Some(Effort::Minimal), _) => Some("MINIMAL"),
        (Some(Effort::Low), _) => Some("LOW"),
        (Some(Effort::Medium), _) => Some("MEDIUM"),
        (Some(_), _) => Some("HIGH"),
    };
    let off = (options.effort == Some(Effort::None)).then_some(0);
    let thinking = Object::default()
        .maybe("thinkingLevel", level)
        .maybe("thinkingBudget", options.thinking_tokens.or(off))
        .maybe("includeThoughts", options.show_thoughts);
    Object::default()
        .maybe("maxOutputTokens", options.max_output_tokens)
        .maybe("temperature", options.temperature)
        .maybe("topP", options.top_p)
        .maybe("topK", options.top_k)
        .maybe("seed", options.seed)
        .filled("stopSequences", options.stop.as_slice())
        .filled("thinkingConfig", thinking)
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        gemini: &'a Gemini,
        model: &str,
        tools: &'a ToolSet,
        media_bytes: usize,
    ) -> Self {
        Self {
            gemini,
            calls: CallWriter::new(IdRule::any(), tools),
            media_bytes,
            media_in_results: !is_old(model),
            contents: Vec::new(),
            omitted: Vec::new(),
        }
    }

    /// The contents of these turns.
    pub(crate) fn turns(&mut self, turns: &'a [Turn]) {
        for turn in turns {
            match turn {
                // There is no other place for it.
                Turn::System(turn) => self.push("user", vec![text_part(turn.text.as_str().into())]),
                Turn::User(turn) => {
                    let parts: Vec<Json<'a>> = turn
                        .parts
                        .iter()
                        .filter_map(|part| self.piece(user_piece(part)))
                        .collect();
                    self.push("user", parts);
                }
                Turn::Assistant(turn) => self.assistant(turn),
            }
        }
    }

    /// A conversation that the model begins is refused.
    fn begin_with_user(&mut self) {
        if let Some(("model", _)) = self.contents.first() {
            let begin = vec![text_part(ASSISTANT_FIRST.into())];
            self.contents.insert(0, ("user", begin));
        }
    }

    pub(crate) fn into_contents(self) -> Vec<Json<'a>> {
        let content = |(role, parts)| Object::default().set("role", role).set("parts", parts);
        let contents = self.contents.into_iter();
        contents.map(content).map(Json::from).collect()
    }

    /// A turn of no parts is refused, so it is not sent. Results stand alone. Calls are refused unless they follow a
    /// user's turn or results, so what the model says in several turns becomes one.
    fn push(&mut self, role: &'static str, parts: Vec<Json<'a>>) {
        if parts.is_empty() {
            return;
        }
        match self.contents.last_mut() {
            Some(("model", there)) if role == "model" => there.extend(parts),
            _ => self.contents.push((role, parts)),
        }
    }

    fn piece(&mut self, piece: Piece<'a>) -> Option<Json<'a>> {
        match piece {
            Piece::Text(text) if text.is_empty() => None,
            Piece::Text(text) => Some(text_part(text)),
            Piece::Media(media) => Some(match media_part(&media, self.media_bytes) {
                Some(part) => part.into(),
                None => text_part(media.omit(&mut self.omitted).into()),
            }),
        }
    }

    fn assistant(&mut self, turn: &'a AssistantTurn) {
        let calls: Vec<WireCall<'a>> = turn.calls().map(|call| self.calls.write(call)).collect();
        // A call that came without an id is answered without one: by its place.
        let mut ids: Vec<Option<String>> = calls.iter().map(|call| Some(call.id.clone())).collect();
        let parts = match replay::items(turn, self.gemini.wire()) {
            Some(items) => replayed(turn, items, &calls, &mut ids),
            None => self.neutral(turn, &calls),
        };
        self.push("model", parts);
        self.results(turn, &calls, ids);
    }

    fn neutral(&mut self, turn: &'a AssistantTurn, calls: &[WireCall<'a>]) -> Vec<Json<'a>> {
        let mut pending = calls.iter();
        let mut parts: Vec<Json<'a>> = Vec::new();
        for part in turn.parts() {
            match part {
                AssistantPart::Text { text } | AssistantPart::Refusal { text } => {
                    parts.extend(self.piece(Piece::Text(text.as_str().into())));
                }
                AssistantPart::ToolCall(_) => {
                    let first = pending.len() == calls.len();
                    parts.extend(
                        pending
                            .next()
                            .map(|call| Json::from(call_part(call, first))),
                    );
                }
                AssistantPart::Image(media) => parts.extend(self.made(Kind::Image, media)),
                AssistantPart::Audio(media) => parts.extend(self.made(Kind::Audio, media)),
                AssistantPart::File(media) => parts.extend(self.made(Kind::File, media)),
                // Another provider's thoughts are not for this one.
                AssistantPart::Reasoning { .. } => {}
            }
        }
        parts
    }

    fn made(&mut self, kind: Kind, media: &'a Media) -> Option<Json<'a>> {
        self.piece(Piece::Media(MediaRef::new(kind, media)))
    }

    /// As many responses as there were calls, in order, in a turn of their own.
    fn results(
        &mut self,
        turn: &'a AssistantTurn,
        calls: &[WireCall<'a>],
        ids: Vec<Option<String>>,
    ) {
        let mut responses: Vec<Json<'a>> = Vec::new();
        let mut shown: Vec<Json<'a>> = Vec::new();
        for ((result, call), id) in turn.results().iter().zip(calls).zip(ids) {
            let mut lines: Vec<String> = Vec::new();
            let mut inside: Vec<Object<'a>> = Vec::new();
            for piece in result_pieces(result) {
                match piece {
                    Piece::Text(text) => lines.push(text.into_owned()),
                    Piece::Media(media) => match media_part(&media, self.media_bytes) {
                        None => lines.push(media.omit(&mut self.omitted)),
                        Some(part) if self.media_in_results => inside.push(part),
                        Some(part) => {
                            let line = media.placeholder();
                            let whose = format!("{line} from {}:", call.name);
                            lines.push(format!("{line} (shown in the next message)"));
                            shown.extend([text_part(whose.into()), part.into()]);
                        }
                    },
                }
            }
            let key = if result.is_error { "error" } else { "result" };
            let response = Object::default()
                .maybe("id", id)
                .set("name", call.name.clone())
                .set("response", Object::default().set(key, lines.join("\n")))
                .filled("parts", inside);
            responses.push(Object::default().set("functionResponse", response).into());
        }
        self.push("user", responses);
        self.push("user", shown);
    }
}

/// The provider's own parts, signatures and all. Only what would be refused is corrected.
fn replayed<'a>(
    turn: &'a AssistantTurn,
    items: &'a [RawJson],
    calls: &[WireCall<'a>],
    ids: &mut [Option<String>],
) -> Vec<Json<'a>> {
    let mut pairs = turn.calls().zip(calls).zip(ids);
    let mut parts = Vec::new();
    for item in items {
        let Ok(mut members) = item.parse::<RawMap>() else {
            continue;
        };
        let Some(mut function) = members.read_as::<RawMap>("functionCall") else {
            parts.push(item.into());
            continue;
        };
        let Some(((call, wire), id)) = pairs.next() else {
            continue;
        };
        let mut changed = replay::correct(&mut function, "name", &wire.name);
        match replay::member(&function, "id").filter(|own| !own.is_empty()) {
            Some(_) => changed |= replay::correct(&mut function, "id", &wire.id),
            None => *id = None,
        }
        if call.arguments.object().is_none()
            && let Ok(args) = RawJson::from_text(wire.arguments.clone().into_owned())
        {
            function.insert("args", args);
            changed = true;
        }
        let written = changed
            .then(|| {
                members.set("functionCall", &function).ok()?;
                RawJson::from_serialize(&members).ok()
            })
            .flatten();
        parts.push(written.map_or_else(|| item.into(), Json::from));
    }
    parts
}
