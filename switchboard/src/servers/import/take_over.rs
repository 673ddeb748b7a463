//! Prepares approved servers for the store.

use super::plan::Item;
use crate::exit::{Exit, Failure};
use crate::servers::{PlainSecrets, keep_all, next_place};
use crate::store::{Server, ServerKind};

/// Servers to be stored.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) rows: Vec<Server>,
    /// Those that could not be imported, and why.
    pub(crate) refused: Vec<Refused>,
}

/// A server that could not be imported.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) name: String,
    /// Where it is from.
    pub(crate) from: String,
    pub(crate) why: Failure,
}

/// Prepares servers for the store. One with the name of a stored one replaces it; of several that
/// are to be imported under one name, only the first is.
pub(crate) async fn take_over(
    items: impl Iterator<Item = &Item>,
    stored: &[Server],
    plain: PlainSecrets,
) -> Taken {
    let mut taken = Taken::default();
    let mut sort = next_place(stored);
    for item in items {
        let mut row = item.row.clone();
        let same_name = |other: &&Server| other.name == row.name;
        let refused = |why: Failure| Refused {
            name: item.row.name.clone(),
            from: item.from.clone(),
            why,
        };
        if let Some(other) = taken.rows.iter().find(same_name) {
            let from = other.source.as_deref().unwrap_or("the same text");
            let why = format!("there is another one of this name, from {from}");
            let why = Failure::new(Exit::Other, why);
            let hint = "Import one of them: `switchboard import FILE --only NAME` names its file.";
            taken.refused.push(refused(why.with_hint(hint)));
            continue;
        }
        if let Some(other) = stored.iter().find(same_name) {
            (row.id, row.sort, row.created_at) = (other.id.clone(), other.sort, other.created_at);
            row.revision = other.revision;
            // No file takes a server out of the sandbox that its user put it in.
            if row.kind == ServerKind::Stdio && other.sandbox.is_some() {
                row.sandbox.clone_from(&other.sandbox);
            }
        } else {
            row.sort = sort;
            sort += 1;
        }
        let before = stored.iter().find(|other| other.id == row.id);
        if let Err(error) = keep_all(&mut row, before, plain).await {
            taken.refused.push(refused(error.into()));
            continue;
        }
        taken.rows.push(row);
    }
    taken
}
