//! A call in the text.

use super::super::body::{self, Body};
use super::super::fence::{Fence, FenceLine};
use super::super::tag::{Closer, Tag};
use super::{Found, PromptParser, State};
use crate::conversation::tool_call::CallProblem;
use crate::json::end::JsonEnd;

/// The longest call that is looked for; what is longer is text.
const MAX_CALL: usize = 1 << 20;
/// How often text that turned out to be no call is looked at again.
const MAX_REREADS: usize = 16;

/// A fenced block that may be a call.
#[derive(Debug)]
pub(super) struct FencedCall {
    pub(super) fence: Fence,
    pub(super) header: String,
    pub(super) body: String,
    pub(super) line: FenceLine,
}

/// A call whose opening tag has come.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) tag: Tag,
    pub(super) body: String,
    pub(super) end: JsonEnd,
    pub(super) closer: Closer,
    /// The quotes in the body do not match, so they protect nothing.
    pub(super) broken: bool,
    /// Where an end was taken for part of a string.
    pub(super) doubted: Option<usize>,
}

impl OpenCall {
    pub(super) fn new(tag: Tag) -> Self {
        Self {
            tag,
            body: String::new(),
            end: JsonEnd::default(),
            closer: Closer::new(tag.close),
            broken: false,
            doubted: None,
        }
    }
}

impl PromptParser {
    pub(super) fn in_fenced_call(&mut self, c: char, sink: &mut impl FnMut(Found<'_>)) {
        let State::FencedCall(call) = &mut self.state else {
            return;
        };
        let closed = call.line.step(c, &call.fence);
        call.body.push(c);
        let abandoned =
            call.body.len() > MAX_CALL || !call.fence.is_call() && !body::may_be_call(&call.body);
        if (closed || abandoned)
            && let State::FencedCall(call) = std::mem::replace(&mut self.state, State::Text)
        {
            self.end_fenced_call(*call, closed, sink);
        }
    }

    pub(super) fn end_fenced_call(
        &mut self,
        call: FencedCall,
        closed: bool,
        sink: &mut impl FnMut(Found<'_>),
    ) {
        let inside = call.fence.without_end(&call.body);
        let read = match closed {
            true => body::read(inside, self.grammar.names.as_deref()),
            false => Body::Bad {
                reason: String::new(),
            },
        };
        match read {
            Body::Call { name, arguments } => self.found(&name, &arguments, sink),
            other if closed && call.fence.is_call() => self.report(inside, other, sink),
            _ => {
                self.say(&call.header);
                self.say(&call.body);
                if !closed {
                    self.state = State::Fenced(call.fence, call.line);
                }
            }
        }
    }

    pub(super) fn in_call(&mut self, c: char, sink: &mut impl FnMut(Found<'_>)) {
        let State::Call(call) = &mut self.state else {
            return;
        };
        // No string of JSON spans lines: if one seems to, its quotes are wrong.
        call.broken |= c == '\n' && call.end.in_string();
        let inside = call.end.in_string() && !call.broken;
        call.body.push(c);
        call.end.push(c.encode_utf8(&mut [0; 4]));
        let closed = if call.tag.close.is_empty() {
            if call.body.ends_with("[ARGS]") {
                call.end = JsonEnd::default();
            }
            call.end.is_complete()
        } else {
            call.closer.step(c)
        };
        if closed && inside {
            call.doubted
                .get_or_insert(call.body.len() - call.tag.close.len());
            return;
        }
        let too_long = call.body.len() > MAX_CALL;
        if !closed && !too_long {
            return;
        }
        let State::Call(mut call) = std::mem::replace(&mut self.state, State::Text) else {
            return;
        };
        if closed {
            call.body.truncate(call.body.len() - call.tag.close.len());
            self.close(&call, sink);
        } else {
            self.say(call.tag.open);
            self.say(&call.body);
            self.flush(sink);
            sink(Found::Unclosed);
        }
    }

    pub(super) fn close(&mut self, call: &OpenCall, sink: &mut impl FnMut(Found<'_>)) {
        let names = self.grammar.names.as_deref();
        for read in body::read_all(&call.body, call.tag, names) {
            match read {
                Body::Call { name, arguments } => self.found(&name, &arguments, sink),
                other => self.report(&call.body, other, sink),
            }
        }
    }

    fn found(&mut self, name: &str, arguments: &str, sink: &mut impl FnMut(Found<'_>)) {
        self.flush(sink);
        sink(Found::Call { name, arguments });
        self.called = true;
        self.after_call = Some(String::new());
    }

    fn report(&mut self, text: &str, body: Body, sink: &mut impl FnMut(Found<'_>)) {
        self.flush(sink);
        let (name, problem) = match body {
            Body::Call { name, .. } | Body::Unknown { name } => (name, CallProblem::UnknownTool),
            Body::Bad { reason } => (
                body::guess_name(text).unwrap_or_default(),
                CallProblem::Malformed { reason },
            ),
        };
        sink(Found::Rejected {
            name: &name,
            text,
            problem,
        });
        self.called = true;
        self.after_call = Some(String::new());
    }

    fn reject(&mut self, text: &str, reason: &str, sink: &mut impl FnMut(Found<'_>)) {
        self.report(
            text,
            Body::Bad {
                reason: reason.to_owned(),
            },
            sink,
        );
    }

    /// A call that never ended is text; what comes after its start may hold calls all the same.
    pub(super) fn reread(&mut self, call: OpenCall, sink: &mut impl FnMut(Found<'_>)) {
        let OpenCall {
            tag, body, doubted, ..
        } = call;
        let held = std::mem::take(&mut self.held);
        if let Some(end) = doubted {
            let (inside, rest) = body.split_at(end);
            self.reject(inside, "the quotes in the call do not match", sink);
            let rest = rest.strip_prefix(tag.close).unwrap_or(rest).to_owned() + &held;
            return self.again(&rest, sink);
        }
        self.say(tag.open);
        self.flush(sink);
        sink(Found::Unclosed);
        self.again(&(body + &held), sink);
    }

    fn again(&mut self, text: &str, sink: &mut impl FnMut(Found<'_>)) {
        self.rereads += 1;
        if self.rereads > MAX_REREADS {
            self.say(text);
        } else {
            self.read(text, sink);
        }
    }
}
