//! Phrases: groups of words in sequence, with other words between them.

use super::text::Word;

/// A phrase: one word of each group, in order, at most `gap` other words apart.
#[derive(Debug)]
pub(super) struct Phrase {
    pub(super) gap: usize,
    pub(super) groups: &'static [&'static [&'static str]],
}

impl Phrase {
    /// The words that it can begin with.
    pub(super) fn first_words(&self) -> &'static [&'static str] {
        self.groups.first().copied().unwrap_or_default()
    }

    /// Whether it goes on in these words, which follow a first word.
    pub(super) fn goes_on(&self, words: &[Word]) -> bool {
        follows(self.gap, words, self.groups.get(1..).unwrap_or_default())
    }
}

/// Whether the groups follow. Phrases have few groups and small gaps, which bounds this.
fn follows(gap: usize, words: &[Word], groups: &[&[&str]]) -> bool {
    let Some((group, rest)) = groups.split_first() else {
        return true;
    };
    (0..=gap).any(|skipped| {
        let word = words.get(skipped).map(|word| word.text.as_str());
        let is_found = word.is_some_and(|word| group.contains(&word));
        is_found && follows(gap, words.get(skipped + 1..).unwrap_or_default(), rest)
    })
}
