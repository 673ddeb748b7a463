//! Every string of a value, with its location.

use serde_json::Value;

use super::found::Found;
use super::rules::{self, Subject};
use super::{neighbours, text, unicode};
use crate::pointer;

/// Strings of one value that are scanned.
const MAX_STRINGS: usize = 20_000;
/// Bytes of one string that are scanned for words; characters are looked at to the end.
const MAX_TEXT: usize = 256 * 1024;

/// What is found in a value, which is nested no deeper than JSON is parsed.
pub(super) fn scan(value: &Value, subject: Subject) -> Found {
    let mut walk = Walk {
        found: Found::default(),
        subject,
        left: MAX_STRINGS,
        place: String::new(),
    };
    walk.value(value);
    walk.found
}

struct Walk {
    found: Found,
    subject: Subject,
    /// Strings and names that may still be scanned.
    left: usize,
    /// Where the walk is: a JSON pointer.
    place: String,
}

impl Walk {
    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) if self.has_room() => self.string(text),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.below(
                        |place| pointer::push_item(place, at),
                        |walk| walk.value(item),
                    );
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    self.below(
                        |place| pointer::push_member(place, name),
                        |walk| walk.member(name, member),
                    );
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, name: &str, value: &Value) {
        if self.has_room() {
            unicode::name(name, &self.place, &mut self.found);
            self.value(value);
        }
    }

    /// Goes on at a place below this one.
    fn below(&mut self, step: impl FnOnce(&mut String), go_on: impl FnOnce(&mut Self)) {
        if self.left > 0 {
            let here = self.place.len();
            step(&mut self.place);
            go_on(self);
            self.place.truncate(here);
        }
    }

    /// Whether one more string may be scanned.
    fn has_room(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.unread("more strings than are scanned");
        }
        self.left > 0
    }

    fn unread(&mut self, what: &str) {
        let rule = match self.subject {
            Subject::Result => "long-result",
            Subject::Tool | Subject::Instructions => "too-much-text",
        };
        self.found.add(rule, &self.place, || what.to_owned());
    }

    fn string(&mut self, whole: &str) {
        if self.place == "/name" {
            unicode::name(whole, &self.place, &mut self.found);
        }
        unicode::text(whole, self.subject, &self.place, &mut self.found);
        let mut end = whole.len().min(MAX_TEXT);
        while !whole.is_char_boundary(end) {
            end -= 1;
        }
        let read = whole.get(..end).unwrap_or_default();
        if end < whole.len() {
            self.unread("a text longer than is scanned");
        }
        let words = text::words(read);
        for (rule, at) in rules::matches(read, &words, self.subject, &self.place) {
            self.found
                .add(rule, &self.place, || text::excerpt(read, at));
        }
        if self.subject != Subject::Result {
            for word in neighbours::mentions(&words) {
                let evidence = || text::excerpt(read, word.at);
                self.found.mention(&word.text, &self.place, evidence);
            }
        }
    }
}
