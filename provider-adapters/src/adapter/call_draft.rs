//! A tool call during its arrival.

use crate::adapter::text_piece::{Joiner, TextPiece};
use crate::conversation::arguments::Arguments;
use crate::conversation::call_id::CallId;
use crate::conversation::tool_call::{CallProblem, ToolCall};
use crate::json::end::JsonEnd;
use crate::reply::event::ReplyEvent;

/// A tool call in the making. Tells of itself once its tool is known.
#[derive(Debug)]
pub(crate) struct CallDraft {
    id: CallId,
    generated: bool,
    name: Option<String>,
    text: String,
    joiner: Joiner,
    end: JsonEnd,
    over: Option<(Arguments, Option<CallProblem>)>,
}

impl CallDraft {
    pub(crate) fn new(id: CallId, generated: bool) -> Self {
        Self {
            id,
            generated,
            name: None,
            text: String::new(),
            joiner: Joiner::default(),
            end: JsonEnd::default(),
            over: None,
        }
    }

    pub(crate) fn id(&self) -> &str {
        self.id.as_str()
    }

    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// The arguments so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the arguments are whole, as far as brackets tell.
    pub(crate) fn is_whole(&self) -> bool {
        self.end.is_complete()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.is_some()
    }

    pub(crate) fn start(&mut self, name: &str, events: &mut Vec<ReplyEvent>) {
        if self.name.is_some() {
            return;
        }
        self.name = Some(name.to_owned());
        events.push(ReplyEvent::ToolCallStart {
            tool_call_id: self.id.clone(),
            tool_call_name: name.to_owned(),
        });
        if !self.text.is_empty() {
            events.push(self.chunk(self.text.clone()));
        }
    }

    /// More of the arguments; what comes after the end is too late to count.
    pub(crate) fn argue(&mut self, piece: &TextPiece<'_>, events: &mut Vec<ReplyEvent>) {
        if self.is_over() {
            return;
        }
        let new = self.joiner.push(piece);
        if new.is_empty() {
            return;
        }
        self.end.push(&new);
        self.text.push_str(&new);
        if self.name.is_some() {
            events.push(self.chunk(new.into_owned()));
        }
    }

    /// Reads the arguments. Whatever is not whole when the reply was cut, is cut: even nothing at
    /// all, which otherwise means no arguments.
    pub(crate) fn read(&mut self, cut: bool) -> (Arguments, Option<CallProblem>) {
        let text = std::mem::take(&mut self.text);
        if cut && !self.is_whole() {
            return (Arguments::cut(text), Some(CallProblem::Cut));
        }
        let arguments = Arguments::read(text);
        let problem = match arguments.object() {
            _ if self.name().is_empty() => Some("the call names no tool".to_owned()),
            Some(_) => None,
            None => Some(
                match serde_json::from_str::<serde::de::IgnoredAny>(arguments.text()) {
                    Ok(_) => "the arguments are not a JSON object".to_owned(),
                    Err(error) => format!("the arguments are not valid JSON ({error})"),
                },
            ),
        };
        (
            arguments,
            problem.map(|reason| CallProblem::Malformed { reason }),
        )
    }

    pub(crate) fn end(
        &mut self,
        arguments: Arguments,
        problem: Option<CallProblem>,
        events: &mut Vec<ReplyEvent>,
    ) {
        self.start("", events);
        let whole = arguments
            .object()
            .map_or(arguments.text(), |object| object.get());
        events.push(ReplyEvent::ToolCallEnd {
            tool_call_id: self.id.clone(),
            tool_call_name: self.name().to_owned(),
            tool_call_arguments_complete: whole.to_owned(),
            complete: problem.is_none(),
        });
        self.over = Some((arguments, problem));
    }

    /// The call, unless `doubt` says why not to trust it although it looks whole.
    pub(crate) fn into_call(self, doubt: Option<CallProblem>) -> ToolCall {
        let (arguments, problem) = self
            .over
            .unwrap_or_else(|| (Arguments::cut(self.text), Some(CallProblem::Cut)));
        ToolCall {
            id: self.id,
            name: self.name.unwrap_or_default(),
            arguments,
            problem: problem.or(doubt),
            generated: self.generated,
        }
    }

    fn chunk(&self, text: String) -> ReplyEvent {
        ReplyEvent::ToolCallChunk {
            tool_call_id: self.id.clone(),
            tool_call_arguments_chunk: text,
        }
    }
}
