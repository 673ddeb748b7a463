//! Keys, and how a terminal's bytes become keys.

use crate::chat::edit::LONGEST;

/// The longest escape sequence that is waited for.
const SEQUENCE: usize = 32;
/// The end of pasted text.
const PASTE_END: &[u8] = b"\x1b[201~";

/// What a person did on the keyboard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Key {
    Char(char),
    /// Pasted text: its line breaks do not submit it.
    Paste(String),
    /// Pasted text that is too long to take.
    LongPaste,
    Enter,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    WordLeft,
    WordRight,
    Home,
    End,
    KillWord,
    KillToStart,
    KillToEnd,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    Eof,
    /// Ctrl-Z.
    Suspend,
}

/// Reads keys out of the bytes of a terminal, wherever those are cut.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pending: Vec<u8>,
    paste: Option<Paste>,
}

#[derive(Debug, Default)]
struct Paste {
    bytes: Vec<u8>,
    too_long: bool,
}

impl Paste {
    /// The key, once the text has come to its end.
    fn push(&mut self, byte: u8) -> Option<Key> {
        self.bytes.push(byte);
        if self.bytes.len() > LONGEST + PASTE_END.len() {
            let begun = self.bytes.len() - PASTE_END.len();
            self.bytes.drain(..begun);
            self.too_long = true;
        }
        let text = self.bytes.strip_suffix(PASTE_END)?;
        if self.too_long {
            return Some(Key::LongPaste);
        }
        let text = String::from_utf8_lossy(text);
        Some(Key::Paste(text.replace("\r\n", "\n").replace('\r', "\n")))
    }
}

impl Keys {
    /// Whether text is being pasted whose end has not come yet.
    pub(crate) fn in_paste(&self) -> bool {
        self.paste.is_some()
    }

    /// The keys that these bytes complete. Sequences that mean nothing to us are dropped.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        for byte in bytes {
            if let Some(paste) = &mut self.paste {
                if let Some(key) = paste.push(*byte) {
                    keys.push(key);
                    self.paste = None;
                }
                continue;
            }
            self.pending.push(*byte);
            match decode(&self.pending) {
                Decoded::More if self.pending.len() < SEQUENCE => continue,
                Decoded::More | Decoded::Nothing => {}
                Decoded::Key(key) => keys.push(key),
                Decoded::PasteStart => self.paste = Some(Paste::default()),
            }
            self.pending.clear();
        }
        keys
    }
}

#[derive(Debug)]
enum Decoded {
    /// It is not complete.
    More,
    Key(Key),
    PasteStart,
    /// It means nothing to us.
    Nothing,
}

fn decode(bytes: &[u8]) -> Decoded {
    let key = match bytes {
        [b'\r' | b'\n'] => Key::Enter,
        [0x7f | 0x08] => Key::Backspace,
        [0x01] => Key::Home,
        [0x02] => Key::Left,
        [0x03] => Key::Interrupt,
        [0x04] => Key::Eof,
        [0x05] => Key::End,
        [0x06] => Key::Right,
        [b'\t'] => Key::Tab,
        [0x0b] => Key::KillToEnd,
        [0x0e] => Key::Down,
        [0x10] => Key::Up,
        [0x15] => Key::KillToStart,
        [0x17] => Key::KillWord,
        [0x1a] => Key::Suspend,
        [0x1b] => return Decoded::More,
        [0x1b, rest @ ..] => return escape(rest),
        [..0x20] => return Decoded::Nothing,
        text => return character(text),
    };
    Decoded::Key(key)
}

fn escape(rest: &[u8]) -> Decoded {
    let key = match rest {
        // Escape twice is Escape and the beginning of something.
        [0x1b] => return Decoded::More,
        [0x1b, rest @ ..] => return escape(rest),
        [b'[' | b'O'] => return Decoded::More,
        [b'[' | b'O', parameters @ .., last] => match (parameters, last) {
            (_, 0x20..=0x3f) => return Decoded::More,
            (b"200", b'~') => return Decoded::PasteStart,
            (b"1;5" | b"1;3", b'D') => Key::WordLeft,
            (b"1;5" | b"1;3", b'C') => Key::WordRight,
            (_, b'A') => Key::Up,
            (_, b'B') => Key::Down,
            (_, b'C') => Key::Right,
            (_, b'D') => Key::Left,
            (_, b'H') | (b"1" | b"7", b'~') => Key::Home,
            (_, b'F') | (b"4" | b"8", b'~') => Key::End,
            (b"3", b'~') => Key::Delete,
            _ => return Decoded::Nothing,
        },
        [b'b'] => Key::WordLeft,
        [b'f'] => Key::WordRight,
        [0x7f | 0x08] => Key::KillWord,
        [b'\r' | b'\n'] => Key::Char('\n'),
        _ => return Decoded::Nothing,
    };
    Decoded::Key(key)
}

fn character(bytes: &[u8]) -> Decoded {
    match std::str::from_utf8(bytes) {
        Ok(text) => match text.chars().next().filter(|char| !char.is_control()) {
            Some(char) => Decoded::Key(Key::Char(char)),
            None => Decoded::Nothing,
        },
        Err(error) if error.error_len().is_none() => Decoded::More,
        Err(_) => Decoded::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_are_keys_and_what_is_unknown_is_dropped() {
        let keys = |bytes: &[u8]| Keys::default().push(bytes);
        assert_eq!(
            keys("aé\r".as_bytes()),
            [Key::Char('a'), Key::Char('é'), Key::Enter]
        );
        assert_eq!(
            keys(b"\x1b[D\x1bOC\x1b[1;5D\x1b[3~"),
            [Key::Left, Key::Right, Key::WordLeft, Key::Delete]
        );
        assert_eq!(keys(b"\x1b[24~\x1b[?1;2c\xffz"), [Key::Char('z')]);
        assert_eq!(keys(b"\x1b\r"), [Key::Char('\n')]);
        let long = [b"\x1b[200~", &[b'x'; LONGEST + 9][..], PASTE_END, b"y"].concat();
        assert_eq!(keys(&long), [Key::LongPaste, Key::Char('y')]);
        assert_eq!(
            keys(b"\x1b[200~y\ry\r\n\x1b[201~!"),
            [Key::Paste("y\ny\n".to_owned()), Key::Char('!')]
        );
    }

    proptest! {
        #[test]
        fn where_bytes_are_cut_makes_no_difference(
            pieces in prop::collection::vec(prop_oneof![
                "[a-zé€😀\\r]{1,4}".prop_map(String::into_bytes),
                Just(b"\x1b[D".to_vec()),
                Just(b"\x1b[200~a\rb\x1b[201~".to_vec()),
                Just(b"\x1b[1;5C".to_vec()),
            ], 0..12),
            cut in 1usize..7,
        ) {
            let bytes = pieces.concat();
            let whole = Keys::default().push(&bytes);
            let mut keys = Keys::default();
            let cut: Vec<Key> = bytes.chunks(cut).flat_map(|piece| keys.push(piece)).collect();
            prop_assert_eq!(whole, cut);
            prop_assert!(!keys.in_paste());
        }
    }
}
