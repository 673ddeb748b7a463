//! Rules that hold schemas and that the target does not take. They go into words
//! before other passes rewrite what they say.

use super::{Work, keyword, map};
use crate::Quarantine;

/// `if` speaks for its branches, `contains` for its counts.
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

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
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
