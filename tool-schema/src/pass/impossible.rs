//! Unsatisfiable subschemas, for targets that cannot express them.

use std::collections::HashSet;

use super::{Work, combine};
use crate::{
    Action, OpenObjects, Quarantine, Untyped,
    graph::types::Types,
    graph::{Id, Node, Part},
};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    if work.target.untyped != Untyped::Keep {
        // Children first, so that what makes their parent impossible is found in time.
        let mut order = Vec::new();
        work.each(|_, id| {
            order.push(id);
            Ok(())
        })?;
        for id in order.into_iter().rev() {
            properties(work, id);
            branches(work, id);
        }
    }
    // Arguments are an object by now: if no object matches, nothing does.
    let root = work.graph.root;
    if !combine::admits_object(work, root) {
        return Err(Quarantine::Impossible {
            pointer: work.graph.pointer(work.node(root).at),
        });
    }
    Ok(())
}

impl Work<'_> {
    /// Whether a subschema, or the one it refers to, is unsatisfiable.
    pub(super) fn is_never(&self, id: Id) -> bool {
        self.node(self.graph.follow(id)).types == Types::NONE
    }

    /// Makes a node unsatisfiable and clears its content, so that no other pass sees it.
    pub(super) fn forbid(&mut self, id: Id) {
        let at = self.node(id).at;
        *self.node_mut(id) = Node::new(at, Types::NONE);
    }
}

/// An unsatisfiable property may not be given: it is omitted.
fn properties(work: &mut Work<'_>, id: Id) {
    let node = work.node(id);
    let gone: HashSet<String> = node
        .properties()
        .iter()
        .filter(|(_, child)| work.is_never(*child))
        .map(|(name, _)| name.clone())
        .collect();
    if gone.is_empty() {
        return;
    }
    let at = node.at;
    let closes = matches!(
        work.target.open_objects,
        OpenObjects::Close | OpenObjects::EntriesOrClose
    );
    let closed = closes
        || node
            .one("additionalProperties")
            .is_some_and(|rest| work.is_never(rest))
            && !work.target.closed_objects_dropped;
    let required = node.required_set();
    let needed = gone.iter().any(|name| required.contains(name.as_str()));
    let node = work.node_mut(id);
    if let Some(Part::Named(pairs)) = node.part_mut("properties") {
        pairs.retain(|(name, _)| !gone.contains(name));
    }
    if needed {
        node.types = node.types.without(Types::OBJECT);
        if node.types == Types::NONE {
            work.forbid(id);
        }
    }
    if closed || needed {
        work.report.lossless(at, "properties", Action::Rewritten);
    } else {
        work.report.lossy(at, "properties", Action::Weakened);
    }
}

/// An unsatisfiable branch is dropped.
fn branches(work: &mut Work<'_>, id: Id) {
    for key in ["anyOf", "oneOf"] {
        let all = work.node(id).many(key).to_vec();
        let kept: Vec<Id> = all
            .iter()
            .copied()
            .filter(|branch| !work.is_never(*branch))
            .collect();
        if kept.len() == all.len() {
            continue;
        }
        let at = work.node(id).at;
        let node = work.node_mut(id);
        node.take(key);
        match kept.as_slice() {
            [] => work.forbid(id),
            [only] if node.is_open() => combine::adopt(work, id, *only),
            _ => node.set(key, Part::Many(kept)),
        }
        work.report.lossless(at, key, Action::Rewritten);
    }
}
