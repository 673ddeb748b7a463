//! Finds the tool call of a fragment, on servers that number and identify their calls badly.

use crate::adapter::reply_builder::{PartIndex, ReplyBuilder};
use crate::adapter::text_piece::TextPiece;

/// A fragment of a tool call. Blank ids and names are `None`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment<'a> {
    pub(crate) index: Option<i64>,
    pub(crate) id: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) arguments: &'a TextPiece<'a>,
}

/// Where a fragment belongs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Home {
    /// An existing call.
    Known(PartIndex),
    /// A call that starts with it.
    New,
    /// Ambiguous.
    Ambiguous,
}

/// The calls seen so far.
#[derive(Debug, Default)]
pub(crate) struct Resolver {
    calls: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    slot: PartIndex,
    index: Option<i64>,
    id: Option<String>,
}

impl Resolver {
    /// Finds the call `fragment` belongs to. An index is only a key: it may start anywhere, be
    /// missing, or be the same for all calls. An id may come late, repeat, or never come.
    pub(crate) fn resolve(&mut self, fragment: &Fragment<'_>, turn: &ReplyBuilder) -> Home {
        match fragment.id {
            Some(id) => self.by_id(id, fragment, turn),
            None => self.by_place(fragment, turn),
        }
    }

    /// Remembers a call that began with `fragment`.
    pub(crate) fn opened(&mut self, slot: PartIndex, fragment: &Fragment<'_>) {
        let id = fragment.id.map(str::to_owned);
        self.calls.push(Seen {
            slot,
            index: fragment.index,
            id,
        });
    }

    /// The calls before the newest one.
    pub(crate) fn earlier(&self) -> impl Iterator<Item = PartIndex> {
        let all = self.calls.len().saturating_sub(1);
        self.calls.iter().take(all).map(|seen| seen.slot)
    }

    /// All calls.
    pub(crate) fn all(&self) -> impl Iterator<Item = PartIndex> {
        self.calls.iter().map(|seen| seen.slot)
    }

    fn by_id(&mut self, id: &str, fragment: &Fragment<'_>, turn: &ReplyBuilder) -> Home {
        let index = fragment.index;
        let same = |seen: &&Seen| {
            let same_place = index.is_none() || seen.index.is_none() || seen.index == index;
            seen.id.as_deref() == Some(id) && same_place
        };
        if let Some(seen) = self.calls.iter().rev().find(same) {
            return Home::Known(seen.slot);
        }
        // The id of a call that came without one.
        let nameless = |seen: &&mut Seen| seen.id.is_none() && seen.index == index;
        if let Some(seen) = self.calls.iter_mut().rev().find(nameless)
            && is_open(seen.slot, turn)
            && !begins_another(seen.slot, fragment, turn)
        {
            seen.id = Some(id.to_owned());
            return Home::Known(seen.slot);
        }
        // A new id without a tool's name begins nothing if there is something to go on with.
        match fragment.name {
            Some(_) => Home::New,
            None => match self.by_place(fragment, turn) {
                Home::Known(slot) if !is_whole(slot, turn) => Home::Known(slot),
                _ => Home::New,
            },
        }
    }

    fn by_place(&self, fragment: &Fragment<'_>, turn: &ReplyBuilder) -> Home {
        let Some(index) = fragment.index else {
            return match fragment.name {
                Some(_) => Home::New,
                None => self.only_open(turn),
            };
        };
        match self
            .calls
            .iter()
            .rev()
            .find(|seen| seen.index == Some(index))
        {
            Some(seen) if begins_another(seen.slot, fragment, turn) => Home::New,
            Some(seen) => Home::Known(seen.slot),
            None if fragment.name.is_some() => Home::New,
            None => self.only_open(turn),
        }
    }

    fn only_open(&self, turn: &ReplyBuilder) -> Home {
        let mut open = self.calls.iter().filter(|seen| is_open(seen.slot, turn));
        match (open.next(), open.next()) {
            (Some(seen), None) => Home::Known(seen.slot),
            _ => Home::Ambiguous,
        }
    }
}

fn is_open(slot: PartIndex, turn: &ReplyBuilder) -> bool {
    turn.call(slot).is_some_and(|call| !call.is_over())
}

fn is_whole(slot: PartIndex, turn: &ReplyBuilder) -> bool {
    turn.call(slot).is_some_and(|call| call.is_whole())
}

/// Whether the fragment names a tool while the call in its place is already whole.
fn begins_another(slot: PartIndex, fragment: &Fragment<'_>, turn: &ReplyBuilder) -> bool {
    fragment.name.is_some() && is_whole(slot, turn) && !repeats(slot, fragment, turn)
}

/// Whether the fragment only says again what is already there.
pub(crate) fn repeats(slot: PartIndex, fragment: &Fragment<'_>, turn: &ReplyBuilder) -> bool {
    let new = fragment.arguments.as_str().trim();
    turn.call(slot)
        .is_some_and(|call| call.is_whole() && (new.is_empty() || call.text().trim() == new))
}
