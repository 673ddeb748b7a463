//! The nodes that apply to a value together with others.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use super::{Graph, Id, Node, Part};
use crate::graph::types::Types;

/// The number of steps per node after which every node counts as shared.
const STEPS: usize = 64;

/// Nodes that apply to the same value.
type Group = BTreeSet<Id>;

/// The nodes that apply to a value together with another node: in place, or at the same key or index of a value judged
/// in place. The form of a value cannot change in one of them alone.
pub(crate) fn shared(graph: &Graph) -> HashSet<Id> {
    let mut shared = HashSet::new();
    let mut seen = HashSet::new();
    let mut steps = 0;
    let mut queue = VecDeque::from([Group::from([graph.root])]);
    while let Some(group) = queue.pop_front() {
        let group = in_place(graph, group);
        if group.len() > 1 {
            shared.extend(&group);
        }
        if seen.contains(&group) {
            continue;
        }
        let names = group.iter().map(|id| {
            let node = graph.node(*id);
            1 + node.properties().len() + node.many("prefixItems").len()
        });
        steps += group.len() * names.sum::<usize>();
        if steps > STEPS.saturating_mul(graph.len()) {
            return (0..graph.len()).collect();
        }
        queue.extend(inside(graph, &group));
        seen.insert(group);
    }
    shared
}

/// The group with all nodes that apply to the same value as one of its nodes. The branches of a standalone union are
/// alternatives: none applies together with another. A node that only refers to another is represented by that one.
fn in_place(graph: &Graph, group: Group) -> Group {
    let mut group: Group = group.into_iter().map(|id| graph.follow(id)).collect();
    if is_lone_union(graph, &group) {
        return group;
    }
    let mut open: Vec<Id> = group.iter().copied().collect();
    while let Some(id) = open.pop() {
        open.extend(
            graph
                .node(id)
                .in_place()
                .map(|other| graph.follow(other))
                .filter(|other| group.insert(*other)),
        );
    }
    group
}

fn is_lone_union(graph: &Graph, group: &Group) -> bool {
    let node = group.first().map(|id| graph.node(*id));
    let union = |node: &Node| {
        node.has("anyOf")
            && node.types == Types::ANY
            && node.reference.is_none()
            && node.rules().count() == 1
    };
    group.len() == 1 && node.is_some_and(union)
}

/// The groups that apply inside a value of `group`, one for each key, index and name.
fn inside(graph: &Graph, group: &Group) -> Vec<Group> {
    let alone = |ids: &[Id]| ids.iter().map(|id| Group::from([*id])).collect();
    let nodes: Vec<&Node> = group.iter().map(|id| graph.node(*id)).collect();
    if is_lone_union(graph, group) {
        return nodes
            .iter()
            .flat_map(|node| -> Vec<Group> { alone(node.many("anyOf")) })
            .collect();
    }
    // A node that nothing or anything matches does not affect a value's form.
    let judges = |id: &Id| graph.node(*id).types != Types::NONE && !graph.node(*id).is_open();
    let ids = |node: &Node, keys: &[&str]| -> Vec<Id> {
        let parts = keys.iter().filter_map(|key| node.part(key));
        parts.flat_map(Part::ids).filter(judges).collect()
    };
    // The group for unnamed keys comes first.
    let mut keys: BTreeMap<Option<&str>, Group> = BTreeMap::from([(None, Group::new())]);
    let mut places: BTreeMap<Option<usize>, Group> = BTreeMap::from([(None, Group::new())]);
    for node in &nodes {
        keys.extend(
            node.properties()
                .iter()
                .map(|(name, _)| (Some(name.as_str()), Group::new())),
        );
        places.extend((0..node.many("prefixItems").len()).map(|index| (Some(index), Group::new())));
    }
    let mut groups = Vec::new();
    for node in nodes {
        let named = node.property_map();
        let any = ids(node, &["patternProperties"]);
        let rest = ids(node, &["additionalProperties", "unevaluatedProperties"]);
        for (name, group) in &mut keys {
            group.extend(&any);
            match name.and_then(|name| named.get(name)) {
                Some(id) => group.extend(Some(*id).filter(judges)),
                None => group.extend(&rest),
            }
        }
        let first = node.many("prefixItems");
        let any = ids(node, &["contains"]);
        let rest = ids(node, &["items", "unevaluatedItems"]);
        for (index, group) in &mut places {
            group.extend(&any);
            match index.and_then(|index| first.get(index)) {
                Some(id) => group.extend(Some(*id).filter(judges)),
                None => group.extend(&rest),
            }
        }
        groups.extend(
            ids(node, &["propertyNames"])
                .into_iter()
                .map(|id| Group::from([id])),
        );
    }
    groups.extend(keys.into_values().chain(places.into_values()));
    groups.retain(|group| !group.is_empty());
    groups
}
