//! Prepares approved servers for the store.

use super::plan::Item;
use crate::exit::Failure;
use crate::servers::{PlainSecrets, keep_all, next_place};
use crate::store::{Server, ServerKind};

/// Servers to be stored.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) rows: Vec<Server>,
    /// Those that could not be imported, and why.
    pub(crate) refused: Vec<(String, Failure)>,
}

/// Prepares servers for the store. One with the name of a stored one replaces it.
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
        let here = taken.rows.iter().find(same_name);
        if let Some(other) = here.or(stored.iter().find(same_name)) {
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
            taken.refused.push((row.name, error.into()));
            continue;
        }
        taken.rows.retain(|other| other.name != row.name);
        taken.rows.push(row);
    }
    taken
}
