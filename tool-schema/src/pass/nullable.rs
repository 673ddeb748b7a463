//! Null and lists of types, in the target's form.

use std::collections::HashMap;

use serde_json::Value;

use super::{Work, enumeration};
use crate::{
    Action, Nulls, Quarantine, TypeLists,
    graph::keyword,
    graph::types::Types,
    graph::{Id, Node, Part},
    restore::{Undo, fits},
};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    work.each(|work, id| {
        if matches!(work.target.nulls, Nulls::Sparing | Nulls::Never) {
            spare(work, id);
        }
        if work.target.nulls == Nulls::Never {
            forbid(work, id);
        }
        if work.target.nulls == Nulls::Keyword {
            absorb(work, id);
        }
        if matches!(work.target.nulls, Nulls::Keyword | Nulls::Never)
            && work.node(id).types == Types::NULL
        {
            let at = work.node(id).at;
            enumeration::label(work, id, vec![Value::Null]);
            work.report.lossless(at, "type", Action::Rewritten);
        }
        if !list_is_legal(work, work.node(id).types) {
            split(work, id);
        }
        Ok(())
    })
}

fn list_is_legal(work: &Work<'_>, types: Types) -> bool {
    let nulls_are_types = matches!(work.target.nulls, Nulls::Type | Nulls::Sparing);
    let counted = if nulls_are_types {
        types
    } else {
        types.without(Types::NULL)
    };
    types == Types::ANY
        || counted.count() <= 1
        || match work.target.type_lists {
            TypeLists::Any => true,
            TypeLists::Scalars => !types.meets(Types::OBJECT.or(Types::ARRAY)),
            TypeLists::None => false,
        }
}

/// An optional property that defaults to null need not declare null.
fn spare(work: &mut Work<'_>, id: Id) {
    let optional: Vec<(String, Id)> = work.node(id).optional().cloned().collect();
    let mut spared = Vec::new();
    for (name, child) in optional {
        let target = work.graph.follow(child);
        if work
            .node(child)
            .json("default")
            .or(work.node(target).json("default"))
            != Some(&Value::Null)
            || !fits(&work.graph, target, &Value::Null)
        {
            continue;
        }
        let Some(copy) = without_null(work, child) else {
            continue;
        };
        let at = work.node(copy).at;
        work.node_mut(copy).take("default");
        work.report.lossless(at, "type", Action::Rewritten);
        spared.push((name, copy));
    }
    if spared.is_empty() {
        return;
    }
    let copies: HashMap<&str, Id> = spared
        .iter()
        .map(|(name, copy)| (name.as_str(), *copy))
        .collect();
    let node = work.node_mut(id);
    if let Some(Part::Named(pairs)) = node.part_mut("properties") {
        for (name, child) in pairs {
            *child = copies.get(name.as_str()).copied().unwrap_or(*child);
        }
    }
    node.undo.push(Undo::Spared(
        spared.into_iter().map(|(name, _)| name).collect(),
    ));
}

/// Removes null, which is a loss.
fn forbid(work: &mut Work<'_>, id: Id) {
    let node = work.node(id);
    if node.types == Types::ANY || node.types == Types::NULL || !node.types.holds(Types::NULL) {
        return;
    }
    let at = node.at;
    let missed = fits(&work.graph, id, &Value::Null);
    strip_null(work.node_mut(id));
    if missed {
        work.report.lossy(at, "type", Action::Narrowed);
    }
}

/// Replaces a branch of null by a keyword in another branch.
fn absorb(work: &mut Work<'_>, id: Id) {
    let branches = work.node(id).many("anyOf").to_vec();
    let is_null = |work: &Work<'_>, branch: Id| {
        work.node(branch).types == Types::NULL && !work.node(branch).has("enum")
    };
    let rest: Vec<Id> = branches
        .iter()
        .copied()
        .filter(|branch| !is_null(work, *branch))
        .collect();
    // A union in a union has no type to put the keyword beside.
    let plain = rest
        .iter()
        .copied()
        .find(|branch| work.node(*branch).types != Types::ANY);
    let Some(first) = plain else { return };
    if rest.len() == branches.len() {
        return;
    }
    let at = work.node(id).at;
    let mut copy = work.node(first).clone();
    add_null_type(&mut copy);
    if let [_] = rest.as_slice() {
        let node = work.node_mut(id);
        let notes: Vec<_> = node
            .keys
            .drain(..)
            .filter(|(key, _)| !keyword::is_rule(key))
            .collect();
        node.types = copy.types;
        node.undo.extend(copy.undo);
        node.keys = copy.keys;
        for (key, part) in notes {
            node.set(key, part);
        }
    } else {
        let copy = work.graph.add(copy);
        let rest = rest
            .into_iter()
            .map(|branch| if branch == first { copy } else { branch })
            .collect();
        work.node_mut(id).set("anyOf", Part::Many(rest));
    }
    work.report.lossless(at, "anyOf", Action::Rewritten);
}

/// One branch per type, each with the keywords that apply to it.
fn split(work: &mut Work<'_>, id: Id) {
    let node = work.node(id).clone();
    let nulls_are_types = matches!(work.target.nulls, Nulls::Type | Nulls::Sparing);
    let mut branches = Vec::new();
    for (kind, _) in node.types.each() {
        if kind == Types::NULL && !nulls_are_types {
            continue;
        }
        let mut branch = Node::new(node.at, kind);
        for (key, part) in &node.keys {
            let Some(known) = keyword::find(key) else {
                continue;
            };
            if known.role == keyword::Role::Rule && known.applies.meets(kind) {
                branch.set(key, part.clone());
            }
        }
        if let Some(Part::Json(Value::Array(values))) = branch.part_mut("enum") {
            values.retain(|value| kind.holds(Types::of(value)));
            if values.is_empty() {
                continue;
            }
        }
        branches.push(branch);
    }
    if node.types.holds(Types::NULL)
        && !nulls_are_types
        && let Some(first) = branches.first_mut()
    {
        add_null_type(first);
    }
    let branches: Vec<Id> = branches
        .into_iter()
        .map(|branch| work.graph.add(branch))
        .collect();
    let can_union = work.target.accepts("anyOf");
    let at = node.at;
    for key in node.rules() {
        if keyword::find(key).is_some_and(|known| !known.applies.meets(node.types)) {
            work.report.lossless(at, key, Action::Dropped);
        }
    }
    let whole = work.node_mut(id);
    whole.keys.retain(|(key, _)| !keyword::is_rule(key));
    if can_union {
        whole.types = Types::ANY;
        whole.set("anyOf", Part::Many(branches));
        work.report.lossless(at, "type", Action::Rewritten);
    } else if let Some(first) = branches.first() {
        let first = work.node(*first).clone();
        let others: Vec<&str> = node.types.each().map(|(_, name)| name).collect();
        let words = format!("The server takes {} here.", others.join(", "));
        let whole = work.node_mut(id);
        whole.types = first.types;
        for (key, part) in first.keys {
            whole.set(key, part);
        }
        whole.explain(&words);
        work.report.lossy(at, "type", Action::Narrowed);
    }
}

/// A copy of `id` that null does not match, if null is one of its types or branches.
fn without_null(work: &mut Work<'_>, id: Id) -> Option<Id> {
    let mut copy = work.node(id).clone();
    if copy.types != Types::ANY && copy.types != Types::NULL && copy.types.holds(Types::NULL) {
        strip_null(&mut copy);
        return Some(work.graph.add(copy));
    }
    let branches = copy.many("anyOf").to_vec();
    let rest: Vec<Id> = branches
        .iter()
        .copied()
        .filter(|b| work.node(*b).types != Types::NULL)
        .collect();
    if rest.is_empty()
        || rest.len() == branches.len()
        || copy.types != Types::ANY
        || copy.rules().count() > 1
    {
        return None;
    }
    if rest
        .iter()
        .any(|branch| fits(&work.graph, *branch, &Value::Null))
    {
        return None;
    }
    if let [only] = rest.as_slice() {
        let only = work.node(*only).clone();
        copy.take("anyOf");
        copy.types = only.types;
        copy.reference = only.reference;
        copy.undo.extend(only.undo);
        for (key, part) in only.keys {
            if keyword::is_rule(key) || !copy.has(key) {
                copy.set(key, part);
            }
        }
    } else {
        copy.set("anyOf", Part::Many(rest));
    }
    Some(work.graph.add(copy))
}

fn strip_null(node: &mut Node) {
    node.types = node.types.without(Types::NULL);
    if let Some(Part::Json(Value::Array(values))) = node.part_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

fn add_null_type(node: &mut Node) {
    node.types = node.types.or(Types::NULL);
    if let Some(Part::Json(Value::Array(values))) = node.part_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

impl Work<'_> {
    /// A node that matches what `id` matches, and null.
    pub(super) fn or_null(&mut self, id: Id) -> Id {
        let at = self.node(id).at;
        let plain = {
            let node = self.node(id);
            let types = node.types.or(Types::NULL);
            node.types != Types::ANY
                && node.reference.is_none()
                && !["anyOf", "oneOf", "allOf", "not", "if", "const"]
                    .iter()
                    .any(|key| node.has(key))
                && list_is_legal(self, types)
        };
        let mut node = self.node(id).clone();
        if plain {
            add_null_type(&mut node);
            return self.graph.add(node);
        }
        let null = self.graph.add(Node::new(at, Types::NULL));
        if node.types == Types::ANY && node.reference.is_none() && node.has("anyOf") {
            let mut branches = node.many("anyOf").to_vec();
            branches.push(null);
            node.set("anyOf", Part::Many(branches));
            return self.graph.add(node);
        }
        let mut union = Node::new(at, Types::ANY);
        // The annotations belong to the property as a whole.
        for key in ["title", "description", "default"] {
            if let Some(part) = node.take(key) {
                union.set(key, part);
            }
        }
        let inner = self.graph.add(node);
        union.set("anyOf", Part::Many(vec![inner, null]));
        self.graph.add(union)
    }
}
