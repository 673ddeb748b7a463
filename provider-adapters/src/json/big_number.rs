//! Preserves the digits of large numbers when JSON is parsed and serialized again.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

/// Parses `text`, applies `change`, and serialises the result with the original digits, even of
/// numbers that do not fit a machine type.
///
/// A number that does not survive parsing is recognised by its parsed form. Where that form appears
/// in the changed JSON, the original spelling is restored.
pub(crate) fn rewrite(text: &str, change: impl FnOnce(Value) -> Value) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut lost: BTreeMap<String, VecDeque<&str>> = BTreeMap::new();
    for number in numbers(text) {
        let read = serde_json::from_str::<Value>(number).ok()?.to_string();
        if read != number {
            lost.entry(read).or_default().push_back(number);
        }
    }
    let changed = change(value).to_string();
    if lost.is_empty() {
        return Some(changed);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for number in numbers(&changed) {
        let at = number.as_ptr().addr() - changed.as_ptr().addr();
        let Some(spelling) = lost.get_mut(number).and_then(VecDeque::pop_front) else {
            continue;
        };
        out.push_str(changed.get(from..at)?);
        out.push_str(spelling);
        from = at + number.len();
    }
    out.push_str(changed.get(from..)?);
    Some(out)
}

/// The numbers in JSON text, in order.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
            let from = rest.get(at..)?;
            if let Some(string) = from.strip_prefix('"') {
                rest = after_string(string);
                continue;
            }
            let part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
            let end = from.find(|c| !part(c)).unwrap_or(from.len());
            let (number, after) = from.split_at(end);
            rest = after;
            return Some(number);
        }
    })
}

/// What follows the string whose inside `text` starts with.
fn after_string(text: &str) -> &str {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return text.get(at + 1..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_keep_their_digits_through_a_change() {
        let text = r#"{"a":12345678901234567890123,"b":[1.50,"9 1.50"],"c":null,"d":0.1e1,"e":2}"#;
        let out = rewrite(text, |mut value| {
            value.as_object_mut().unwrap().shift_remove("c");
            value
        });
        let want = r#"{"a":12345678901234567890123,"b":[1.50,"9 1.50"],"d":0.1e1,"e":2}"#;
        assert_eq!(out.as_deref(), Some(want));
    }
}
