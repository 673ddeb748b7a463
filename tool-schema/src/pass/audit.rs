//! An audit of the passes: a rule that a pass removed is in the report, or still exists at the same location of the
//! original.

use super::Work;
use crate::{Action, graph::Graph, graph::types::Types};

/// The content of the nodes in use.
pub(super) struct Held {
    /// Each rule with its location in the original, in order.
    rules: Vec<(usize, &'static str)>,
    /// The locations of satisfiable nodes, in order.
    places: Vec<usize>,
}

/// Lists the rules that constrain what some node in use accepts.
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

/// Reports what a pass removed without a report: `before` is the previous content, `reported` the number of differences
/// known by then. Returns the current content.
///
/// A location that is no longer in use at all was removed with the rule above it that led there, or merged into another
/// location; that rule is the one to account for.
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
