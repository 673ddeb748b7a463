//! Nothing leaves a schema in silence: a rule that a pass took away is in the report, or
//! still stands at the same place of the original.

use super::Work;
use crate::{Action, graph::Graph, types::Types};

/// The rules in use, each with the place of the original it stands at, in order.
pub(super) type Held = Vec<(usize, &'static str)>;

/// Lists the rules that narrow what some node in use accepts.
pub(super) fn held(graph: &Graph) -> Held {
    let mut held = Held::new();
    for id in graph.in_use() {
        let node = graph.node(id);
        if node.types == Types::NONE {
            continue;
        }
        let rules = node.rules().filter(|key| !graph.is_idle(id, key));
        held.extend(rules.map(|key| (node.at, key)));
    }
    held.sort_unstable();
    held.dedup();
    held
}

/// Reports what a pass removed without a word: `before` is what was held, `reported` how many
/// differences were known by then. Returns what is held now.
///
/// A place that is no longer in use at all has gone with the rule above it that led there, or
/// was merged into another place; that rule is the one to account for.
pub(super) fn account(work: &mut Work<'_>, before: Held, reported: usize) -> Held {
    let after = held(&work.graph);
    let mut places: Vec<usize> = work
        .graph
        .in_use()
        .into_iter()
        .filter(|id| work.node(*id).types != Types::NONE)
        .map(|id| work.node(id).at)
        .collect();
    places.sort_unstable();
    let mentioned = work.report.since(reported);
    let silent: Held = before
        .into_iter()
        .filter(|rule| after.binary_search(rule).is_err() && mentioned.binary_search(rule).is_err())
        .filter(|(at, _)| places.binary_search(at).is_ok())
        .collect();
    for (at, key) in silent {
        work.report.lossy(at, key, Action::Dropped);
    }
    after
}
