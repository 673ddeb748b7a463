//! Nothing leaves a schema in silence: a rule that a pass took away is in the report, or
//! still stands at the same place of the original.

use super::Work;
use crate::{Action, graph::Graph, graph::types::Types};

/// What the nodes in use hold.
pub(super) struct Held {
    /// Each rule with the place of the original it stands at, in order.
    rules: Vec<(usize, &'static str)>,
    /// The places of nodes that something fits, in order.
    places: Vec<usize>,
}

/// Lists the rules that narrow what some node in use accepts.
pub(super) fn held(graph: &Graph) -> Held {
    let (mut rules, mut places) = (Vec::new(), Vec::new());
    for id in graph.in_use() {
        let node = graph.node(id);
        if node.types != Types::NONE {
            places.push(node.at);
            let narrowing = node.rules().filter(|key| !graph.is_idle(id, key));
            rules.extend(narrowing.map(|key| (node.at, key)));
        }
    }
    rules.sort_unstable();
    rules.dedup();
    places.sort_unstable();
    Held { rules, places }
}

/// Reports what a pass removed without a word: `before` is what was held, `reported` how many
/// differences were known by then. Returns what is held now.
///
/// A place that is no longer in use at all has gone with the rule above it that led there, or
/// was merged into another place; that rule is the one to account for.
pub(super) fn account(work: &mut Work<'_>, before: Held, reported: usize) -> Held {
    let after = held(&work.graph);
    let mentioned = work.report.since(reported);
    let silent: Vec<_> = before
        .rules
        .into_iter()
        .filter(|rule| {
            after.rules.binary_search(rule).is_err() && mentioned.binary_search(rule).is_err()
        })
        .filter(|(at, _)| after.places.binary_search(at).is_ok())
        .collect();
    for (at, key) in silent {
        work.report.lossy(at, key, Action::Dropped);
    }
    after
}
