//! A conversation with tools, as plain text.

use std::sync::Arc;

use super::CallFormat;
use super::instruction::{call, escape, result_tag, tools};
use crate::adapter::content::{Piece, result_pieces};
use crate::adapter::replay;
use crate::adapter::wire_call::incomplete;
use crate::conversation::Conversation;
use crate::conversation::media::{Media, MediaSource};
use crate::conversation::part::{AssistantPart, UserPart};
use crate::conversation::turn::{AssistantTurn, Turn, UserTurn};
use crate::output::compiled::CompiledOutput;
use crate::request::Request;
use crate::request::tool::ToolChoice;
use crate::request::tool_set::ToolSet;
use crate::wire::Wire;

/// The same request without tools: the instructions describe them.
pub(crate) fn textual(
    request: &Request,
    output: Option<&CompiledOutput>,
    format: CallFormat,
) -> Request {
    let mut conversation = Conversation::new();
    let calls = match &request.choice {
        ToolChoice::None => None,
        _ if request.tools.is_empty() => None,
        choice => Some(instruct(&request.tools, choice, format)),
    };
    let system = request.system_with(output);
    let system: Vec<&str> = system
        .as_deref()
        .into_iter()
        .chain(calls.as_deref())
        .collect();
    if !system.is_empty() {
        conversation = conversation.with_system(system.join("\n\n"));
    }
    for turn in textual_turns(request.conversation.turns(), format) {
        conversation.push(turn);
    }
    let mut options = request.options.clone();
    options.parallel_tool_calls = None;
    if calls.is_some() {
        // A model that goes on with a result would make it up.
        options.stop.push(format!("<{}>", result_tag(format)));
    }
    Request {
        model: request.model.clone(),
        conversation,
        tools: Arc::default(),
        choice: ToolChoice::Auto,
        options,
        output: None,
        cache: request.cache.clone(),
        stream: request.stream,
        limits: request.limits,
    }
}

fn instruct(set: &ToolSet, choice: &ToolChoice, format: CallFormat) -> String {
    let mut text = tools(set, format);
    match choice {
        ToolChoice::Required => text.push_str("\nUse at least one tool now.\n"),
        ToolChoice::Tool(name) => {
            text.push_str("\nUse this tool now: ");
            text.push_str(name);
            text.push('\n');
        }
        ToolChoice::Among(names) => {
            text.push_str("\nUse only these tools now: ");
            text.push_str(&names.join(", "));
            text.push('\n');
        }
        _ => {}
    }
    text
}

/// The same turns, with calls as the model writes them and results as it reads them.
pub(crate) fn textual_turns(turns: &[Turn], format: CallFormat) -> Vec<Turn> {
    let mut out: Vec<Turn> = Vec::new();
    for turn in turns {
        match turn {
            Turn::Assistant(turn) => {
                let said = said(turn, format);
                if !said.is_empty() {
                    out.push(AssistantTurn::from_text(said).into());
                }
                let results = results(turn, format);
                if !results.is_empty() {
                    user(results, &mut out);
                }
            }
            Turn::User(turn) => {
                let escaped = |part: &UserPart| match part {
                    UserPart::Text { text } => UserPart::text(escape(text)),
                    other => other.clone(),
                };
                user(turn.parts.iter().map(escaped).collect(), &mut out);
            }
            Turn::System(_) => out.push(turn.clone()),
        }
    }
    out
}

/// What the user says next belongs to what was said for the tools just before.
fn user(parts: Vec<UserPart>, out: &mut Vec<Turn>) {
    match out.last_mut() {
        Some(Turn::User(last)) => last.parts.extend(parts),
        _ => out.push(UserTurn { parts }.into()),
    }
}

/// What the model wrote: in its own words if it wrote in prompt mode.
fn said(turn: &AssistantTurn, format: CallFormat) -> String {
    if let Some(text) =
        replay::items(turn, Wire::Prompt).and_then(|items| items.first()?.parse::<String>().ok())
    {
        return text;
    }
    let mut pieces: Vec<String> = Vec::new();
    for part in turn.parts() {
        match part {
            AssistantPart::Text { text } | AssistantPart::Refusal { text } => {
                pieces.push(text.clone());
            }
            AssistantPart::ToolCall(made) => {
                let arguments = match made.arguments.object() {
                    Some(object) => object.get().to_owned(),
                    None => incomplete(made),
                };
                pieces.push(call(&made.name, &arguments, format));
            }
            _ => {}
        }
    }
    pieces.join("\n")
}

fn results(turn: &AssistantTurn, format: CallFormat) -> Vec<UserPart> {
    let mut parts = Vec::new();
    let tag = result_tag(format);
    for (call, result) in turn.exchanges() {
        let mut lines: Vec<String> = Vec::new();
        let mut shown: Vec<UserPart> = Vec::new();
        for piece in result_pieces(result) {
            match piece {
                Piece::Text(text) => lines.push(escape(&text)),
                Piece::Media(media) => {
                    lines.push(media.placeholder());
                    shown.extend(media_part(&media));
                }
            }
        }
        let name = escape(&call.name);
        let inside = if result.is_error { "error" } else { "output" };
        let text = lines.join("\n");
        parts.push(UserPart::text(format!(
            "<{tag}>\n<name>{name}</name>\n<{inside}>{text}</{inside}>\n</{tag}>"
        )));
        parts.extend(shown);
    }
    parts
}

fn media_part(media: &crate::adapter::content::MediaRef<'_>) -> Option<UserPart> {
    use crate::adapter::content::{Kind, SourceRef};
    let SourceRef::Data(data) = media.source else {
        return None;
    };
    let owned = Media {
        mime_type: media.mime_type.map(str::to_owned),
        name: media.name.map(str::to_owned),
        source: MediaSource::Data(data.to_owned()),
    };
    Some(match media.kind {
        Kind::Image => UserPart::Image(owned),
        Kind::Audio => UserPart::Audio(owned),
        Kind::File => UserPart::File(owned),
    })
}
