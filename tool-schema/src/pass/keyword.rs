//! The remaining keywords the target does not support: rules are described in words.

use serde_json::{Map, Value};

use super::Work;
use crate::{
    Action, Patterns, Quarantine, RefSiblings, Unions,
    graph::keyword,
    graph::types::Types,
    graph::{Id, Node, Part, write::plain},
    report::words,
};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    work.each(|work, id| {
        let keys: Vec<&'static str> = work.node(id).keys.iter().map(|(key, _)| *key).collect();
        let is_root = id == work.graph.root;
        for key in keys {
            // The root's description is complete only after every other keyword is done.
            let last = is_root && key == "description";
            if !last && !taken(work, id, key) {
                put_into_words(work, id, key);
            }
        }
        if is_root {
            root(work, id);
        }
        if work.node(id).has("anyOf") && work.target.unions == Unions::Alone {
            words_into_branches(work, id);
        }
        words_beside_reference(work, id);
        Ok(())
    })
}

/// Whether the target supports `key` of this node unchanged.
pub(super) fn taken(work: &Work<'_>, id: Id, key: &str) -> bool {
    let target = work.target;
    let accepted = if id == work.graph.root {
        target.accepts_at_root(key)
    } else {
        target.accepts(key)
    };
    let value = work.node(id).json(key);
    accepted
        && match (key, value) {
            ("format", Some(Value::String(name))) => target
                .formats
                .is_none_or(|known| known.contains(&name.as_str())),
            ("pattern", Some(Value::String(text))) => {
                target.patterns == Patterns::Any || is_plain(text)
            }
            ("minItems", Some(count)) => target
                .max_min_items
                .is_none_or(|max| count.as_u64() <= Some(max)),
            _ => true,
        }
}

/// Describes a rule that the target does not support in words, or drops it.
pub(super) fn put_into_words(work: &mut Work<'_>, id: Id, key: &'static str) {
    let node = work.node(id);
    let at = node.at;
    let Some(part) = node.part(key).cloned() else {
        return;
    };
    let reported = work.target.accepts("description");
    let sentence = match &part {
        _ if !reported => None,
        _ if matches!(key, "then" | "else" | "minContains" | "maxContains") => None,
        Part::Json(value) => words::rule(key, value),
        Part::One(_) if key == "if" => words::schema_rule(key, &condition(work, node)),
        Part::One(child) => {
            let schema = plain(&work.graph, &[*child]);
            words::schema_rule(key, schema.get(0).unwrap_or(&Value::Null))
        }
        Part::Many(children) => words::schema_rule(key, &plain(&work.graph, children)),
        Part::Named(pairs) => {
            let map: Map<String, Value> = pairs
                .iter()
                .map(|(name, child)| {
                    (
                        name.clone(),
                        plain(&work.graph, &[*child])
                            .get(0)
                            .cloned()
                            .unwrap_or_default(),
                    )
                })
                .collect();
            words::schema_rule(key, &Value::Object(map))
        }
    };
    let lossy = keyword::is_rule(key) && !work.graph.is_idle(id, key);
    let node = work.node_mut(id);
    node.take(key);
    let action = match &sentence {
        Some(sentence) => {
            node.explain(sentence);
            Action::Described
        }
        None => Action::Dropped,
    };
    if lossy {
        work.report.lossy(at, key, action);
    } else {
        work.report.lossless(at, key, action);
    }
}

/// Describes the annotations that show values in words: the node's values change their form.
pub(super) fn retire_notes(work: &mut Work<'_>, id: Id) {
    for key in ["default", "examples"] {
        put_into_words(work, id, key);
    }
}

/// Removes the rules of a node whose values get another form, and is the only way to do so: rules that the new form
/// does not imply are described in words, and are losses.
pub(super) fn retire_rules(work: &mut Work<'_>, id: Id, said: impl Fn(&str) -> bool) {
    let rules: Vec<&'static str> = work.node(id).rules().collect();
    for key in rules {
        if said(key) {
            let node = work.node_mut(id);
            node.take(key);
            let at = node.at;
            work.report.lossless(at, key, Action::Rewritten);
        } else {
            put_into_words(work, id, key);
        }
    }
}

fn condition(work: &Work<'_>, node: &Node) -> Value {
    let mut map = Map::new();
    for key in ["if", "then", "else"] {
        if let Some(child) = node.one(key) {
            map.insert(
                key.to_owned(),
                plain(&work.graph, &[child])
                    .get(0)
                    .cloned()
                    .unwrap_or_default(),
            );
        }
    }
    Value::Object(map)
}

/// Every provider requires the parameters of a tool, even if there are none.
fn root(work: &mut Work<'_>, id: Id) {
    let node = work.node(id);
    if work.target.omits_empty_root && node.properties().is_empty() {
        // The schema will be omitted, and its rules with it.
        let at = node.at;
        let rules = node
            .keys
            .iter()
            .map(|(key, _)| *key)
            .filter(|key| keyword::is_rule(key) && *key != "properties");
        for key in rules.collect::<Vec<_>>() {
            work.node_mut(id).take(key);
            work.report.lossy(at, key, Action::Dropped);
        }
    }
    if !taken(work, id, "description")
        && let Some(Part::Json(Value::String(text))) = work.node_mut(id).take("description")
    {
        let at = work.node(id).at;
        work.report.lossless(at, "description", Action::Rewritten);
        work.aside = Some(text);
    }
    if !work.node(id).has("properties") {
        let node = work.node_mut(id);
        node.set("properties", Part::Named(Vec::new()));
        let at = node.at;
        work.report.lossless(at, "properties", Action::Rewritten);
    }
}

/// Where nothing is allowed beside an `anyOf`, its description goes into the branches.
fn words_into_branches(work: &mut Work<'_>, id: Id) {
    rules_into_words(work, id, "anyOf");
    let at = work.node(id).at;
    let notes: Vec<(&'static str, Part)> = work
        .node(id)
        .keys
        .iter()
        .filter(|(key, _)| *key != "anyOf")
        .cloned()
        .collect();
    if notes.is_empty() {
        return;
    }
    let description = work.node(id).description().map(str::to_owned);
    let default = work
        .node(id)
        .json("default")
        .and_then(|value| words::rule("default", value));
    let text = [description, default]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ");
    let mut branches = work.node(id).many("anyOf").to_vec();
    let bare = branches
        .iter()
        .any(|branch| work.node(*branch).description().is_none());
    for (index, branch) in branches.iter_mut().enumerate() {
        let mut copy = work.node(*branch).clone();
        match copy.description().map(str::to_owned) {
            _ if text.is_empty() => {}
            None => copy.explain(&text),
            Some(own) if index == 0 && !bare => {
                copy.set("description", Part::Json(text.clone().into()));
                copy.explain(&own);
            }
            Some(_) => {}
        }
        *branch = work.graph.add(copy);
    }
    let node = work.node_mut(id);
    node.keys.retain(|(key, _)| *key == "anyOf");
    node.set("anyOf", Part::Many(branches));
    for (key, _) in notes {
        work.report.lossless(at, key, Action::Rewritten);
    }
}

/// Describes rules that are not allowed beside `kept`.
fn rules_into_words(work: &mut Work<'_>, id: Id, kept: &str) {
    let rules: Vec<&'static str> = work.node(id).rules().filter(|key| *key != kept).collect();
    for key in rules {
        put_into_words(work, id, key);
    }
}

/// Where nothing is allowed beside a `$ref`, its description is wrapped around it.
fn words_beside_reference(work: &mut Work<'_>, id: Id) {
    if work.node(id).reference.is_some() && work.target.ref_siblings == RefSiblings::Notes {
        rules_into_words(work, id, "$ref");
    }
    let node = work.node(id);
    let Some(target) = node.reference else { return };
    let at = node.at;
    match work.target.ref_siblings {
        RefSiblings::Any => {}
        RefSiblings::Notes => {
            let dropped: Vec<&'static str> = node
                .keys
                .iter()
                .map(|(key, _)| *key)
                .filter(|key| !matches!(*key, "description" | "default"))
                .collect();
            work.node_mut(id)
                .keys
                .retain(|(key, _)| matches!(*key, "description" | "default"));
            for key in dropped {
                work.report.lossless(at, key, Action::Dropped);
            }
        }
        RefSiblings::None if node.keys.is_empty() => {}
        RefSiblings::None => {
            let mut bare = Node::new(at, Types::ANY);
            bare.reference = Some(target);
            let bare = work.graph.add(bare);
            let node = work.node_mut(id);
            node.reference = None;
            node.set("anyOf", Part::Many(vec![bare]));
            work.report.lossless(at, "$ref", Action::Rewritten);
        }
    }
}

/// Whether a simple regular-expression engine supports the pattern.
fn is_plain(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c) if c.is_ascii_digit() && c != '0' => return false,
                Some('b' | 'B' | 'k' | 'p' | 'P') | None => return false,
                Some(_) => {}
            },
            '(' if chars.peek() == Some(&'?') => {
                chars.next();
                if chars.peek() != Some(&':') {
                    return false;
                }
            }
            '{' => {
                let count: String = chars.by_ref().take_while(|c| *c != '}').collect();
                if count
                    .split(',')
                    .any(|n| n.trim().parse::<u32>().is_ok_and(|n| n > 100))
                {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}
