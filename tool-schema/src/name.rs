//! Tool names that a provider accepts, and their originals.

use std::collections::HashMap;

/// The characters of a name: ASCII letters, optionally digits, and some marks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Alphabet {
    digits: bool,
    marks: &'static str,
}

impl Alphabet {
    /// Letters, digits, `_` and `-`.
    pub const WORD: Self = Self::letters_digits_and("_-");
    /// Letters, digits, `_`, `-` and `.`.
    pub const WORD_DOT: Self = Self::letters_digits_and("_-.");
    /// Letters, digits and `_`.
    pub const NAME: Self = Self::letters_digits_and("_");
    /// Letters and `_`.
    pub const NAME_START: Self = Self::letters_and("_");

    /// ASCII letters and `marks`.
    pub const fn letters_and(marks: &'static str) -> Self {
        Self {
            digits: false,
            marks,
        }
    }

    /// ASCII letters, digits and `marks`.
    pub const fn letters_digits_and(marks: &'static str) -> Self {
        Self {
            digits: true,
            marks,
        }
    }

    /// Whether `c` belongs to the alphabet.
    pub fn holds(&self, c: char) -> bool {
        c.is_ascii_alphabetic() || (self.digits && c.is_ascii_digit()) || self.marks.contains(c)
    }

    /// The replacement for characters outside the alphabet.
    pub(crate) fn filler(&self) -> char {
        if self.holds('_') { '_' } else { 'x' }
    }

    /// `c` in this alphabet. Digits stay distinct where there are none.
    pub(crate) fn spell(&self, c: char) -> char {
        match c {
            c if self.holds(c) => c,
            '0'..='9' => char::from(b'g'.wrapping_add((c as u8).wrapping_sub(b'0'))),
            _ => self.filler(),
        }
    }
}

/// The rule for valid names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NameRule {
    first: Alphabet,
    rest: Alphabet,
    max: usize,
}

impl NameRule {
    /// `[A-Za-z0-9_-]{1,64}`, the rule of most providers.
    pub const WORD_64: Self = Self::new(Alphabet::WORD, Alphabet::WORD, 64);
    /// `[A-Za-z_][A-Za-z0-9_.:-]{0,63}`; newer Gemini servers accept 128 characters.
    pub const GEMINI: Self = Self::new(
        Alphabet::NAME_START,
        Alphabet::letters_digits_and("_.:-"),
        64,
    );
    /// `[A-Za-z_][A-Za-z0-9_-]{0,62}`, legal everywhere.
    pub const PORTABLE: Self = Self::new(Alphabet::NAME_START, Alphabet::WORD, 63);

    /// Names of at most `max` characters (never fewer than 16), the first from `first`, the others from `rest`.
    pub const fn new(first: Alphabet, rest: Alphabet, max: usize) -> Self {
        Self {
            first,
            rest,
            max: if max < 16 { 16 } else { max },
        }
    }

    /// Whether `name` is valid unchanged.
    pub fn allows(&self, name: &str) -> bool {
        let mut chars = name.chars();
        chars.next().is_some_and(|c| self.first.holds(c))
            && chars.all(|c| self.rest.holds(c))
            && name.len() <= self.max
    }

    /// Returns `name` if it is valid; else a valid name derived from it, with a hash of `name` at its end so that
    /// different names stay different.
    pub fn fit(&self, name: &str) -> String {
        if self.allows(name) {
            name.to_owned()
        } else {
            self.marked(name, name)
        }
    }

    /// A valid name that starts like `name` and ends in a hash of `seed`.
    fn marked(&self, name: &str, seed: &str) -> String {
        let mut legal = String::new();
        for c in name.chars() {
            let c = self.rest.spell(c);
            if legal.is_empty() && !self.first.holds(c) {
                legal.push(self.first.filler());
            }
            // Runs of replaced characters carry no information.
            if c != '_' || !legal.ends_with('_') {
                legal.push(c);
            }
        }
        legal.truncate(self.max.saturating_sub(9));
        let stem = legal.trim_end_matches('_');
        let stem = if stem.is_empty() { "tool" } else { stem };
        let hash = format!("_{:08x}", hash(seed));
        let hash = hash.chars().map(|c| self.rest.spell(c));
        stem.chars().chain(hash).collect()
    }
}

/// FNV-1a, folded: the same on every machine and in every release.
fn hash(text: &str) -> u32 {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let folded = (state >> 32) ^ (state & 0xffff_ffff);
    u32::try_from(folded).unwrap_or_default()
}

/// The names of a list of tools as seen by a provider.
///
/// The mapping is bijective: valid names are unchanged, the others are changed, and every tool can be called. The
/// reverse mapping is a lookup; names are never parsed.
#[derive(Clone, Debug)]
pub struct Names {
    exposed: Vec<String>,
    index: HashMap<String, usize>,
    renamed: Vec<usize>,
}

impl Names {
    /// Creates valid, distinct names for `names`, in order.
    pub fn new<'n>(rule: NameRule, names: impl IntoIterator<Item = &'n str>) -> Self {
        let originals: Vec<&str> = names.into_iter().collect();
        let mut exposed: Vec<Option<String>> = vec![None; originals.len()];
        let mut index = HashMap::new();
        // Valid names first: no changed name may take theirs.
        for (position, name) in originals.iter().enumerate() {
            if rule.allows(name) && !index.contains_key(*name) {
                index.insert((*name).to_owned(), position);
                if let Some(slot) = exposed.get_mut(position) {
                    *slot = Some((*name).to_owned());
                }
            }
        }
        let mut renamed = Vec::new();
        for (position, name) in originals.iter().enumerate() {
            let Some(slot @ None) = exposed.get_mut(position) else {
                continue;
            };
            let mut seed = (*name).to_owned();
            let mut candidate = rule.marked(name, &seed);
            let mut round = 1_u32;
            while index.contains_key(&candidate) {
                round += 1;
                seed = format!("{name}#{round}");
                candidate = rule.marked(name, &seed);
            }
            index.insert(candidate.clone(), position);
            *slot = Some(candidate);
            renamed.push(position);
        }
        Self {
            exposed: exposed.into_iter().flatten().collect(),
            index,
            renamed,
        }
    }

    /// The name of the tool at `position`, as the provider sees it.
    pub fn exposed(&self, position: usize) -> Option<&str> {
        self.exposed.get(position).map(String::as_str)
    }

    /// The position of the tool the provider calls `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// The positions of the tools whose names had to change.
    pub fn renamed(&self) -> &[usize] {
        &self.renamed
    }
}
