//! Plain text as a wire: for a model's text without a wire around it.

use crate::adapter::decoder::{Decoder, Expected};
use crate::adapter::reply_builder::{ReplyBuilder, TextKind};
use crate::adapter::text_piece::TextPiece;
use crate::reply::Reply;
use crate::reply::event::ReplyEvent;
use crate::reply::stop::StopReason;

/// Reads UTF-8 text, cut anywhere: what a model says when no wire is wrapped around it.
#[derive(Debug)]
pub(crate) struct PlainText {
    turn: ReplyBuilder,
    /// The start of a character whose end has not come yet.
    rest: Vec<u8>,
}

impl PlainText {
    pub(crate) fn new(expected: Expected) -> Self {
        Self {
            turn: ReplyBuilder::new(expected),
            rest: Vec::new(),
        }
    }
}

impl Decoder for PlainText {
    fn push(&mut self, bytes: &[u8], events: &mut Vec<ReplyEvent>) {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let rest = self.rest.split_off(whole);
        let text = std::mem::replace(&mut self.rest, rest);
        std::mem::swap(&mut self.turn.events, events);
        self.turn
            .say(TextKind::Text, &TextPiece::from_bytes(text.into()));
        std::mem::swap(&mut self.turn.events, events);
    }

    fn is_done(&self) -> bool {
        false
    }

    fn finish(mut self: Box<Self>, events: &mut Vec<ReplyEvent>) -> Reply {
        std::mem::swap(&mut self.turn.events, events);
        let rest = std::mem::take(&mut self.rest);
        self.turn
            .say(TextKind::Text, &TextPiece::from_bytes(rest.into()));
        self.turn.stop(StopReason::End, "end");
        let reply = self.turn.finish();
        std::mem::swap(&mut self.turn.events, events);
        reply
    }
}
