//! Exclusive bounds, for targets that support only inclusive ones.

use serde_json::Value;

use super::{Work, keyword};
use crate::{
    Action, Quarantine,
    graph::types::Types,
    graph::{Id, Part},
};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    work.each(|work, id| {
        bound(work, id, "exclusiveMinimum", "minimum", 1);
        bound(work, id, "exclusiveMaximum", "maximum", -1);
        Ok(())
    })
}

/// For integers, more than 4 is at least 5. For other numbers it is at least 4, and a later pass describes the
/// difference.
fn bound(work: &mut Work<'_>, id: Id, open: &'static str, closed: &'static str, step: i64) {
    let node = work.node(id);
    let Some(limit) = node.json(open).cloned() else {
        return;
    };
    if keyword::taken(work, id, open) || !work.target.accepts(closed) {
        return;
    }
    let at = node.at;
    let whole = node.types.and(Types::NUMBER) == Types::INTEGER;
    let exact = limit
        .as_i64()
        .filter(|_| whole)
        .and_then(|limit| limit.checked_add(step));
    let limit = exact.map_or(limit, Value::from);
    let tighter = node.json(closed).is_none_or(|old| {
        if step > 0 {
            limit.as_f64() > old.as_f64()
        } else {
            limit.as_f64() < old.as_f64()
        }
    });
    let node = work.node_mut(id);
    if tighter {
        node.set(closed, Part::Json(limit));
    }
    if exact.is_some() {
        node.take(open);
        work.report.lossless(at, open, Action::Rewritten);
    }
}
