//! Words as seen by a reader, and excerpts that are safe to show.

use super::unicode;

/// Bytes of an excerpt on each side of what was found.
const AROUND: usize = 60;

/// A word in lower case, with look-alike letters as the Latin ones, and where it begins.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) at: usize,
}

/// The words of a text. Characters that are not seen do not divide a word, nor do apostrophes and colours
/// of a terminal.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = Word {
        text: String::new(),
        at: 0,
    };
    let mut before = '\0';
    let mut is_control = false;
    for (at, c) in text.char_indices() {
        is_control = is_control || before == '\u{1b}' && c == '[';
        before = c;
        if is_control {
            is_control = !matches!(c, '@'..='Z' | '\\'..='~');
            continue;
        }
        if c == '\u{1b}' || unicode::is_invisible(c) || matches!(c, '\'' | '’') {
            continue;
        }
        if c.is_alphanumeric() || c == '_' {
            if word.text.is_empty() {
                word.at = at;
            }
            word.text.extend(unicode::plain(c).to_lowercase());
        } else if !word.text.is_empty() {
            words.push(word.clone());
            word.text.clear();
        }
    }
    if !word.text.is_empty() {
        words.push(word);
    }
    words
}

/// What surrounds a place, escaped.
pub(super) fn excerpt(text: &str, at: usize) -> String {
    let mut start = at.saturating_sub(AROUND / 2).min(text.len());
    let mut end = at.saturating_add(AROUND + AROUND / 2).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut shown = String::new();
    for c in text.get(start..end).unwrap_or_default().chars() {
        match c {
            '\n' => shown.push(' '),
            c => push_visible(&mut shown, c),
        }
    }
    shown.trim().to_owned()
}

/// Adds a character so that it is seen: escaped if it is not, and no line is broken.
pub(crate) fn push_visible(shown: &mut String, c: char) {
    let has_no_width = unicode::is_invisible(c) || matches!(c, '\u{fe00}'..='\u{fe0f}');
    match c {
        '\n' => shown.push('↵'),
        c if has_no_width || c.is_control() => shown.extend(c.escape_unicode()),
        c => shown.push(c),
    }
}
