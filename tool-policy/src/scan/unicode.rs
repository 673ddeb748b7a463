//! Deceptive characters.

use super::found::Found;
use super::rules::Subject;
use super::text;

/// The longest list of colours that is one, in bytes.
const MAX_COLOUR: usize = 64;

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
pub(super) fn name(name: &str, place: &str, found: &mut Found) {
    if mixes_scripts(name) {
        found.add("look-alike-letters", place, || text::excerpt(name, 0));
    }
    if name.chars().any(is_invisible) {
        found.add("hidden-text", place, || text::excerpt(name, 0));
    }
}

/// Any text. Each rule is found once, where it is first broken.
pub(super) fn text(whole: &str, subject: Subject, place: &str, found: &mut Found) {
    let mut first: Vec<(&'static str, usize)> = Vec::new();
    let mut add = |rule, at| {
        if !first.iter().any(|(known, _)| *known == rule) {
            first.push((rule, at));
        }
    };
    let mut before = None;
    let mut is_flag = false;
    let mut run = Run::default();
    for (at, c) in whole.char_indices() {
        if run.hides(before, c) {
            add("hidden-text", at);
        }
        let after = || whole.get(at + c.len_utf8()..).unwrap_or_default();
        match c {
            // A black flag with tags is a flag of a region.
            '\u{e0000}'..='\u{e007f}' if is_flag => {}
            '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}' => add("hidden-text", at),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => add("reversed-text", at),
            '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2064}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{00ad}'
            | '\u{180e}'
                if before.is_some_and(|it: char| it.is_ascii_alphabetic())
                    && after().starts_with(|c: char| c.is_ascii_alphabetic()) =>
            {
                add("divided-words", at);
            }
            // Results are what programs print, and many print in colours.
            '\u{1b}' if subject == Subject::Result && is_colour(after()) => {
                add("terminal-colour", at);
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
        at += word.len();
        let sign = whole.get(at..).and_then(|rest| rest.chars().next());
        at += sign.map_or(0, char::len_utf8);
    }
    for (rule, at) in first {
        found.add(rule, place, || text::excerpt(whole, at));
    }
}

/// Characters without width that follow each other, by which data is hidden: two of them, where no emoji
/// is made of them, have no other use.
#[derive(Debug, Default)]
struct Run {
    length: usize,
    /// Whether the characters so far may be part of an emoji.
    is_emoji: bool,
}

impl Run {
    /// Whether this character makes a run of two or more.
    fn hides(&mut self, before: Option<char>, c: char) -> bool {
        let is_selector = matches!(c, '\u{fe00}'..='\u{fe0f}');
        let has_no_width = is_selector
            || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
        if !has_no_width {
            *self = Self::default();
            return false;
        }
        if self.length == 0 {
            self.is_emoji = before.is_some_and(is_symbol);
        }
        // A symbol, its form, and a joiner to the next one.
        self.is_emoji &= match before {
            Some('\u{fe0e}' | '\u{fe0f}') => c == '\u{200d}' && self.length == 1,
            _ => self.length == 0 && (is_selector || c == '\u{200d}'),
        };
        self.length += 1;
        self.length >= 2 && !self.is_emoji
    }
}

/// Whether a character can begin an emoji: neither a letter nor a sign of ASCII.
fn is_symbol(c: char) -> bool {
    c > '\u{a8}' && !c.is_alphanumeric() && !is_invisible(c)
}

/// Whether what follows an escape character only sets colours and weights, and hides nothing.
fn is_colour(after: &str) -> bool {
    let Some(rest) = after.strip_prefix('[') else {
        return false;
    };
    let is_part = |b: &u8| b.is_ascii_digit() || matches!(b, b';' | b':');
    let length = rest.bytes().take_while(is_part).count();
    let Some((numbers, end)) = rest.split_at_checked(length.min(MAX_COLOUR)) else {
        return false;
    };
    let mut numbers = numbers.split([';', ':']);
    while let Some(number) = numbers.next() {
        let skipped = match (number, number == "38" || number == "48") {
            // Concealed.
            ("8" | "08", _) => return false,
            // A colour: one number by its kind, or three.
            (_, true) => match numbers.next() {
                Some("5") => 1,
                Some("2") => 3,
                _ => 0,
            },
            _ => 0,
        };
        for _ in 0..skipped {
            numbers.next();
        }
    }
    end.starts_with('m')
}
