//! Encodes Chat Completions requests.

use mcp_jsonrpc::{RawJson, RawMap};

use super::dialect::{Dialect, OutputFormat};
use super::part::{Note, media_part, say};
use crate::adapter::content::{MediaRef, Piece, result_pieces, user_piece};
use crate::adapter::wire_call::{CallWriter, WireCall};
use crate::conversation::part::AssistantPart;
use crate::conversation::turn::{AssistantTurn, Turn};
use crate::json::writer::{Json, Object, typed};
use crate::output::compiled::CompiledOutput;
use crate::request::options::Options;
use crate::request::tool::ToolChoice;
use crate::request::tool_set::{CompiledTool, ToolSet};
use crate::request::{EncodeError, Omitted, Request};
use crate::wire::Wire;

/// Writes one request's messages.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    dialect: &'a Dialect,
    calls: CallWriter<'a>,
    media_bytes: usize,
    pub(crate) messages: Vec<Json<'a>>,
    last_role: &'static str,
    omitted: Vec<Omitted>,
}

/// The body of a request. What grows comes last, so that a request starts like the one before.
pub(crate) fn body<'a>(
    request: &'a Request,
    output: Option<&'a CompiledOutput>,
    dialect: &'a Dialect,
) -> Result<(Object<'a>, Vec<Omitted>), EncodeError> {
    let mut writer = Writer::new(dialect, &request.tools, request.limits.media_bytes);
    let instruction = output.filter(|_| dialect.output.is_instructed());
    if let Some(system) = request.system_with(instruction) {
        writer.system(system);
    }
    writer.turns(request.conversation.turns());
    let Writer {
        messages,
        mut omitted,
        ..
    } = writer;
    if messages.is_empty() {
        return Err(EncodeError::Empty);
    }
    let body = Object::default().set("model", request.model.as_str());
    let body = options(body, &request.options, dialect, &mut omitted);
    let usage = (request.stream && dialect.asks_usage)
        .then(|| Object::default().set("include_usage", true));
    let body = body
        .maybe("stream", request.stream.then_some(true))
        .maybe("stream_options", usage)
        .maybe(
            "response_format",
            output.and_then(|output| format(output, dialect)),
        );
    let body = tools(body, request, dialect, &mut omitted)?;
    // After the messages it is derived from: a difference between two requests shows there first.
    let key = request.cache_key().filter(|_| dialect.cache_key);
    let body = body
        .set("messages", messages)
        .maybe("prompt_cache_key", key);
    Ok((body, omitted))
}

/// The format of a reply in a JSON schema, as far as the server knows one.
fn format<'a>(output: &'a CompiledOutput, dialect: &Dialect) -> Option<Object<'a>> {
    let strict = match dialect.output {
        OutputFormat::Strict => Some(output.is_strict()),
        OutputFormat::Schema => None,
        OutputFormat::Object => return Some(typed("json_object")),
        OutputFormat::Instruction => return None,
    };
    let schema = Object::default()
        .set("name", output.name())
        .set("schema", output.schema())
        .maybe("strict", strict);
    Some(typed("json_schema").set("json_schema", schema))
}

/// A tool's definition.
pub(crate) fn definition<'a>(tool: &'a CompiledTool, dialect: &Dialect) -> Object<'a> {
    let function = Object::default()
        .set("name", tool.wire_name.as_str())
        .maybe("description", tool.description.as_deref())
        .maybe("parameters", tool.schema.as_ref())
        .maybe("strict", (tool.strict && dialect.strict).then_some(true));
    typed("function").set("function", function)
}

fn tools<'a>(
    body: Object<'a>,
    request: &'a Request,
    dialect: &Dialect,
    omitted: &mut Vec<Omitted>,
) -> Result<Object<'a>, EncodeError> {
    let Some(choice) = request.checked_choice()? else {
        return Ok(body);
    };
    let tools = request.tools.compiled();
    let named = |name: &str| {
        typed("function").set(
            "function",
            Object::default().set("name", request.tools.wire_name(name)),
        )
    };
    let mut sent: Vec<&CompiledTool> = tools.iter().collect();
    let choice: Option<Json<'_>> = match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => dialect.required_choice.map(Json::from),
        ToolChoice::Tool(name) if dialect.named_choice => Some(named(name).into()),
        ToolChoice::Tool(name) => {
            sent.retain(|tool| tool.name == *name);
            dialect.required_choice.map(Json::from)
        }
        ToolChoice::Among(names) if dialect.name == Dialect::OPENAI.name => {
            let tools: Vec<Object<'_>> = names.iter().map(|name| named(name)).collect();
            let allowed = Object::default().set("mode", "auto").set("tools", tools);
            Some(typed("allowed_tools").set("allowed_tools", allowed).into())
        }
        ToolChoice::Among(names) => {
            sent.retain(|tool| names.contains(&tool.name));
            None
        }
    };
    let forced = matches!(request.choice, ToolChoice::Required | ToolChoice::Tool(_));
    if forced && choice.is_none() {
        omitted.push(Omitted::Option("choice"));
    }
    let parallel = request.options.parallel_tool_calls;
    if parallel.is_some() && !dialect.parallel_switch {
        omitted.push(Omitted::Option("parallel_tool_calls"));
    }
    let definitions: Vec<Object<'_>> = sent
        .into_iter()
        .map(|tool| definition(tool, dialect))
        .collect();
    if definitions.is_empty() {
        return Ok(body);
    }
    Ok(body
        .set("tools", definitions)
        .maybe("tool_choice", choice)
        .maybe(
            "parallel_tool_calls",
            parallel.filter(|_| dialect.parallel_switch),
        ))
}

fn options<'a>(
    body: Object<'a>,
    options: &'a Options,
    dialect: &Dialect,
    omitted: &mut Vec<Omitted>,
) -> Object<'a> {
    let unknown = [
        ("top_k", options.top_k.is_some()),
        ("thinking_tokens", options.thinking_tokens.is_some()),
        ("effort", options.effort.is_some() && !dialect.effort),
    ];
    omitted.extend(Omitted::options(&unknown));
    let effort = options
        .effort
        .filter(|_| dialect.effort)
        .map(|effort| effort.as_str());
    body.maybe(dialect.max_tokens, options.max_output_tokens)
        .maybe("temperature", options.temperature)
        .maybe("top_p", options.top_p)
        .maybe("seed", options.seed)
        .filled("stop", options.stop.as_slice())
        .maybe("reasoning_effort", effort)
}

impl<'a> Writer<'a> {
    pub(crate) fn new(dialect: &'a Dialect, tools: &'a ToolSet, media_bytes: usize) -> Self {
        Self {
            dialect,
            calls: CallWriter::new(dialect.ids, tools),
            media_bytes,
            messages: Vec::new(),
            last_role: "",
            omitted: Vec::new(),
        }
    }

    /// The messages of these turns.
    pub(crate) fn turns(&mut self, turns: &'a [Turn]) {
        for turn in turns {
            match turn {
                Turn::System(turn) => self.system(turn.text.as_str()),
                Turn::User(turn) => {
                    let pieces: Vec<Piece<'_>> = turn.parts.iter().map(user_piece).collect();
                    self.user(pieces);
                }
                Turn::Assistant(turn) => self.assistant(turn),
            }
        }
    }

    fn system(&mut self, text: impl Into<Json<'a>>) {
        let role = self.dialect.system_role;
        self.push(
            role,
            Object::default().set("role", role).set("content", text),
        );
    }

    fn user(&mut self, pieces: Vec<Piece<'a>>) {
        if self.last_role == "tool" && !self.dialect.user_after_tool {
            self.push(
                "assistant",
                Object::default()
                    .set("role", "assistant")
                    .set("content", "OK."),
            );
        }
        let content = self.content(pieces);
        self.push(
            "user",
            Object::default()
                .set("role", "user")
                .set("content", content),
        );
    }

    /// A string where it is text only, else a list of parts.
    fn content(&mut self, pieces: Vec<Piece<'a>>) -> Json<'a> {
        let mut parts = Vec::new();
        let mut text_only = true;
        for piece in pieces {
            match piece {
                Piece::Text(text) => parts.push(Note::Text(text)),
                Piece::Media(media) => match self.media(&media) {
                    Some(part) => {
                        text_only = false;
                        parts.push(Note::Part(part));
                    }
                    None => parts.push(Note::Text(media.omit(&mut self.omitted).into())),
                },
            }
        }
        say(parts, text_only)
    }

    fn media(&self, media: &MediaRef<'a>) -> Option<Object<'a>> {
        self.dialect
            .parts
            .then(|| media_part(media, self.dialect, self.media_bytes))
            .flatten()
    }

    fn assistant(&mut self, turn: &'a AssistantTurn) {
        let mut texts: Vec<String> = Vec::new();
        let mut refusal = None;
        for part in turn.parts() {
            match part {
                AssistantPart::Text { text } => texts.push(text.clone()),
                AssistantPart::Refusal { text } if self.dialect.strict => {
                    refusal = Some(text.as_str());
                }
                AssistantPart::Refusal { text } => texts.push(text.clone()),
                AssistantPart::Image(_) | AssistantPart::Audio(_) | AssistantPart::File(_) => {
                    let shown = super::part::shown(part);
                    self.omitted.push(Omitted::Media(shown.clone()));
                    texts.push(shown);
                }
                AssistantPart::Reasoning { .. } | AssistantPart::ToolCall(_) => {}
            }
        }
        let calls: Vec<WireCall<'a>> = turn.calls().map(|call| self.calls.write(call)).collect();
        let text = texts.join("\n");
        if text.is_empty() && refusal.is_none() && calls.is_empty() {
            return;
        }
        let content: Json<'_> = match text.is_empty() {
            false => text.into(),
            true if self.dialect.parts => Json::Null,
            true => "".into(),
        };
        let extras = self.extras(turn);
        let mut message = Object::default()
            .set("role", "assistant")
            .set("content", content)
            .maybe("refusal", refusal);
        for (key, value) in extras.iter().filter(|(key, _)| *key != "tool_calls") {
            message = message.set(key.to_owned(), value.clone());
        }
        if !calls.is_empty() {
            let ids: Vec<&str> = turn.calls().map(|call| call.id.as_str()).collect();
            let written: Vec<Object<'_>> = calls
                .iter()
                .zip(ids)
                .map(|(call, id)| tool_call(call, call_extra(&extras, id)))
                .collect();
            message = message.set("tool_calls", written);
        }
        self.push("assistant", message);
        self.results(turn, &calls);
    }

    /// What the server added to the turn, if it is the same server and wants it back.
    fn extras(&self, turn: &AssistantTurn) -> RawMap {
        turn.native()
            .filter(|native| self.dialect.echo && native.wire == Wire::OpenAiChat)
            .filter(|native| native.dialect == self.dialect.name)
            .and_then(|native| native.items.first()?.parse().ok())
            .unwrap_or_default()
    }

    /// A message per result; what cannot be in one follows in the user's name.
    fn results(&mut self, turn: &'a AssistantTurn, calls: &[WireCall<'a>]) {
        let mut shown: Vec<Piece<'a>> = Vec::new();
        for (result, call) in turn.results().iter().zip(calls) {
            let mut lines: Vec<String> = Vec::new();
            for piece in result_pieces(result) {
                match piece {
                    Piece::Text(text) => lines.push(text.into_owned()),
                    Piece::Media(media) if self.media(&media).is_some() => {
                        let line = media.placeholder();
                        let whose = format!("{line} from {} ({}):", call.name, call.id);
                        lines.push(format!("{line} (shown in the next message)"));
                        shown.extend([Piece::Text(whose.into()), Piece::Media(media)]);
                    }
                    Piece::Media(media) => lines.push(media.omit(&mut self.omitted)),
                }
            }
            let text = lines.join("\n");
            let content = if result.is_error {
                format!("Error: {text}")
            } else {
                text
            };
            let message = Object::default()
                .set("role", "tool")
                .set("tool_call_id", call.id.clone())
                .set("content", content);
            self.push("tool", message);
        }
        if !shown.is_empty() {
            self.user(shown);
        }
    }

    fn push(&mut self, role: &'static str, message: Object<'a>) {
        self.last_role = role;
        self.messages.push(message.into());
    }
}

fn tool_call<'a>(call: &WireCall<'a>, extra: Option<RawJson>) -> Object<'a> {
    let function = Object::default()
        .set("name", call.name.clone())
        .set("arguments", call.arguments.clone());
    Object::default()
        .set("id", call.id.clone())
        .set("type", "function")
        .set("function", function)
        .maybe("extra_content", extra)
}

fn call_extra(extras: &RawMap, id: &str) -> Option<RawJson> {
    let calls: Vec<RawMap> = extras.read_as("tool_calls")?;
    let mine = |call: &&RawMap| call.read_as::<String>("id").as_deref() == Some(id);
    calls.iter().find(mine)?.get("extra_content").cloned()
}
