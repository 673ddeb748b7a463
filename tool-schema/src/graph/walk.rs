//! Walks over a graph.

use super::{Graph, Id};

/// A walk over the nodes in use, parents first. The graph may change between two steps.
pub(crate) struct Walk {
    seen: Vec<bool>,
    /// The nodes found so far; the first `done` of them were returned.
    order: Vec<Id>,
    done: usize,
}

impl Walk {
    pub(crate) fn new(graph: &Graph) -> Self {
        let mut walk = Self {
            seen: Vec::new(),
            order: Vec::with_capacity(graph.len()),
            done: 0,
        };
        walk.meet(graph, graph.root);
        walk
    }

    /// The nodes found, in order.
    pub(crate) fn into_order(self) -> Vec<Id> {
        self.order
    }

    fn meet(&mut self, graph: &Graph, id: Id) {
        if self.seen.len() < graph.len() {
            self.seen.resize(graph.len(), false);
        }
        if let Some(flag @ false) = self.seen.get_mut(id) {
            *flag = true;
            self.order.push(id);
        }
    }

    /// The next node. Its children are read when the node after it is requested.
    pub(crate) fn next(&mut self, graph: &Graph) -> Option<Id> {
        if let Some(last) = self.done.checked_sub(1).and_then(|at| self.order.get(at)) {
            graph.node(*last).each_child(|id| self.meet(graph, id));
        }
        let id = self.order.get(self.done).copied()?;
        self.done += 1;
        Some(id)
    }
}
