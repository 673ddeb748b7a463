//! Servers that were agreed to, ready to be stored.

use super::plan::Item;
use crate::exit::Failure;
use crate::servers::{Keeping, keep, next_place};
use crate::store::{Server, StoredValue};

/// Servers to be stored.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) rows: Vec<Server>,
    /// What people should know.
    pub(crate) notices: Vec<String>,
}

/// Takes servers over, with their values in the keyring where there is one. One of a name that is
/// there already takes its place.
pub(crate) async fn take_over(
    items: impl Iterator<Item = &Item>,
    stored: &[Server],
    keeping: Keeping,
) -> Result<Taken, Failure> {
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
        let mut open = false;
        let (id, env, headers) = (row.id.clone(), &mut row.env, &mut row.headers);
        let kinds = [("env", env), ("header", headers)];
        for (what, values) in kinds {
            for (name, value) in values.iter_mut() {
                let place = format!("{what}/{name}");
                *value = keep(&id, &place, value.clone(), keeping).await?;
                open |= matches!(value, StoredValue::Plain(text) if !text.contains("${"));
            }
        }
        if open {
            taken.notices.push(format!(
                "{}: there is no keyring, so its values are kept as they are, readable by you only; \
                 `switchboard servers edit {} -e NAME=env:NAME` is safer.",
                row.name, row.name
            ));
        }
        let mut values = row.env.values().chain(row.headers.values());
        row.plain_values = values.any(StoredValue::is_plain);
        taken.rows.retain(|other| other.name != row.name);
        taken.rows.push(row);
    }
    Ok(taken)
}
