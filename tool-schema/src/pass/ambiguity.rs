//! Unions whose branches can no longer be distinguished in the model's output, so that the arguments may not be
//! restored correctly.

use super::{Work, combine::apart};
use crate::{Action, Quarantine, graph::Id, restore::changed};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    let changed = changed(&work.graph);
    let is_changed = |id: Id| changed.get(id) == Some(&true);
    if !is_changed(work.graph.root) {
        return Ok(());
    }
    work.each(|work, id| {
        for key in ["anyOf", "oneOf"] {
            let branches = work.node(id).many(key);
            let ambiguous = branches.iter().enumerate().any(|(index, a)| {
                branches
                    .iter()
                    .skip(index + 1)
                    .any(|b| (is_changed(*a) || is_changed(*b)) && !apart(work, *a, *b, 3))
            });
            if ambiguous {
                let at = work.node(id).at;
                work.report.lossy(at, key, Action::Narrowed);
            }
        }
        Ok(())
    })
}
