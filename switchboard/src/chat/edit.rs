//! A line that is being typed: its text, its cursor, and what each key does to it.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::chat::key::Key;

/// The longest text that can be typed, in bytes.
pub(crate) const LONGEST: usize = 1 << 20;

/// A line that is being typed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Edit {
    text: String,
    /// A place between two characters, in bytes.
    cursor: usize,
}

impl Edit {
    /// A text with the cursor at its end.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let cursor = text.len();
        Self { text, cursor }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Hands the text over and begins anew.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(self).text
    }

    /// Applies a key that edits; whether it changed anything.
    pub(crate) fn apply(&mut self, key: &Key) -> bool {
        let before = (self.text.len(), self.cursor);
        match key {
            Key::Char(char) => self.insert(char.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.insert(text),
            Key::Left => self.cursor = self.left(),
            Key::Right => self.cursor = self.right(),
            Key::WordLeft => self.cursor = self.word_left(),
            Key::WordRight => self.cursor = self.word_right(),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.text.len(),
            Key::Backspace => self.remove(self.left(), self.cursor),
            Key::Delete => self.remove(self.cursor, self.right()),
            Key::KillWord => self.remove(self.word_left(), self.cursor),
            Key::KillToStart => self.remove(0, self.cursor),
            Key::KillToEnd => self.remove(self.cursor, self.text.len()),
            _ => {}
        }
        before != (self.text.len(), self.cursor)
    }

    fn insert(&mut self, text: &str) {
        if self.text.len() + text.len() <= LONGEST {
            self.text.insert_str(self.cursor, text);
            self.cursor += text.len();
        }
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    fn left(&self) -> usize {
        let last = self.before().graphemes(true).next_back();
        self.cursor - last.map_or(0, str::len)
    }

    fn right(&self) -> usize {
        self.cursor + self.after().graphemes(true).next().map_or(0, str::len)
    }

    fn word_left(&self) -> usize {
        let trimmed = self.before().trim_end();
        let word = trimmed.rsplit(char::is_whitespace).next();
        trimmed.len() - word.map_or(0, str::len)
    }

    fn word_right(&self) -> usize {
        let after = self.after();
        let spaces = after.len() - after.trim_start().len();
        let rest = after.trim_start();
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.cursor + spaces + word
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(keys: &[Key]) -> Edit {
        let mut edit = Edit::default();
        for key in keys {
            edit.apply(key);
        }
        edit
    }

    #[test]
    fn keys_edit_by_what_looks_like_one_character() {
        let family = "👩‍👩‍👧";
        let edit = typed(&[Key::Paste(format!("a{family}b")), Key::Left, Key::Backspace]);
        assert_eq!((edit.text(), edit.cursor()), ("ab", 1));
        let words = Key::Paste("one two  three".to_owned());
        let edit = typed(&[words.clone(), Key::KillWord, Key::KillWord]);
        assert_eq!(edit.text(), "one ");
        let edit = typed(&[words.clone(), Key::Home, Key::WordRight, Key::KillToEnd]);
        assert_eq!(edit.text(), "one");
        let edit = typed(&[words, Key::WordLeft, Key::KillToStart, Key::Delete]);
        assert_eq!(edit.text(), "hree");
    }

    fn key() -> impl Strategy<Value = Key> {
        prop_oneof![
            any::<char>().prop_map(Key::Char),
            "\\PC{0,6}".prop_map(Key::Paste),
            Just(Key::Left),
            Just(Key::Right),
            Just(Key::WordLeft),
            Just(Key::WordRight),
            Just(Key::Home),
            Just(Key::End),
            Just(Key::Backspace),
            Just(Key::Delete),
            Just(Key::KillWord),
            Just(Key::KillToStart),
            Just(Key::KillToEnd),
        ]
    }

    proptest! {
        #[test]
        fn the_cursor_is_always_between_two_characters(keys in prop::collection::vec(key(), 0..40)) {
            let mut edit = Edit::default();
            for key in &keys {
                edit.apply(key);
                prop_assert!(edit.text().is_char_boundary(edit.cursor()));
            }
        }
    }
}
