//! Characters that are not what they seem.

use super::{Finding, rules, text};

/// Whether a character is hidden, other than a control character.
pub(super) fn is_invisible(c: char) -> bool {
    crate::is_hidden(c) && !c.is_control()
}

/// The Latin letter or digit that a letter of another script looks like; itself if there is none.
pub(super) fn plain(c: char) -> char {
    match c {
        'а' | 'α' | 'ɑ' => 'a',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'с' | 'ϲ' => 'c',
        'С' => 'C',
        'ԁ' => 'd',
        'е' | 'ҽ' => 'e',
        'Е' | 'Ε' => 'E',
        'һ' => 'h',
        'Н' | 'Η' => 'H',
        'і' | 'ι' | 'ı' => 'i',
        'І' | 'Ι' => 'I',
        'ј' => 'j',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'Ν' => 'N',
        'о' | 'ο' | 'օ' => 'o',
        'О' | 'Ο' => 'O',
        'р' | 'ρ' => 'p',
        'Р' | 'Ρ' => 'P',
        'ѕ' => 's',
        'Т' | 'Τ' => 'T',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'Х' | 'Χ' => 'X',
        'у' => 'y',
        'Υ' => 'Y',
        // Full-width forms.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        other => other,
    }
}

/// Whether letters of Latin and of a script that looks like it are in one word.
fn mixes_scripts(word: &str) -> bool {
    let is_other = |c: char| matches!(c, '\u{370}'..='\u{52f}') && plain(c) != c;
    let has_latin = word.chars().any(|c| c.is_ascii_alphabetic());
    has_latin && word.chars().any(is_other)
}

/// A name of a tool, or of a member.
pub(super) fn name(name: &str, place: &str, found: &mut Vec<Finding>) {
    if mixes_scripts(name) {
        found.push(rules::finding(
            "look-alike-letters",
            place,
            &text::excerpt(name, 0),
        ));
    }
    if name.chars().any(is_invisible) {
        found.push(rules::finding(
            "hidden-text",
            place,
            &text::excerpt(name, 0),
        ));
    }
}

/// Any text.
pub(super) fn text(whole: &str, place: &str, found: &mut Vec<Finding>) {
    let mut add = |rule, at| found.push(rules::finding(rule, place, &text::excerpt(whole, at)));
    let mut before = None;
    let mut is_flag = false;
    for (at, c) in whole.char_indices() {
        match c {
            // A black flag with tags is a flag of a region.
            '\u{e0000}'..='\u{e007f}' if is_flag => {}
            '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}' => add("hidden-text", at),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => add("reversed-text", at),
            '\u{200b}'
            | '\u{200c}'
            | '\u{200d}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{00ad}'
            | '\u{180e}'
                if before.is_some_and(|it: char| it.is_ascii_alphabetic())
                    && whole
                        .get(at + c.len_utf8()..)
                        .is_some_and(starts_with_letter) =>
            {
                add("divided-words", at);
            }
            '\u{1b}' | '\u{9b}' => add("terminal-control", at),
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}' => {
                add("control-characters", at);
            }
            _ => {}
        }
        is_flag = c == '\u{1f3f4}' || is_flag && matches!(c, '\u{e0020}'..='\u{e007e}');
        before = Some(c);
    }
    let mut at = 0;
    for word in whole.split(|c: char| !c.is_alphanumeric()) {
        if mixes_scripts(word) {
            add("look-alike-letters", at);
            break;
        }
        at += word.len()
            + whole
                .get(at + word.len()..)
                .and_then(|it| it.chars().next())
                .map_or(0, char::len_utf8);
    }
}

fn starts_with_letter(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}
