//! The root: an object, without unions where the target allows none there.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Work, combine::admits_object, keyword};
use crate::{
    Action, Quarantine,
    graph::types::Types,
    graph::{Id, Node, Part, equal::canon},
    report::words,
    restore::Undo,
};

/// The number of nodes compared before two subschemas count as different.
const MAX_STEPS: usize = 500;
/// The maximum number of branches of a union that are processed.
const MAX_BRANCHES: usize = 64;

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    let root = work.graph.root;
    if work.node(root).reference.is_some()
        || (work.node(root).has("allOf") && !work.target.accepts_at_root("allOf"))
    {
        let at = work.node(root).at;
        let keyword = if work.node(root).reference.is_some() {
            "$ref"
        } else {
            "allOf"
        };
        work.fold(root)?;
        work.report.lossless(at, keyword, Action::Rewritten);
    }
    let node = work.node(root);
    if node.types == Types::NONE {
        return Err(impossible(work, root));
    }
    if !admits_object(work, root) || (work.target.output && !is_plain_object(work, root)) {
        wrap(work);
        return Ok(());
    }
    if node.types != Types::OBJECT {
        let at = node.at;
        work.node_mut(root).types = Types::OBJECT;
        work.report.lossless(at, "type", Action::Rewritten);
    }
    for key in ["anyOf", "oneOf"] {
        if work.node(root).has(key) && !work.target.accepts_at_root(key) {
            melt(work, root, key)?;
        }
    }
    Ok(())
}

/// Whether a root is an object that lists its properties, even if there are none, and that the target accepts
/// unchanged.
fn is_plain_object(work: &Work<'_>, root: Id) -> bool {
    let node = work.node(root);
    let rest = node.one("additionalProperties");
    let closed = rest.is_none_or(|rest| work.is_never(rest)) && !node.has("patternProperties");
    let refused = |key: &str| node.has(key) && !work.target.accepts_at_root(key);
    node.types == Types::OBJECT
        && (!node.properties().is_empty() || (closed && node.has("properties")))
        && !["anyOf", "oneOf", "enum", "const"].into_iter().any(refused)
}

/// Arguments are objects: anything else is wrapped in a property.
fn wrap(work: &mut Work<'_>) {
    let inner = work.graph.root;
    let at = work.node(inner).at;
    let mut outer = Node::new(at, Types::OBJECT);
    outer.set("properties", Part::Named(vec![("value".to_owned(), inner)]));
    outer.set_required(vec!["value".to_owned()]);
    outer.undo.push(Undo::Unwrap);
    work.graph.root = work.graph.add(outer);
    work.report.lossless(at, "type", Action::Rewritten);
}

fn impossible(work: &Work<'_>, id: Id) -> Quarantine {
    Quarantine::Impossible {
        pointer: work.graph.pointer(work.node(id).at),
    }
}

/// Merges a union of objects into one object: all their properties, required only if all branches require them, and the
/// remaining rules in words.
pub(super) fn melt(work: &mut Work<'_>, id: Id, key: &'static str) -> Result<(), Quarantine> {
    let at = work.node(id).at;
    keyword::put_into_words(work, id, "unevaluatedProperties");
    let mut base = work.node(id).clone();
    let branches = base.many(key).to_vec();
    base.take(key);
    let base_id = work.graph.add(base.clone());
    let variants = variants(work, base_id, branches)?;
    match variants.as_slice() {
        [] => return Err(impossible(work, id)),
        [only] => {
            let mut node = work.node(*only).clone();
            node.at = at;
            *work.node_mut(id) = node;
            work.report.lossless(at, key, Action::Rewritten);
            return Ok(());
        }
        _ => {}
    }
    let mut choices: Vec<(String, Vec<Id>)> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for variant in &variants {
        for (name, choice) in work.node(*variant).properties() {
            let slot = *index.entry(name.clone()).or_insert(choices.len());
            match choices.get_mut(slot) {
                None => choices.push((name.clone(), vec![*choice])),
                Some((_, known))
                    if known
                        .iter()
                        .any(|known| alike(work, *known, *choice, &mut 0)) => {}
                Some((_, known)) => known.push(*choice),
            }
        }
    }
    let mut properties = Vec::with_capacity(choices.len());
    for (name, choices) in choices {
        properties.push((name, either(work, &choices)));
    }
    let closed = variants.iter().all(|variant| {
        work.node(*variant)
            .one("additionalProperties")
            .is_some_and(|rest| work.is_never(rest))
    });
    let mut node = base;
    node.types = Types::OBJECT;
    node.set("properties", Part::Named(properties));
    let required = |variant: &Id| -> Vec<String> {
        work.node(*variant).required().map(str::to_owned).collect()
    };
    let mut common = variants.first().map(required).unwrap_or_default();
    for variant in &variants {
        let required = work.node(*variant).required_set();
        common.retain(|name| required.contains(name.as_str()));
    }
    let sentence = sentence(work, key, &variants, &common);
    node.set_required(common);
    node.take("additionalProperties");
    if closed {
        let never = work.graph.add(Node::new(at, Types::NONE));
        node.set("additionalProperties", Part::One(never));
    }
    if let Some(sentence) = sentence {
        node.explain(&sentence);
    }
    *work.node_mut(id) = node;
    work.report.lossy(at, key, Action::Weakened);
    Ok(())
}

/// The branches constrained by `base`, with unions in them resolved, without those no object matches.
fn variants(work: &mut Work<'_>, base: Id, branches: Vec<Id>) -> Result<Vec<Id>, Quarantine> {
    let mut open: std::collections::VecDeque<Id> = branches.into();
    let mut done = Vec::new();
    let mut steps = 0;
    while let Some(branch) = open.pop_front() {
        steps += 1;
        if steps > MAX_BRANCHES {
            let at = work.node(base).at;
            work.report.lossy(at, "anyOf", Action::Narrowed);
            break;
        }
        let merged = work.merger().merge(base, branch)?;
        let copy = work.node(merged).clone();
        let merged = work.graph.add(copy);
        work.fold(merged)?;
        let inner = ["anyOf", "oneOf"]
            .into_iter()
            .find(|key| work.node(merged).has(key));
        if let Some(key) = inner {
            let branches = work.node(merged).many(key).to_vec();
            work.node_mut(merged).take(key);
            for branch in branches {
                let narrowed = work.merger().merge(merged, branch)?;
                open.push_back(narrowed);
            }
        } else if work.node(merged).types.meets(Types::OBJECT) {
            done.push(merged);
        }
    }
    Ok(done)
}

/// One node for a property that differs from variant to variant.
fn either(work: &mut Work<'_>, choices: &[Id]) -> Id {
    let [first, _, ..] = choices else {
        return choices.first().copied().unwrap_or(work.graph.root);
    };
    let at = work.node(*first).at;
    let mut values: Vec<Value> = Vec::new();
    let mut seen = HashSet::new();
    let mut types = Types::NONE;
    for choice in choices {
        let node = work.node(work.graph.follow(*choice));
        types = types.or(node.types);
        let listed = match (node.json("const"), node.json("enum")) {
            (Some(one), _) => vec![one.clone()],
            (None, Some(Value::Array(list))) => list.clone(),
            _ => Vec::new(),
        };
        if listed.is_empty()
            || node
                .keys
                .iter()
                .filter(|(key, _)| crate::graph::keyword::is_rule(key))
                .count()
                > 1
        {
            let mut union = Node::new(at, Types::ANY);
            union.set("anyOf", Part::Many(choices.to_vec()));
            return work.graph.add(union);
        }
        values.extend(listed.into_iter().filter(|value| seen.insert(canon(value))));
    }
    if work.node(*first).has("const") {
        work.report.lossless(at, "const", Action::Rewritten);
    }
    let mut node = Node::new(at, types);
    if let Some(text) = choices
        .iter()
        .find_map(|choice| work.node(*choice).json("description").cloned())
    {
        node.set("description", Part::Json(text));
    }
    node.set("enum", Part::Json(Value::Array(values)));
    work.graph.add(node)
}

/// Whether two nodes are equivalent, as far as a number of steps shows.
pub(super) fn alike(work: &Work<'_>, a: Id, b: Id, steps: &mut usize) -> bool {
    if a == b {
        return true;
    }
    let (x, y) = (work.node(a), work.node(b));
    *steps += 1;
    if *steps > MAX_STEPS
        || x.types != y.types
        || x.reference != y.reference
        || x.keys.len() != y.keys.len()
    {
        return false;
    }
    x.keys
        .iter()
        .zip(&y.keys)
        .all(|((key, mine), (other, theirs))| {
            key == other
                && match (mine, theirs) {
                    (Part::One(m), Part::One(t)) => alike(work, *m, *t, steps),
                    (Part::Many(m), Part::Many(t)) => {
                        m.len() == t.len()
                            && m.iter().zip(t).all(|(m, t)| alike(work, *m, *t, steps))
                    }
                    (Part::Named(m), Part::Named(t)) => {
                        m.len() == t.len()
                            && m.iter()
                                .zip(t)
                                .all(|((n, m), (o, t))| n == o && alike(work, *m, *t, steps))
                    }
                    _ => mine == theirs,
                }
        })
}

/// A description of the union's requirement, if each branch required something.
fn sentence(work: &Work<'_>, key: &str, variants: &[Id], common: &[String]) -> Option<String> {
    let mut sets = Vec::new();
    for variant in variants.iter().take(20) {
        let node = work.node(*variant);
        let properties = node.property_map();
        let mut parts = Vec::new();
        for name in node.required() {
            let fixed = properties
                .get(name)
                .and_then(|child| work.node(work.graph.follow(*child)).json("const"));
            match fixed {
                Some(value) => parts.push(format!("`{name}` = {value}")),
                None if common.iter().any(|known| known == name) => {}
                None => parts.push(format!("`{name}`")),
            }
        }
        if parts.is_empty() {
            return None;
        }
        sets.push(words::clip(&parts.join(" and "), 200));
    }
    let how = if key == "oneOf" {
        "Exactly one"
    } else {
        "At least one"
    };
    Some(format!(
        "{how} of these must be given: {}.",
        sets.join("; or ")
    ))
}
