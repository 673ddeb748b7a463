//! The tools of other servers, which a server should not refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
    index: Arc<Index>,
    /// The server that is scanned, if its tools are in the index.
    own: Option<usize>,
    /// More names that it has, as they are written.
    without: BTreeSet<String>,
}

/// The names of all servers' tools, and whose they are.
#[derive(Debug, Default)]
struct Index {
    servers: BTreeMap<String, usize>,
    /// Names that are words of their own: `send_email`, not `search`.
    distinct: BTreeMap<String, Owners>,
    /// From what a name looks like to the names.
    looks: BTreeMap<String, BTreeMap<String, Owners>>,
}

/// Who has a name.
#[derive(Debug, Default)]
struct Owners(BTreeSet<usize>);

impl Owners {
    fn has(&self, server: Option<usize>) -> bool {
        server.is_some_and(|server| self.0.contains(&server))
    }

    /// Whether anyone but this server is one.
    fn others(&self, server: Option<usize>) -> bool {
        self.0.len() > usize::from(self.has(server))
    }
}

impl Neighbours {
    /// Creates the set of other servers' tool names.
    pub fn new<N: AsRef<str>>(tools: impl IntoIterator<Item = N>) -> Self {
        Self::of_all(tools.into_iter().map(|tool| ("", tool)))
    }

    /// Indexes the tools of all servers, as pairs of a server and a tool, for a view of [each](Self::of).
    pub fn of_all<S: AsRef<str>, N: AsRef<str>>(tools: impl IntoIterator<Item = (S, N)>) -> Self {
        let mut index = Index::default();
        for (server, tool) in tools {
            let (server, name) = (server.as_ref(), tool.as_ref());
            let next = index.servers.len();
            let owner = match index.servers.get(server) {
                Some(owner) => *owner,
                None => *index.servers.entry(server.to_owned()).or_insert(next),
            };
            let looks = index.looks.entry(look(name)).or_default();
            looks.entry(name.to_owned()).or_default().0.insert(owner);
            let written = written(name);
            if written.contains('_') {
                index.distinct.entry(written).or_default().0.insert(owner);
            }
        }
        Self {
            index: Arc::new(index),
            ..Self::default()
        }
    }

    /// The other servers' tools, seen from this server: it may refer to its own tools, and others may have tools of the
    /// same name. Cheap: the index is shared.
    #[must_use]
    pub fn of(&self, server: &str) -> Self {
        Self {
            own: self.index.servers.get(server).copied(),
            ..self.clone()
        }
    }

    /// The same set without the names that the scanned server has itself.
    #[must_use]
    pub fn without<N: AsRef<str>>(&self, own: impl IntoIterator<Item = N>) -> Self {
        let mut others = self.clone();
        let own = own.into_iter().map(|name| written(name.as_ref()));
        others.without.extend(own);
        others
    }

    /// Whether others have this name, and the scanned server has not.
    fn is_distinct(&self, name: &str) -> bool {
        let owners = self.index.distinct.get(name);
        owners.is_some_and(|owners| owners.others(self.own) && !owners.has(self.own))
            && !self.without.contains(name)
    }

    /// The other server's tool that a name looks like without being the same.
    pub(super) fn look_alike(&self, name: &str) -> Option<&str> {
        let mut alike = self.index.looks.get(&look(name)).into_iter().flatten();
        // The same words with other signs between them are no disguise.
        let is_other = |(other, owners): &(&String, &Owners)| {
            owners.others(self.own) && written(other) != written(name)
        };
        alike.find(is_other).map(|(other, _)| other.as_str())
    }

    /// What was found, with the commands about other servers' tools.
    pub(super) fn commanded(&self, found: &Found) -> Found {
        let mut all = found.clone();
        for mention in &found.mentions {
            if self.is_distinct(&mention.name) {
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
