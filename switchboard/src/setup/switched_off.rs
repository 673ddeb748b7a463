//! Servers and tools that are switched off in one conversation.

use serde::{Deserialize, Serialize};

use crate::store::{Server, ServerId};

/// The most servers, and the most tools of one, that are switched off.
const MAX_SWITCHED_OFF: usize = 2048;

/// A server that is switched off in a conversation, or some of its tools.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SwitchedOff {
    pub(crate) server_id: ServerId,
    /// These tools only; the whole server if none are named.
    #[serde(default)]
    pub(crate) tools: Option<Vec<String>>,
}

/// Whether there are no more than can be kept.
pub(crate) fn is_bounded<'a>(mut all: impl Iterator<Item = &'a SwitchedOff>) -> bool {
    let few = |tools: &Vec<String>| tools.len() <= MAX_SWITCHED_OFF;
    let mut count = 0;
    all.all(|it| {
        count += 1;
        count <= MAX_SWITCHED_OFF && it.tools.as_ref().is_none_or(few)
    })
}

/// The names of the servers that are off.
pub(crate) fn servers<'a>(
    all: &'a [SwitchedOff],
    rows: &'a [Server],
) -> impl Iterator<Item = &'a str> {
    named(all, rows).filter_map(|(name, tools)| tools.is_none().then_some(name))
}

/// The tools that are off, by the names of their servers.
pub(crate) fn tools<'a>(
    all: &'a [SwitchedOff],
    rows: &'a [Server],
) -> impl Iterator<Item = (&'a str, &'a [String])> {
    named(all, rows).filter_map(|(name, tools)| Some((name, tools?)))
}

fn named<'a>(
    all: &'a [SwitchedOff],
    rows: &'a [Server],
) -> impl Iterator<Item = (&'a str, Option<&'a [String]>)> {
    all.iter().filter_map(|off| {
        let row = rows.iter().find(|row| row.id == off.server_id)?;
        Some((row.name.as_str(), off.tools.as_deref()))
    })
}
