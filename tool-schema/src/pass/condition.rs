//! Rules that contain schemas and that the target does not support. They are described in words before other passes
//! rewrite their content.

use super::{Work, keyword, map};
use crate::{Action, Quarantine};

/// `if` represents its branches, `contains` its counts.
const CONDITIONS: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "contains",
    "minContains",
    "maxContains",
    "dependentSchemas",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// Drops conditions that decide nothing. They still mark properties as evaluated, so they are kept while another
/// keyword depends on that.
pub(super) fn drop_idle(work: &mut Work<'_>) -> Result<(), Quarantine> {
    let counted = work.graph.in_use().into_iter().any(|id| {
        let node = work.node(id);
        node.has("unevaluatedProperties") || node.has("unevaluatedItems")
    });
    work.each(|work, id| {
        let node = work.node(id);
        if !counted && node.has("if") && !node.has("then") && !node.has("else") {
            let at = node.at;
            work.node_mut(id).take("if");
            work.report.lossless(at, "if", Action::Dropped);
        }
        Ok(())
    })
}

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    drop_idle(work)?;
    work.each(|work, id| {
        for key in CONDITIONS {
            if work.node(id).has(key) && !keyword::taken(work, id, key) {
                keyword::put_into_words(work, id, key);
            }
        }
        map::shed(work, id);
        Ok(())
    })
}
