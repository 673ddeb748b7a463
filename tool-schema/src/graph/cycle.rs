//! Recursion, as cycles of a graph.

use std::collections::HashSet;

use super::{Graph, Id};

/// The edges that count for a cycle.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Edges {
    All,
    /// All but those through an optional property.
    Forced,
}

/// The edges of a node; those through required properties have their names.
fn edges(graph: &Graph, id: Id, edges: Edges) -> Vec<(Id, Option<String>)> {
    let node = graph.node(id);
    let required: HashSet<&str> = node.required().collect();
    let properties: HashSet<Id> = node.properties().iter().map(|(_, child)| *child).collect();
    let others = node.children().filter(|child| !properties.contains(child));
    let mut all: Vec<(Id, Option<String>)> = others.map(|child| (child, None)).collect();
    for (name, child) in node.properties() {
        if edges == Edges::All || required.contains(name.as_str()) {
            all.push((*child, Some(name.clone())));
        }
    }
    all
}

/// A walk that has returned to a node on its own path: the edges taken since, as (node, property if the edge is one).
pub(crate) type Cycle = Vec<(Id, Option<String>)>;

/// Finds a cycle of forced, or of all, edges.
pub(crate) fn find_cycle(graph: &Graph, kind: Edges) -> Option<Cycle> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Visit::New; graph.len()];
    // Every node in use is a start: an omitted edge must not hide a cycle behind it.
    for start in graph.in_use() {
        if marks.get(start) != Some(&Visit::New) {
            continue;
        }
        // Nodes on the path, each with its remaining edges.
        let mut way = vec![(start, edges(graph, start, kind), None)];
        while let Some((id, open, taken)) = way.last_mut() {
            let id = *id;
            let Some((next, property)) = open.pop() else {
                if let Some(mark) = marks.get_mut(id) {
                    *mark = Visit::Done;
                }
                way.pop();
                continue;
            };
            *taken = property;
            if let Some(mark) = marks.get_mut(id) {
                *mark = Visit::Open;
            }
            match marks.get(next) {
                Some(Visit::Open) => {
                    let since = way.iter().skip_while(|(id, ..)| *id != next);
                    return Some(since.map(|(id, _, taken)| (*id, taken.clone())).collect());
                }
                Some(Visit::New) => way.push((next, edges(graph, next, kind), None)),
                _ => {}
            }
        }
    }
    None
}

/// For each node the representative of the recursion it is part of: the same for two nodes exactly if each can be
/// reached from the other.
pub(crate) fn components(graph: &Graph) -> Vec<Id> {
    let mut found: Vec<Id> = (0..graph.len()).collect();
    let mut index: Vec<Option<usize>> = vec![None; graph.len()];
    let mut low = vec![0; graph.len()];
    let mut done = vec![false; graph.len()];
    let mut open = Vec::new();
    let mut clock = 0;
    for start in graph.in_use() {
        let mut way: Vec<(Id, Vec<Id>)> = Vec::new();
        let mut enter = Some(start);
        loop {
            if let Some(id) = enter.take()
                && let Some(slot @ None) = index.get_mut(id)
            {
                *slot = Some(clock);
                set(&mut low, id, clock);
                clock += 1;
                open.push(id);
                way.push((id, graph.node(id).children().collect()));
            }
            let Some((id, children)) = way.last_mut() else {
                break;
            };
            let id = *id;
            if let Some(child) = children.pop() {
                match index.get(child).copied().flatten() {
                    None => enter = Some(child),
                    Some(seen) if done.get(child) == Some(&false) => lower(&mut low, id, seen),
                    Some(_) => {}
                }
                continue;
            }
            way.pop();
            let reached = low.get(id).copied().unwrap_or_default();
            if let Some((parent, _)) = way.last() {
                lower(&mut low, *parent, reached);
            }
            if index.get(id).copied().flatten() == Some(reached) {
                while let Some(member) = open.pop() {
                    set(&mut found, member, id);
                    set(&mut done, member, true);
                    if member == id {
                        break;
                    }
                }
            }
        }
    }
    found
}

fn set<T>(list: &mut [T], id: Id, value: T) {
    if let Some(slot) = list.get_mut(id) {
        *slot = value;
    }
}

fn lower(low: &mut [usize], id: Id, value: usize) {
    if let Some(slot) = low.get_mut(id) {
        *slot = (*slot).min(value);
    }
}
