//! The tools of other servers, which a server should not refer to.

use std::collections::{BTreeMap, BTreeSet};

use super::found::Found;
use super::text::Word;
use super::unicode;

/// Words around another server's tool that make a sentence a command about it.
const COMMANDS: [&str; 16] = [
    "must",
    "always",
    "never",
    "instead",
    "whenever",
    "recipient",
    "before",
    "should",
    "replace",
    "override",
    "redirect",
    "bcc",
    "also",
    "intercept",
    "set",
    "forward",
];
/// How far away they may be, in words.
const NEAR: usize = 16;

/// The tool names of other servers.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// Names that are words of their own: `send_email`, not `search`.
    distinct: BTreeSet<String>,
    /// From what a name looks like to the names.
    looks: BTreeMap<String, BTreeSet<String>>,
}

impl Neighbours {
    /// Creates the set of other servers' tool names.
    pub fn new<N: AsRef<str>>(tools: impl IntoIterator<Item = N>) -> Self {
        let mut neighbours = Self::default();
        for tool in tools {
            let name = tool.as_ref();
            let looks = neighbours.looks.entry(look(name)).or_default();
            looks.insert(name.to_owned());
            let written = written(name);
            if written.contains('_') {
                neighbours.distinct.insert(written);
            }
        }
        neighbours
    }

    /// The same set without the names that the scanned server has itself: it may refer to its own tools, and others may
    /// have tools of the same name.
    #[must_use]
    pub fn without<N: AsRef<str>>(&self, own: impl IntoIterator<Item = N>) -> Self {
        let mut others = self.clone();
        for name in own {
            others.distinct.remove(&written(name.as_ref()));
        }
        others
    }

    /// The other server's tool that a name looks like without being the same.
    pub(super) fn look_alike(&self, name: &str) -> Option<&str> {
        let mut alike = self.looks.get(&look(name)).into_iter().flatten();
        // The same words with other signs between them are no disguise.
        let other = alike.find(|other| written(other) != written(name));
        other.map(String::as_str)
    }

    /// What was found, with the commands about other servers' tools.
    pub(super) fn commanded(&self, found: &Found) -> Found {
        let mut all = found.clone();
        for mention in &found.mentions {
            if self.distinct.contains(&mention.name) {
                all.add("other-servers-tool", &mention.place, || {
                    mention.evidence.clone()
                });
            }
        }
        all
    }
}

/// The names in a text that it commands something about, and where: words with a `_`, as names of tools
/// have and other words have not.
pub(super) fn mentions(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().enumerate().filter_map(|(at, word)| {
        if !word.text.contains('_') {
            return None;
        }
        let near = words.get(at.saturating_sub(NEAR)..(at + NEAR).min(words.len()))?;
        let is_commanded = near.iter().any(|it| COMMANDS.contains(&it.text.as_str()));
        is_commanded.then_some(word)
    })
}

/// A name as it is written, whatever signs are between its words.
fn written(name: &str) -> String {
    name.to_lowercase().replace(['-', '.', '/', ' '], "_")
}

/// What a name looks like: letters that are taken for each other are one.
fn look(name: &str) -> String {
    let seen = name.chars().filter(|c| !unicode::is_invisible(*c));
    let plain: String = seen
        .map(unicode::plain)
        .flat_map(char::to_lowercase)
        .collect();
    let plain = plain.replace("rn", "m").replace("vv", "w");
    let one = |c| match c {
        '0' => 'o',
        '1' | 'i' | '|' => 'l',
        '5' => 's',
        '-' | '.' => '_',
        other => other,
    };
    plain.chars().map(one).collect()
}
