//! Text from outside, made safe for a terminal.

use std::borrow::Cow;

/// The text without what a terminal would obey: control characters other than tabs and line
/// breaks, and marks that reverse the direction of writing.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    match text.contains(obeyed) {
        true => Cow::Owned(text.replace(obeyed, "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_told_nothing_but_text() {
        assert_eq!(clean("a\tb\nc — 😀"), "a\tb\nc — 😀");
        assert_eq!(clean("\u{1b}[2Jhi\u{7}\r"), "\u{fffd}[2Jhi\u{fffd}\u{fffd}");
        assert_eq!(clean("\u{202e}evil"), "\u{fffd}evil");
        assert_eq!(clean("\u{9b}31m"), "\u{fffd}31m");
    }
}
