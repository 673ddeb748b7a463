//! Every string of a value, with its location.

use serde_json::Value;

use super::neighbours::Neighbours;
use super::rules::{self, Subject};
use super::{Finding, text, unicode};

/// Strings of one value that are scanned.
const MAX_STRINGS: usize = 20_000;
/// Bytes of one string that are scanned for words; characters are looked at to the end.
const MAX_TEXT: usize = 256 * 1024;

pub(super) fn scan(value: &Value, subject: Subject, neighbours: &Neighbours) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut left = MAX_STRINGS;
    let mut next = vec![(String::new(), value)];
    while let Some((place, value)) = next.pop() {
        if left == 0 {
            found.push(rules::finding(
                "too-much-text",
                place,
                "more strings than are scanned",
            ));
            break;
        }
        match value {
            Value::String(text) => {
                left -= 1;
                string(text, &place, subject, neighbours, &mut found);
            }
            Value::Array(items) => next.extend(
                items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| (format!("{place}/{at}"), item)),
            ),
            Value::Object(members) => {
                for (name, member) in members {
                    let place = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
                    left = left.saturating_sub(1);
                    unicode::name(name, &place, &mut found);
                    next.push((place, member));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

fn string(
    whole: &str,
    place: &str,
    subject: Subject,
    neighbours: &Neighbours,
    found: &mut Vec<Finding>,
) {
    if place == "/name" {
        unicode::name(whole, place, found);
    }
    unicode::text(whole, place, found);
    let mut end = whole.len().min(MAX_TEXT);
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    let read = whole.get(..end).unwrap_or_default();
    if end < whole.len() {
        found.push(rules::finding(
            "too-much-text",
            place,
            "a text longer than is scanned",
        ));
    }
    let words = text::words(read);
    for (rule, at) in rules::matches(read, &words, subject, place) {
        found.push(rules::finding(rule, place, &text::excerpt(read, at)));
    }
    if let Some(at) = neighbours
        .commanded(&words)
        .filter(|_| subject != Subject::Result)
    {
        found.push(rules::finding(
            "other-servers-tool",
            place,
            &text::excerpt(read, at),
        ));
    }
}
