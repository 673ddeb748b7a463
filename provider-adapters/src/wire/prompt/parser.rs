//! Finds tool calls in text as it arrives.

mod call;
#[cfg(test)]
mod tests;

use self::call::{FencedCall, OpenCall};
use super::body;
use super::fence::{Fence, FenceLine};
use super::tag::{Closer, RESULTS, THINK, Tag, think_end};
use crate::conversation::tool_call::CallProblem;

/// What was found.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Found<'a> {
    /// Text for the user.
    Text(&'a str),
    /// A call: the tool's name and the model's arguments.
    Call { name: &'a str, arguments: &'a str },
    /// A call that must not be executed because it is invalid.
    Rejected {
        name: &'a str,
        text: &'a str,
        problem: CallProblem,
    },
    /// The start of a call that never ended, left as text.
    Unclosed,
}

/// Which calls to look for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grammar {
    pub(crate) tags: &'static [Tag],
    /// Whether a fenced block of JSON may be a call.
    pub(crate) fenced: bool,
    /// The tools there are; any name will do if it is not known.
    pub(crate) names: Option<Vec<String>>,
}

/// Reads text piece by piece. What may become a tag is held back, so that no part of one is ever
/// shown; everything else is passed on at once. Where the pieces are cut makes no difference.
#[derive(Debug)]
pub(crate) struct PromptParser {
    grammar: Grammar,
    state: State,
    /// What may be the start of a tag or of a fence.
    held: String,
    /// Text that is certain.
    text: String,
    line_start: bool,
    /// Whitespace right after a call, dropped if nothing else follows.
    after_call: Option<String>,
    called: bool,
    rereads: usize,
}

#[derive(Debug)]
enum State {
    Text,
    /// A run of backticks inside a line.
    Ticks(usize),
    /// Inline code, and the number of backticks of its end so far.
    Code {
        ticks: usize,
        seen: usize,
    },
    Think(Closer),
    Fenced(Fence, FenceLine),
    FencedCall(Box<FencedCall>),
    Call(Box<OpenCall>),
    /// The model continues with an invented result.
    Invented,
}

impl PromptParser {
    pub(crate) fn new(grammar: Grammar) -> Self {
        Self {
            grammar,
            state: State::Text,
            held: String::new(),
            text: String::new(),
            line_start: true,
            after_call: None,
            called: false,
            rereads: 0,
        }
    }

    /// Takes text in; `sink` gets what is certain.
    pub(crate) fn push(&mut self, text: &str, sink: &mut impl FnMut(Found<'_>)) {
        self.read(text, sink);
        self.flush(sink);
    }

    /// Nothing more comes. `cut` tells whether the model was stopped in the middle; `stopped`
    /// whether it was stopped by a stop sequence, which then is missing from the text.
    pub(crate) fn finish(&mut self, cut: bool, stopped: bool, sink: &mut impl FnMut(Found<'_>)) {
        loop {
            match std::mem::replace(&mut self.state, State::Text) {
                State::Call(call) => {
                    if stopped && call.end.is_complete() {
                        self.close(&call, sink);
                        break;
                    }
                    if cut {
                        self.flush(sink);
                        let name = body::guess_name(&call.body).unwrap_or_default();
                        let problem = CallProblem::Cut;
                        sink(Found::Rejected {
                            name: &name,
                            text: &call.body,
                            problem,
                        });
                        break;
                    }
                    self.reread(*call, sink);
                }
                State::FencedCall(call) => {
                    let closed = call.line.closes(&call.fence);
                    self.end_fenced_call(*call, closed, sink);
                    break;
                }
                _ => break,
            }
        }
        let held = std::mem::take(&mut self.held);
        self.say(&held);
        self.after_call = None;
        self.flush(sink);
    }

    fn read(&mut self, text: &str, sink: &mut impl FnMut(Found<'_>)) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            // Nothing happens in a text before one of these signs.
            if let State::Text = self.state
                && self.held.is_empty()
                && self.after_call.is_none()
                && !self.line_start
            {
                let plain = rest.find(['<', '`', '\n', '[']).unwrap_or(rest.len());
                let (before, after) = rest.split_at(plain);
                self.text.push_str(before);
                rest = after;
                if plain > 0 {
                    continue;
                }
            }
            self.step(c, sink);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }

    fn step(&mut self, c: char, sink: &mut impl FnMut(Found<'_>)) {
        match &mut self.state {
            State::Text => self.in_text(c, sink),
            State::Ticks(ticks) if c == '`' => {
                *ticks += 1;
                self.say_char(c);
            }
            State::Ticks(ticks) => {
                self.state = State::Code {
                    ticks: *ticks,
                    seen: 0,
                };
                self.step(c, sink);
            }
            State::Code { ticks, seen } => {
                let ended = c != '`' && *seen == *ticks;
                *seen = if c == '`' { *seen + 1 } else { 0 };
                if ended || c == '\n' {
                    self.state = State::Text;
                    return self.in_text(c, sink);
                }
                self.say_char(c);
            }
            State::Think(closer) => {
                if closer.step(c) {
                    self.state = State::Text;
                }
                self.say_char(c);
            }
            State::Fenced(fence, line) => {
                if line.step(c, fence) {
                    self.state = State::Text;
                }
                self.say_char(c);
            }
            State::FencedCall(_) => self.in_fenced_call(c, sink),
            State::Call(_) => self.in_call(c, sink),
            State::Invented => {}
        }
    }

    fn in_text(&mut self, c: char, sink: &mut impl FnMut(Found<'_>)) {
        if self.held.is_empty() {
            match c {
                '<' | '[' => self.held.push(c),
                ' ' | '`' | '~' if self.line_start => self.held.push(c),
                '`' => {
                    self.state = State::Ticks(1);
                    self.say_char(c);
                }
                _ => self.say_char(c),
            }
            return;
        }
        self.held.push(c);
        if self.held.starts_with(['<', '[']) {
            self.in_tag(sink);
        } else {
            self.in_fence_line(sink);
        }
    }

    /// `held` starts like a tag.
    fn in_tag(&mut self, sink: &mut impl FnMut(Found<'_>)) {
        let held = self.held.as_str();
        if let Some(tag) = self
            .grammar
            .tags
            .iter()
            .find(|tag| tag.open == held)
            .copied()
        {
            self.held.clear();
            self.after_call = self.after_call.take().map(|_| String::new());
            self.flush(sink);
            self.state = State::Call(Box::new(OpenCall::new(tag)));
        } else if let Some(close) = think_end(held) {
            self.let_go();
            self.state = State::Think(Closer::new(close));
        } else if self.called && RESULTS.contains(&held) {
            self.held.clear();
            self.state = State::Invented;
        } else if !self.may_be_tag() {
            // The last sign may begin something of its own.
            let last = self.held.pop();
            self.let_go();
            if let Some(c) = last {
                self.step(c, sink);
            }
        }
    }

    fn may_be_tag(&self) -> bool {
        let held = self.held.as_str();
        let results = RESULTS.iter().filter(|_| self.called);
        let opens = self.grammar.tags.iter().map(|tag| tag.open);
        opens
            .chain(THINK.iter().map(|(open, _)| *open))
            .chain(results.copied())
            .any(|open| open.starts_with(held))
    }

    /// `held` starts like the first line of a fenced block.
    fn in_fence_line(&mut self, sink: &mut impl FnMut(Found<'_>)) {
        match Fence::open(&self.held) {
            None => {
                let held = std::mem::take(&mut self.held);
                self.line_start = false;
                for c in held.chars() {
                    self.step(c, sink);
                }
            }
            Some(fence) if self.held.ends_with('\n') => {
                if self.grammar.fenced && fence.may_hold_call() {
                    let header = std::mem::take(&mut self.held);
                    self.state = State::FencedCall(Box::new(FencedCall {
                        fence,
                        header,
                        body: String::new(),
                        line: FenceLine::default(),
                    }));
                } else {
                    self.let_go();
                    self.state = State::Fenced(fence, FenceLine::default());
                }
            }
            Some(_) => {}
        }
    }

    /// What was held back is text after all.
    fn let_go(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.say(&held);
    }

    fn say(&mut self, text: &str) {
        for c in text.chars() {
            self.say_char(c);
        }
    }

    fn say_char(&mut self, c: char) {
        self.line_start = c == '\n';
        match &mut self.after_call {
            Some(blanks) if c.is_whitespace() => blanks.push(c),
            _ => {
                if let Some(blanks) = self.after_call.take() {
                    self.text.push_str(&blanks);
                }
                self.text.push(c);
            }
        }
    }

    fn flush(&mut self, sink: &mut impl FnMut(Found<'_>)) {
        if !self.text.is_empty() {
            sink(Found::Text(&self.text));
            self.text.clear();
        }
    }
}
