//! References: kept where the target supports definitions, inlined otherwise.

use std::collections::VecDeque;

use super::Work;
use crate::{
    Action, CompileLimits, Quarantine, Recursion, RefSiblings,
    graph::types::Types,
    graph::{
        Graph, Id, Node, Part,
        cycle::{Edges, components, find_cycle},
    },
};

/// A recursive definition is inlined at least up to this number of nodes.
const MIN_RECURSIVE: usize = 64;

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    detach_root(work);
    let fits = work.target.has_definitions()
        && match work.target.recursion {
            Recursion::Any => true,
            Recursion::Optional => loosen(work),
            Recursion::None => find_cycle(&work.graph, Edges::All).is_none(),
        };
    if fits {
        siblings(work)
    } else {
        write_out(work)
    }
}

/// The root is changed in ways that a reference to it must not see.
fn detach_root(work: &mut Work<'_>) {
    let root = work.node(work.graph.root).clone();
    work.graph.root = work.graph.add(root);
}

/// Rules beside a reference become members of an intersection with its target.
fn siblings(work: &mut Work<'_>) -> Result<(), Quarantine> {
    if work.target.ref_siblings == RefSiblings::Any {
        return Ok(());
    }
    work.each(|work, id| {
        if work.node(id).reference.is_some() && !work.node(id).is_alias() {
            let node = work.node_mut(id);
            join_reference(node);
            let at = node.at;
            work.report.lossless(at, "$ref", Action::Rewritten);
        }
        Ok(())
    })
}

/// Turns a reference into one more member of `allOf`.
fn join_reference(node: &mut Node) {
    let mut members: Vec<Id> = node.reference.take().into_iter().collect();
    members.extend(node.many("allOf"));
    node.set("allOf", Part::Many(members));
}

/// Makes every cycle of a recursion pass through an optional property. Returns whether that was possible.
fn loosen(work: &mut Work<'_>) -> bool {
    while let Some(cycle) = find_cycle(&work.graph, Edges::Forced) {
        let Some((id, Some(name))) = cycle.into_iter().find(|(_, property)| property.is_some())
        else {
            return false;
        };
        let node = work.node_mut(id);
        let required = node
            .required()
            .filter(|known| *known != name)
            .map(str::to_owned)
            .collect();
        node.set_required(required);
        node.explain(&format!(
            "Always give `{}`.",
            crate::report::words::clip(&name, 80)
        ));
        let at = node.at;
        work.report.lossy(at, "required", Action::Weakened);
    }
    true
}

/// Copies the schema breadth first, with each reference replaced by a copy of its target, until a definition contains
/// itself too often or the copy is too large.
fn write_out(work: &mut Work<'_>) -> Result<(), Quarantine> {
    if !work
        .graph
        .in_use()
        .iter()
        .any(|id| work.node(*id).reference.is_some())
    {
        return Ok(());
    }
    let own = work.graph.in_use().len();
    let root = work.graph.root;
    let sizes = sizes(&work.graph);
    let mut copier = Copier {
        most: work.limits.inlined_nodes.max(2 * own),
        most_recursive: (2 * own).max(MIN_RECURSIVE),
        components: components(&work.graph),
        chains: Vec::new(),
        queue: VecDeque::new(),
        planned: size_of(&sizes, root),
        sizes,
    };
    work.graph.root = copier.enqueue(work, root, None);
    while let Some((from, to, chain)) = copier.queue.pop_front() {
        copier.copy(work, from, to, chain);
        work.graph.check(work.limits)?;
    }
    Ok(())
}

/// The number of nodes in each node's subtree, without following references.
fn sizes(graph: &Graph) -> Vec<usize> {
    let mut sizes = vec![0; graph.len()];
    // A node is read before its children; only the root was copied last.
    for id in (0..graph.len()).rev().chain([graph.root]) {
        let node = graph.node(id);
        let size = node.links().fold(1_usize, |sum, child| {
            sum.saturating_add(size_of(&sizes, child))
        });
        if let Some(slot) = sizes.get_mut(id) {
            *slot = size;
        }
    }
    sizes
}

fn size_of(sizes: &[usize], id: Id) -> usize {
    sizes.get(id).copied().unwrap_or(1)
}

/// A definition entered on the path to a node.
struct Entered {
    definition: Id,
    outer: Option<usize>,
    depth: usize,
}

struct Copier {
    chains: Vec<Entered>,
    /// Nodes to copy: the source, the target, and the enclosing definitions.
    queue: VecDeque<(Id, Id, Option<usize>)>,
    /// The number of nodes that are, or will be, written.
    planned: usize,
    /// The number of nodes after which no reference is followed.
    most: usize,
    /// The number of nodes after which no reference inside a recursion is followed.
    most_recursive: usize,
    /// The recursion each node is part of.
    components: Vec<Id>,
    sizes: Vec<usize>,
}

impl Copier {
    fn enqueue(&mut self, work: &mut Work<'_>, from: Id, chain: Option<usize>) -> Id {
        let at = work.node(from).at;
        let to = work.graph.add(Node::new(at, Types::ANY));
        self.queue.push_back((from, to, chain));
        to
    }

    /// Follows the reference from the node `from` to its definition, unless that would exceed a limit.
    fn enter(
        &mut self,
        from: Id,
        definition: Id,
        chain: Option<usize>,
        limits: &CompileLimits,
    ) -> Option<usize> {
        let planned = self
            .planned
            .saturating_add(size_of(&self.sizes, definition));
        let recursive = self.components.get(from) == self.components.get(definition);
        let depth = chain
            .and_then(|chain| self.chains.get(chain))
            .map_or(0, |entered| entered.depth + 1);
        if planned > self.most
            || recursive && planned > self.most_recursive
            || depth > limits.depth
            || self.times(chain, definition) >= limits.unroll
        {
            return None;
        }
        self.planned = planned;
        self.chains.push(Entered {
            definition,
            outer: chain,
            depth,
        });
        Some(self.chains.len() - 1)
    }

    /// The number of times `definition` was already entered.
    fn times(&self, chain: Option<usize>, definition: Id) -> usize {
        let links =
            std::iter::successors(chain.and_then(|chain| self.chains.get(chain)), |entered| {
                self.chains.get(entered.outer?)
            });
        links
            .filter(|entered| entered.definition == definition)
            .count()
    }

    fn copy(&mut self, work: &mut Work<'_>, from: Id, to: Id, chain: Option<usize>) {
        let (mut from, mut chain) = (from, chain);
        let mut node = work.node(from).clone();
        let at = node.at;
        // Annotations beside a reference take precedence over its target's.
        while let Some(target) = node.reference {
            let Some(inside) = self.enter(from, target, chain, work.limits) else {
                work.report
                    .lossy(work.node(from).at, "$ref", Action::Weakened);
                let types = work.node(work.graph.follow(target)).types;
                let mut cut = Node::new(at, types);
                cut.keys = node
                    .keys
                    .into_iter()
                    .filter(|(key, _)| !crate::graph::keyword::is_rule(key))
                    .collect();
                *work.node_mut(to) = cut;
                return;
            };
            chain = Some(inside);
            let site = work.node(from).at;
            work.report.lossless(site, "$ref", Action::Rewritten);
            if !node.is_alias() {
                join_reference(&mut node);
                break;
            }
            let notes = node.keys;
            node = work.node(target).clone();
            let definition = node.at;
            for (key, part) in notes {
                if node.part(key).is_some_and(|own| *own != part) {
                    work.report.lossless(definition, key, Action::Dropped);
                }
                node.set(key, part);
            }
            from = target;
        }
        for (_, part) in &mut node.keys {
            match part {
                Part::Json(_) => {}
                Part::One(id) => *id = self.enqueue(work, *id, chain),
                Part::Many(ids) => ids
                    .iter_mut()
                    .for_each(|id| *id = self.enqueue(work, *id, chain)),
                Part::Named(pairs) => pairs
                    .iter_mut()
                    .for_each(|(_, id)| *id = self.enqueue(work, *id, chain)),
            }
        }
        work.graph.replace(to, node);
    }
}
