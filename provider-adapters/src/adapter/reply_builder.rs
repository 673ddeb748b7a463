//! Builds a reply from a wire decoder's output, and emits events on the way.

mod output;

use self::output::Progress;
use crate::adapter::call_draft::CallDraft;
use crate::adapter::decoder::Expected;
use crate::adapter::text_piece::{Joiner, TextPiece};
use crate::conversation::arguments::Arguments;
use crate::conversation::call_id::CallId;
use crate::conversation::media::Media;
use crate::conversation::part::AssistantPart;
use crate::conversation::tool_call::CallProblem;
use crate::model::provider_error::{ErrorKind, ProviderError};
use crate::reply::event::ReplyEvent;
use crate::reply::stop::{Stop, StopReason};
use crate::reply::usage::Usage;
use crate::reply::{Note, Reply};

/// The index of a part in a [`ReplyBuilder`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PartIndex(usize);

/// The three things a model may say in text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TextKind {
    Text,
    Reasoning,
    Refusal,
}

/// Builds one reply: it converts names and arguments of calls back, enforces limits, and emits an event for every
/// change. [`Frames`](crate::Frames) fill it.
#[derive(Debug)]
pub struct ReplyBuilder {
    drafts: Vec<Draft>,
    expected: Expected,
    calls: usize,
    generated: u64,
    usage: Usage,
    stop: Option<Stop>,
    error: Option<ProviderError>,
    notes: Vec<Note>,
    /// The part that holds the structured output, where it is not all of the text.
    output: Option<PartIndex>,
    progress: Progress,
    pub(crate) events: Vec<ReplyEvent>,
}

#[derive(Debug)]
enum Draft {
    Text {
        voice: TextKind,
        text: String,
        joiner: Joiner,
    },
    Call(Box<CallDraft>),
    Media(AssistantPart),
}

impl ReplyBuilder {
    pub(crate) fn new(expected: Expected) -> Self {
        Self {
            drafts: Vec::new(),
            expected,
            calls: 0,
            generated: 0,
            usage: Usage::default(),
            stop: None,
            error: None,
            notes: Vec::new(),
            output: None,
            progress: Progress::default(),
            events: Vec::new(),
        }
    }

    /// More text: goes on with the last part if it speaks with the same voice.
    pub(crate) fn say(&mut self, voice: TextKind, piece: &TextPiece<'_>) {
        if piece.is_empty() {
            return;
        }
        let slot = match self.drafts.last() {
            Some(Draft::Text { voice: last, .. }) if *last == voice => {
                PartIndex(self.drafts.len() - 1)
            }
            _ => self.open_text(voice),
        };
        self.say_at(slot, piece);
    }

    /// A new, still empty part of text. Left out of the reply if it stays empty.
    pub(crate) fn open_text(&mut self, voice: TextKind) -> PartIndex {
        self.open(Draft::Text {
            voice,
            text: String::new(),
            joiner: Joiner::default(),
        })
    }

    /// More text for a part that is already there.
    pub(crate) fn say_at(&mut self, slot: PartIndex, piece: &TextPiece<'_>) {
        if let Some(Draft::Text {
            voice,
            text,
            joiner,
        }) = self.drafts.get_mut(slot.0)
        {
            let new = joiner.push(piece);
            if !new.is_empty() {
                text.push_str(&new);
                self.events.push(spoken(*voice, new.into_owned()));
                if *voice == TextKind::Text && self.expected.output.is_some() {
                    self.report_output(slot);
                }
            }
        }
    }

    /// The text of a part so far.
    pub(crate) fn text_at(&self, slot: PartIndex) -> &str {
        match self.drafts.get(slot.0) {
            Some(Draft::Text { text, .. }) => text,
            _ => "",
        }
    }

    /// Appends text for the user.
    pub fn push_text(&mut self, text: &str) {
        self.say(TextKind::Text, &text.into());
    }

    /// Appends reasoning.
    pub fn push_reasoning(&mut self, text: &str) {
        self.say(TextKind::Reasoning, &text.into());
    }

    /// Appends to the model's reason for declining.
    pub fn push_refusal(&mut self, text: &str) {
        self.say(TextKind::Refusal, &text.into());
    }

    /// Appends to the arguments of a call: JSON text, cut anywhere.
    pub fn push_arguments(&mut self, call: PartIndex, text: &str) {
        self.argue(call, &text.into());
    }

    /// Appends an image, audio or a file that the model generated.
    pub fn push_media(&mut self, media: Media) {
        self.events.push(ReplyEvent::Media(media.clone()));
        let kind = media.mime_type.as_deref().unwrap_or_default();
        let part = match kind.split('/').next() {
            Some("image") => AssistantPart::Image(media),
            Some("audio") => AssistantPart::Audio(media),
            _ => AssistantPart::File(media),
        };
        self.open(Draft::Media(part));
    }

    /// A new call, with the provider's id for it if that can be used. `None` if there are too
    /// many, which fails the reply.
    pub(crate) fn open_call(&mut self, wire_id: Option<&str>) -> Option<PartIndex> {
        if self.calls == self.expected.limits.calls {
            let limit = self.expected.limits.calls;
            self.fail(
                ErrorKind::TooLarge,
                format!("more than {limit} tool calls in one reply"),
            );
            return None;
        }
        self.calls += 1;
        let taken = wire_id.is_some_and(|id| self.has_call(id));
        if let (true, Some(id)) = (taken, wire_id) {
            self.notes.push(Note::IdTwice { id: id.to_owned() });
        }
        let given = wire_id.filter(|_| !taken).map(CallId::from);
        let generated = given.is_none();
        let id = given.unwrap_or_else(|| self.fresh_id());
        Some(self.open(Draft::Call(Box::new(CallDraft::new(id, generated)))))
    }

    /// Starts a tool call, by the tool's name on the wire, with the provider's id if it has one. `None` if there are
    /// too many calls, which fails the reply.
    pub fn start_call(&mut self, wire_id: Option<&str>, name: &str) -> Option<PartIndex> {
        let slot = self.open_call(wire_id)?;
        self.name_call(slot, name);
        Some(slot)
    }

    /// The tool's name, on the wire, of a call. Only the first one counts.
    pub(crate) fn name_call(&mut self, slot: PartIndex, wire_name: &str) {
        if let Some(Draft::Call(call)) = self.drafts.get_mut(slot.0) {
            call.start(
                self.expected.tools.original_name(wire_name),
                &mut self.events,
            );
        }
    }

    /// More arguments of a call.
    pub(crate) fn argue(&mut self, slot: PartIndex, piece: &TextPiece<'_>) {
        if let Some(Draft::Call(call)) = self.drafts.get_mut(slot.0) {
            call.argue(piece, &mut self.events);
        }
    }

    /// Ends a call and parses its arguments, once. With `cut`, incomplete arguments stay incomplete, even if there are
    /// none at all. Calls still open at the end of the reply are ended then.
    pub fn end_call(&mut self, slot: PartIndex, cut: bool) {
        let Some(Draft::Call(call)) = self.drafts.get_mut(slot.0) else {
            return;
        };
        if call.is_over() {
            return;
        }
        let doubt = doubt(self.error.as_ref(), self.stop.as_ref());
        let (arguments, problem) = call.read(cut);
        if arguments.was_wrapped() {
            self.notes.push(Note::ArgumentsEncodedTwice {
                name: call.name().to_owned(),
            });
        }
        let arguments = self.expected.tools.restore(call.name(), arguments);
        call.end(arguments, problem.or(doubt), &mut self.events);
    }

    /// A call that came whole, in a text the model wrote, and that must not be executed.
    pub(crate) fn reject_call(&mut self, name: &str, text: &str, problem: CallProblem) {
        let Some(slot) = self.open_call(None) else {
            return;
        };
        if let Some(Draft::Call(call)) = self.drafts.get_mut(slot.0) {
            call.start(name, &mut self.events);
            call.argue(&TextPiece::from(text), &mut self.events);
            call.end(Arguments::read(text), Some(problem), &mut self.events);
        }
    }

    /// A call in the making.
    pub(crate) fn call(&self, slot: PartIndex) -> Option<&CallDraft> {
        match self.drafts.get(slot.0) {
            Some(Draft::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// Sets the token counters.
    pub fn set_usage(&mut self, usage: Usage) {
        self.usage = usage;
    }

    /// Sets the reason why the model stopped, as ours and as the provider's. A reply without one is truncated.
    pub fn stop(&mut self, reason: StopReason, raw: &str) {
        self.stop = Some(Stop::new(reason, raw));
    }

    pub(crate) fn stop_reason(&self) -> Option<StopReason> {
        self.stop.as_ref().map(|stop| stop.reason)
    }

    pub(crate) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Fails the reply. Only the first failure counts, and no call may be executed.
    pub fn fail(&mut self, kind: ErrorKind, message: impl Into<String>) {
        self.fail_with(ProviderError::new(kind, message));
    }

    /// The reply failed. Only the first failure counts.
    pub(crate) fn fail_with(&mut self, error: ProviderError) {
        if self.error.is_none() {
            self.events.push(ReplyEvent::Error(Box::new(error.clone())));
            self.error = Some(error);
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Ends every call that is still open.
    fn end_calls(&mut self) {
        let cut = self.has_failed() || self.stop.as_ref().is_none_or(|stop| stop.reason.cuts());
        for at in 0..self.drafts.len() {
            self.end_call(PartIndex(at), cut);
        }
    }

    /// Nothing more comes: the reply, but for the provider's own words.
    pub(crate) fn finish(&mut self) -> Reply {
        if self.stop.is_none() && self.error.is_none() {
            self.fail(
                ErrorKind::Truncated,
                "the stream ended without saying why the model stopped",
            );
        }
        self.flush_text();
        self.end_calls();
        let has_calls = self.calls > 0;
        if let Some(stop) = &mut self.stop
            && self.output.is_some()
            && !has_calls
            && stop.reason == StopReason::ToolUse
        {
            stop.reason = StopReason::End;
        }
        let output = self.read_output();
        let parts: Vec<AssistantPart> = std::mem::take(&mut self.drafts)
            .into_iter()
            .filter_map(|draft| draft.into_part(doubt(self.error.as_ref(), self.stop.as_ref())))
            .collect();
        if let Some(stop) = &mut self.stop {
            stop.reason = settle(stop.reason, &parts);
        }
        if !self.usage.is_empty() {
            self.events.push(ReplyEvent::Usage(self.usage));
        }
        if let Some(stop) = &self.stop {
            self.events.push(ReplyEvent::Stop(stop.clone()));
        }
        Reply {
            parts,
            native: None,
            stop: self.stop.take(),
            output,
            usage: self.usage,
            error: self.error.take(),
            notes: std::mem::take(&mut self.notes),
        }
    }

    fn flush_text(&mut self) {
        for draft in &mut self.drafts {
            if let Draft::Text {
                voice,
                text,
                joiner,
            } = draft
                && let Some(mark) = joiner.finish()
            {
                text.push(mark);
                self.events.push(spoken(*voice, mark.to_string()));
            }
        }
    }

    fn open(&mut self, draft: Draft) -> PartIndex {
        self.drafts.push(draft);
        PartIndex(self.drafts.len() - 1)
    }

    fn has_call(&self, id: &str) -> bool {
        self.drafts
            .iter()
            .any(|draft| matches!(draft, Draft::Call(call) if call.id() == id))
    }

    fn fresh_id(&mut self) -> CallId {
        loop {
            let id = CallId::generate(self.expected.seed, self.generated);
            self.generated += 1;
            if !self.has_call(id.as_str()) {
                return id;
            }
        }
    }
}

impl Draft {
    /// What the model wrote for the user.
    fn said(&self) -> Option<&str> {
        match self {
            Self::Text {
                voice: TextKind::Text,
                text,
                ..
            } => Some(text),
            _ => None,
        }
    }

    fn is_refusal(&self) -> bool {
        matches!(self, Self::Text { voice: TextKind::Refusal, text, .. } if !text.is_empty())
    }

    fn into_part(self, doubt: Option<CallProblem>) -> Option<AssistantPart> {
        match self {
            Self::Text { text, .. } if text.is_empty() => None,
            Self::Text { voice, text, .. } => Some(match voice {
                TextKind::Text => AssistantPart::Text { text },
                TextKind::Reasoning => AssistantPart::Reasoning { text },
                TextKind::Refusal => AssistantPart::Refusal { text },
            }),
            Self::Media(part) => Some(part),
            Self::Call(call) => Some(AssistantPart::ToolCall(call.into_call(doubt))),
        }
    }
}

/// Why no call of the reply may be executed, however whole it looks.
fn doubt(error: Option<&ProviderError>, stop: Option<&Stop>) -> Option<CallProblem> {
    if error.is_some() {
        return Some(CallProblem::ReplyFailed);
    }
    let stop = stop.filter(|stop| stop.reason == StopReason::MalformedToolCall)?;
    let reason = format!("the provider could not read the calls ({})", stop.raw);
    Some(CallProblem::Malformed { reason })
}

/// A piece of text as an event.
fn spoken(voice: TextKind, text: String) -> ReplyEvent {
    match voice {
        TextKind::Text => ReplyEvent::Text { text },
        TextKind::Reasoning => ReplyEvent::Reasoning { text },
        TextKind::Refusal => ReplyEvent::Refusal { text },
    }
}

/// A provider that says it simply ended, may have called tools or declined all the same.
fn settle(reason: StopReason, parts: &[AssistantPart]) -> StopReason {
    if reason != StopReason::End {
        return reason;
    }
    let has = |wanted: fn(&AssistantPart) -> bool| parts.iter().any(wanted);
    if has(|part| matches!(part, AssistantPart::ToolCall(_))) {
        StopReason::ToolUse
    } else if has(|part| matches!(part, AssistantPart::Refusal { .. })) {
        StopReason::Refusal
    } else {
        reason
    }
}
