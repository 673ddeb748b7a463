//! Escaping of text from servers, models and foreign files, so that it is safe to show in a
//! terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;
use tool_policy::{is_bidi_control, is_hidden};

/// Whether a terminal would interpret this character: control characters, line separators, and
/// bidirectional marks.
pub(crate) fn is_obeyed(c: char) -> bool {
    c.is_control() || is_bidi_control(c)
}

/// Escapes a name, title or short text to one line: line breaks, everything a terminal would
/// interpret and everything that is not seen become escapes.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Escapes a text of several lines: line breaks become `\n`, and everything else a terminal would
/// interpret is replaced.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    let replaced = |c: char| is_obeyed(c) && c != '\n' && c != '\t';
    if !text.contains(replaced) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    Cow::Owned(text.replace(replaced, "\u{fffd}"))
}

/// JSON on one line: the same value, with escapes for what a terminal would interpret and for what
/// is not seen.
pub(crate) fn json(value: &Value) -> String {
    json_text(&value.to_string()).into_owned()
}

/// The same of a value that is written already.
pub(crate) fn json_text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            // All of them are in strings.
            true => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_stays_in_its_line_and_shows_what_it_hides() {
        assert_eq!(line("read — 日 😀"), "read — 日 😀");
        assert_eq!(
            line("read\n  {}\r\u{1b}[2J\u{202e}x\u{200b}\t"),
            "read\\n  {}\\r\\u{1b}[2J\\u{202e}x\\u{200b}\\t"
        );
    }

    #[test]
    fn a_text_keeps_its_lines_whatever_ends_them() {
        assert_eq!(text("a\tb\nc — 😀"), "a\tb\nc — 😀");
        assert_eq!(text("a\r\nb\r\n"), "a\nb\n");
        assert_eq!(text("\u{1b}[2Jhi\u{7}\r"), "\u{fffd}[2Jhi\u{fffd}\u{fffd}");
        assert_eq!(text("\u{202e}evil\u{9b}31m"), "\u{fffd}evil\u{fffd}31m");
    }

    #[test]
    fn json_shows_what_it_hides_and_stays_the_same_value() {
        let value = json!({"to\u{200b}": "a\u{202e}b\u{e0041}\n — 日 😀"});
        let written = json(&value);
        let shown = r#"{"to\u200b":"a\u202eb\udb40\udc41\n — 日 😀"}"#;
        assert_eq!(written, shown);
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
    }

    proptest! {
        #[test]
        fn nothing_that_is_obeyed_is_left(foreign in any::<String>()) {
            prop_assert!(!line(&foreign).contains(is_hidden));
            let text = text(&foreign);
            prop_assert!(!text.contains(|c| is_obeyed(c) && c != '\n' && c != '\t'));
            let value = json!({ foreign.as_str(): [foreign] });
            let written = json(&value);
            prop_assert!(!written.contains(is_hidden));
            prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
        }
    }
}
