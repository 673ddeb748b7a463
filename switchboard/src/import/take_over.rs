//! Servers that were agreed to, ready to be stored.

use super::plan::Item;
use crate::exit::Failure;
use crate::servers::{Keeping, is_open, keep_all, next_place};
use crate::store::Server;

/// Servers to be stored.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) rows: Vec<Server>,
    /// What people should know.
    pub(crate) notices: Vec<String>,
    /// Those that could not be taken over, and why.
    pub(crate) refused: Vec<(String, Failure)>,
}

/// Takes servers over, with their secrets where `keeping` says. One of a name that is there already
/// takes its place.
pub(crate) async fn take_over(
    items: impl Iterator<Item = &Item>,
    stored: &[Server],
    keeping: Keeping,
) -> Taken {
    let mut taken = Taken::default();
    let mut sort = next_place(stored);
    for item in items {
        let mut row = item.row.clone();
        let same_name = |other: &&Server| other.name == row.name;
        let here = taken.rows.iter().find(same_name);
        if let Some(other) = here.or(stored.iter().find(same_name)) {
            (row.id, row.sort, row.created_at) = (other.id.clone(), other.sort, other.created_at);
        } else {
            row.sort = sort;
            sort += 1;
        }
        if let Err(failure) = keep_all(&mut row, keeping).await {
            taken.refused.push((row.name, failure));
            continue;
        }
        let mut values = row.env.iter().chain(&row.headers);
        if keeping != Keeping::Plain && values.any(|(name, value)| is_open(name, value)) {
            taken.notices.push(format!(
                "{}: there is no keyring, so its values are kept as they are, readable by you only; \
                 `switchboard servers edit {} -e NAME=env:NAME` is safer.",
                row.name, row.name
            ));
        }
        taken.rows.retain(|other| other.name != row.name);
        taken.rows.push(row);
    }
    taken
}
