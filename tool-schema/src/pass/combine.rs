//! `allOf`, `oneOf` and `anyOf`, as far as the target supports them.

use std::collections::HashSet;

use serde_json::Value;

use super::{Work, array, keyword, root};
use crate::{
    Action, Quarantine, Unions,
    graph::types::Types,
    graph::{Id, Node, Part, equal::canon},
    report::words,
    restore::{fits, on_trust},
};

/// The number of times one node is revisited because a rewrite put a union where another was.
const MAX_ROUNDS: usize = 16;

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    work.each(|work, id| {
        for _ in 0..MAX_ROUNDS {
            if !round(work, id)? {
                break;
            }
        }
        Ok(())
    })
}

/// One round on one node; returns whether another may be required.
fn round(work: &mut Work<'_>, id: Id) -> Result<bool, Quarantine> {
    let refused = |work: &Work<'_>, key: &str| {
        let accepted = if id == work.graph.root {
            work.target.accepts_at_root(key)
        } else {
            work.target.accepts(key)
        };
        work.node(id).has(key) && !accepted
    };
    let mut again = false;
    if refused(work, "allOf") {
        let at = work.node(id).at;
        work.fold(id)?;
        work.report.lossless(at, "allOf", Action::Rewritten);
    }
    for key in ["unevaluatedProperties", "unevaluatedItems"] {
        if !work.target.accepts(key) {
            unevaluated(work, id, key);
        }
    }
    if refused(work, "prefixItems") {
        array::tuple(work, id);
    }
    if refused(work, "oneOf") {
        one_of(work, id)?;
        again = true;
    }
    if refused(work, "anyOf") {
        collapse(work, id)?;
        again = true;
    } else if work.node(id).has("anyOf") && work.target.unions() != Unions::Free {
        again |= distribute(work, id)?;
    }
    Ok(again)
}

/// Whether some object matches the node, as far as types and unions show.
pub(super) fn admits_object(work: &Work<'_>, id: Id) -> bool {
    fn admits(work: &Work<'_>, id: Id, fuel: usize) -> bool {
        let node = work.node(work.graph.follow(id));
        let listed = |key| match node.json(key) {
            Some(Value::Array(values)) if key == "enum" => values.iter().any(Value::is_object),
            Some(value) if key == "const" => value.is_object(),
            _ => true,
        };
        let branches = |key| {
            let ids = node.many(key);
            ids.is_empty() || ids.iter().any(|branch| admits(work, *branch, fuel - 1))
        };
        fuel == 0
            || (node.types.meets(Types::OBJECT)
                && listed("enum")
                && listed("const")
                && branches("anyOf")
                && branches("oneOf")
                && node
                    .reference
                    .iter()
                    .chain(node.many("allOf"))
                    .all(|member| admits(work, *member, fuel - 1)))
    }
    admits(work, id, 8)
}

/// Once everything is in one node, unevaluated is the same as additional.
pub(super) fn unevaluated(work: &mut Work<'_>, id: Id, key: &'static str) {
    if !work.node(id).has(key) {
        return;
    }
    let node = work.node_mut(id);
    if let Some(true) = node.settle_unevaluated(key) {
        let at = node.at;
        work.report.lossless(at, key, Action::Rewritten);
    }
}

fn one_of(work: &mut Work<'_>, id: Id) -> Result<(), Quarantine> {
    let at = work.node(id).at;
    let branches = work.node(id).many("oneOf").to_vec();
    if disjoint(work, &branches) {
        work.report.lossless(at, "oneOf", Action::Rewritten);
    } else {
        work.report.lossy(at, "oneOf", Action::Weakened);
    }
    work.node_mut(id).take("oneOf");
    let mut union = Node::new(at, Types::ANY);
    union.set("anyOf", Part::Many(branches));
    let union = work.graph.add(union);
    work.merger().narrow(id, union)
}

/// Whether no value can match two of the branches.
fn disjoint(work: &Work<'_>, branches: &[Id]) -> bool {
    branches.iter().enumerate().all(|(index, a)| {
        branches
            .iter()
            .skip(index + 1)
            .all(|b| apart(work, *a, *b, 3))
    })
}

/// Whether no value can match both nodes, as far as `fuel` levels show.
pub(super) fn apart(work: &Work<'_>, a: Id, b: Id, fuel: usize) -> bool {
    let ids = (work.graph.follow(a), work.graph.follow(b));
    let (a, b) = (work.node(ids.0), work.node(ids.1));
    if !a.types.meets(b.types) {
        return true;
    }
    if let (Some(mine), Some(theirs)) = (listed(a), listed(b)) {
        let mine: HashSet<String> = mine.into_iter().map(canon).collect();
        return !theirs.into_iter().any(|value| mine.contains(&canon(value)));
    }
    if fuel == 0 {
        return false;
    }
    let branches = |node: &Node, other: Id| {
        let branches = node.many("anyOf");
        !branches.is_empty()
            && branches
                .iter()
                .all(|branch| apart(work, *branch, other, fuel - 1))
    };
    branches(a, ids.1)
        || branches(b, ids.0)
        || (a.types.and(b.types) == Types::OBJECT && keys_apart(work, a, b, fuel))
}

/// Whether a key that one object requires is forbidden in the other, or differs there.
fn keys_apart(work: &Work<'_>, a: &Node, b: &Node, fuel: usize) -> bool {
    let closed = |node: &Node| {
        !node.has("patternProperties")
            && node
                .one("additionalProperties")
                .is_some_and(|rest| work.is_never(rest))
    };
    let (mine, theirs) = (a.property_map(), b.property_map());
    let both = b.required_set();
    closed(b) && a.required().any(|name| !theirs.contains_key(name))
        || closed(a) && b.required().any(|name| !mine.contains_key(name))
        || a.required().filter(|name| both.contains(name)).any(|name| {
            mine.get(name)
                .zip(theirs.get(name))
                .is_some_and(|(x, y)| apart(work, *x, *y, fuel - 1))
        })
}

/// The values that a node lists and that its other rules accept.
pub(super) fn admitted(work: &mut Work<'_>, id: Id) -> Vec<Value> {
    let values: Vec<Value> = listed(work.node(id))
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let mut rest = work.node(id).clone();
    rest.take("const");
    rest.take("enum");
    let rest = work.graph.add(rest);
    values
        .into_iter()
        .filter(|value| fits(&work.graph, rest, value))
        .collect()
}

fn listed(node: &Node) -> Option<Vec<&Value>> {
    match (node.json("const"), node.json("enum")) {
        (Some(one), _) => Some(vec![one]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// Moves what is beside an `anyOf` into its branches. Returns whether that may have left another union here.
fn distribute(work: &mut Work<'_>, id: Id) -> Result<bool, Quarantine> {
    let at = work.node(id).at;
    let before = work.node(id).many("anyOf").to_vec();
    let branches = narrowed(work, id, &before)?;
    if branches == before && branches.len() > 1 {
        return Ok(false);
    }
    let mut keys = work.node(id).keys.clone();
    keys.retain(|(key, _)| !crate::graph::keyword::is_rule(key));
    work.report.lossless(at, "anyOf", Action::Rewritten);
    let node = work.node_mut(id);
    node.types = Types::ANY;
    node.reference = None;
    node.keys = keys;
    match branches.as_slice() {
        [] => node.types = Types::NONE,
        [only] => {
            let only = *only;
            adopt(work, id, only);
        }
        _ => node.set("anyOf", Part::Many(branches)),
    }
    Ok(true)
}

/// The branches, each constrained by what is beside them, without unsatisfiable ones.
fn narrowed(work: &mut Work<'_>, id: Id, branches: &[Id]) -> Result<Vec<Id>, Quarantine> {
    // What all matching branches leave unevaluated cannot be expressed by one branch alone.
    for key in ["unevaluatedProperties", "unevaluatedItems"] {
        keyword::put_into_words(work, id, key);
    }
    let mut base = work.node(id).clone();
    base.keys
        .retain(|(key, _)| crate::graph::keyword::is_rule(key) && *key != "anyOf");
    let says_something = base.types != Types::ANY || base.has_rules() || base.reference.is_some();
    let base = work.graph.add(base);
    let mut kept = Vec::with_capacity(branches.len());
    for branch in branches {
        let merged = if says_something {
            work.merger().merge(base, *branch)?
        } else {
            *branch
        };
        if work.node(merged).has("allOf") && !work.target.accepts("allOf") {
            work.fold(merged)?;
        }
        if work.node(merged).types != Types::NONE && !kept.contains(&merged) {
            kept.push(merged);
        }
    }
    Ok(kept)
}

/// The branches, with unions among them replaced by their own branches.
fn flattened(work: &mut Work<'_>, branches: Vec<Id>) -> Result<Vec<Id>, Quarantine> {
    let mut flat = branches;
    for _ in 0..MAX_ROUNDS {
        let mut next = Vec::new();
        let mut again = false;
        for branch in &flat {
            if work.node(*branch).has("oneOf") {
                one_of(work, *branch)?;
            }
            let inner = work.node(*branch).many("anyOf").to_vec();
            if inner.is_empty() {
                next.push(*branch);
            } else {
                again = true;
                next.extend(narrowed(work, *branch, &inner)?);
            }
        }
        flat = next;
        if !again || flat.len() > 64 {
            break;
        }
    }
    Ok(flat)
}

/// The values of all branches together, if each lists its own.
fn listed_in_all(work: &mut Work<'_>, branches: &[Id]) -> Option<Vec<Value>> {
    let mut all: Vec<Value> = Vec::new();
    let mut seen = HashSet::new();
    for branch in branches {
        listed(work.node(*branch))?;
        let at = work.node(*branch).at;
        for key in on_trust(&work.graph, *branch) {
            work.report.lossy(at, key, Action::Dropped);
        }
        for value in admitted(work, *branch) {
            if seen.insert(canon(&value)) {
                all.push(value);
            }
        }
    }
    Some(all)
}

/// Makes `id` equal to `other`; its own annotations stay.
pub(super) fn adopt(work: &mut Work<'_>, id: Id, other: Id) {
    let other = work.node(other).clone();
    let node = work.node_mut(id);
    let notes = std::mem::take(&mut node.keys);
    node.types = other.types;
    node.reference = other.reference;
    node.undo.extend(other.undo);
    node.keys = other.keys;
    for (key, part) in notes {
        node.set(key, part);
    }
}

/// Merges the branches into one, for a target without `anyOf`.
fn collapse(work: &mut Work<'_>, id: Id) -> Result<(), Quarantine> {
    let at = work.node(id).at;
    let branches = work.node(id).many("anyOf").to_vec();
    let branches = narrowed(work, id, &branches)?;
    let mut branches = flattened(work, branches)?;
    let admits_null = branches
        .iter()
        .any(|branch| fits(&work.graph, *branch, &Value::Null));
    branches.retain(|branch| work.node(work.graph.follow(*branch)).types != Types::NULL);
    let all_objects = branches
        .iter()
        .all(|b| work.node(work.graph.follow(*b)).types.without(Types::NULL) == Types::OBJECT);
    let enums = listed_in_all(work, &branches);
    let words = words::schema_rule("anyOf", &crate::graph::write::plain(&work.graph, &branches));
    let mut keys = work.node(id).keys.clone();
    keys.retain(|(key, _)| !crate::graph::keyword::is_rule(key));
    let node = work.node_mut(id);
    node.types = Types::ANY;
    node.keys = keys;
    match (branches.as_slice(), enums) {
        ([], _) => {
            node.types = if admits_null {
                Types::NULL
            } else {
                Types::NONE
            }
        }
        ([only], _) => {
            let only = *only;
            adopt(work, id, only);
            work.report.lossless(at, "anyOf", Action::Rewritten);
        }
        (_, _) if all_objects => {
            node.set("anyOf", Part::Many(branches));
            root::melt(work, id, "anyOf")?;
        }
        (_, Some(values)) => {
            node.set("enum", Part::Json(Value::Array(values)));
            work.report.lossless(at, "anyOf", Action::Rewritten);
        }
        ([first, ..], None) => {
            let first = *first;
            adopt(work, id, first);
            if let Some(words) = words {
                work.node_mut(id).explain(&words);
            }
            work.report.lossy(at, "anyOf", Action::Narrowed);
        }
    }
    if admits_null {
        let node = work.node_mut(id);
        node.types = node.types.or(Types::NULL);
        if let Some(Part::Json(one)) = node.take("const") {
            node.set("enum", Part::Json(Value::Array(vec![one])));
        }
        if let Some(Part::Json(Value::Array(values))) = node.part_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
    Ok(())
}
