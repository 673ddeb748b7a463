//! Whether a value matches a node. Regular expressions and formats are taken on trust, so there may be false positives,
//! never false negatives.

use serde_json::Value;

use crate::{
    graph::types::Types,
    graph::{Graph, Id, Node, equal::same},
};

/// The number of steps after which everything matches.
const MAX_STEPS: usize = 100_000;
const MAX_DEPTH: usize = 256;

/// Whether `value` may match the node `id`.
pub(crate) fn fits(graph: &Graph, id: Id, value: &Value) -> bool {
    Checker { graph, steps: 0 }.fits(id, value, 0)
}

/// The rules of a node that [`fits`] takes on trust: they may cause a false positive.
pub(crate) fn on_trust(graph: &Graph, id: Id) -> Vec<&'static str> {
    let mut checker = Checker { graph, steps: 0 };
    let node = graph.node(id);
    node.keys
        .iter()
        .filter(|(key, part)| {
            UNCERTAIN.contains(key) || part.ids().any(|child| !checker.is_certain(child, 0))
        })
        .map(|(key, _)| *key)
        .collect()
}

/// Rules that are not checked, or not completely.
const UNCERTAIN: &[&str] = &[
    "pattern",
    "format",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "uniqueItems",
    "multipleOf",
    "minContains",
    "maxContains",
];

struct Checker<'a> {
    graph: &'a Graph,
    steps: usize,
}

impl Checker<'_> {
    fn fits(&mut self, id: Id, value: &Value, depth: usize) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS || depth > MAX_DEPTH {
            return true;
        }
        let node = self.graph.node(id);
        node.types.holds(Types::of(value))
            && node
                .reference
                .is_none_or(|target| self.fits(target, value, depth + 1))
            && self.choices(node, value)
            && self.in_place(node, value, depth)
            && match value {
                Value::Number(_) => self.number(node, value),
                Value::String(text) => within(node, "minLength", "maxLength", text.chars().count()),
                Value::Array(list) => self.array(node, list, depth),
                Value::Object(_) => self.object(node, value, depth),
                Value::Null | Value::Bool(_) => true,
            }
    }

    fn choices(&self, node: &Node, value: &Value) -> bool {
        node.json("const").is_none_or(|one| same(one, value))
            && node
                .json("enum")
                .and_then(Value::as_array)
                .is_none_or(|all| all.iter().any(|one| same(one, value)))
    }

    fn in_place(&mut self, node: &Node, value: &Value, depth: usize) -> bool {
        let mut any = |key| {
            let branches = node.many(key);
            branches.is_empty()
                || branches
                    .iter()
                    .any(|branch| self.fits(*branch, value, depth + 1))
        };
        any("anyOf")
            && any("oneOf")
            && node
                .many("allOf")
                .iter()
                .all(|member| self.fits(*member, value, depth + 1))
            && node
                .one("not")
                .is_none_or(|not| !self.is_certain(not, 0) || !self.fits(not, value, depth + 1))
            && self.condition(node, value, depth)
    }

    fn condition(&mut self, node: &Node, value: &Value, depth: usize) -> bool {
        let Some(test) = node.one("if") else {
            return true;
        };
        if !self.is_certain(test, 0) {
            return true;
        }
        let branch = if self.fits(test, value, depth + 1) {
            "then"
        } else {
            "else"
        };
        node.one(branch)
            .is_none_or(|branch| self.fits(branch, value, depth + 1))
    }

    /// Whether a match with the node is never a false positive.
    fn is_certain(&mut self, id: Id, depth: usize) -> bool {
        self.steps += 1;
        let node = self.graph.node(id);
        self.steps <= MAX_STEPS
            && depth < 32
            && !node.keys.iter().any(|(key, _)| UNCERTAIN.contains(key))
            && node
                .children()
                .all(|child| self.is_certain(child, depth + 1))
    }

    fn number(&self, node: &Node, value: &Value) -> bool {
        let number = value.as_f64().unwrap_or_default();
        let bound = |key| node.json(key).and_then(Value::as_f64);
        bound("minimum").is_none_or(|min| number >= min)
            && bound("maximum").is_none_or(|max| number <= max)
            && bound("exclusiveMinimum").is_none_or(|min| number > min)
            && bound("exclusiveMaximum").is_none_or(|max| number < max)
            && match (
                value.as_i64(),
                node.json("multipleOf").and_then(Value::as_i64),
            ) {
                (Some(number), Some(step)) => number.checked_rem(step) == Some(0),
                _ => true,
            }
    }

    fn array(&mut self, node: &Node, list: &[Value], depth: usize) -> bool {
        let prefix = node.many("prefixItems");
        within(node, "minItems", "maxItems", list.len())
            && list.iter().enumerate().all(|(index, item)| {
                prefix
                    .get(index)
                    .copied()
                    .or_else(|| node.one("items"))
                    .is_none_or(|child| self.fits(child, item, depth + 1))
            })
            && node.one("contains").is_none_or(|child| {
                let least = node
                    .json("minContains")
                    .and_then(Value::as_u64)
                    .unwrap_or(1);
                least == 0 || list.iter().any(|item| self.fits(child, item, depth + 1))
            })
    }

    fn object(&mut self, node: &Node, value: &Value, depth: usize) -> bool {
        let Some(map) = value.as_object() else {
            return true;
        };
        let patterned = node.has("patternProperties");
        within(node, "minProperties", "maxProperties", map.len())
            && node.required().all(|name| map.contains_key(name))
            && map.iter().all(|(key, item)| {
                let listed = node
                    .properties()
                    .iter()
                    .find(|(name, _)| name == key)
                    .map(|(_, child)| *child);
                let child =
                    listed.or_else(|| node.one("additionalProperties").filter(|_| !patterned));
                child.is_none_or(|child| self.fits(child, item, depth + 1))
            })
            && node.one("propertyNames").is_none_or(|names| {
                map.keys()
                    .all(|key| self.fits(names, &Value::from(key.as_str()), depth + 1))
            })
            && node
                .named("dependentSchemas")
                .iter()
                .all(|(name, child)| !map.contains_key(name) || self.fits(*child, value, depth + 1))
            && node
                .json("dependentRequired")
                .and_then(Value::as_object)
                .is_none_or(|rules| {
                    rules.iter().all(|(name, needed)| {
                        let mut needed = needed
                            .as_array()
                            .into_iter()
                            .flatten()
                            .filter_map(Value::as_str);
                        !map.contains_key(name) || needed.all(|name| map.contains_key(name))
                    })
                })
    }
}

fn within(node: &Node, least: &str, most: &str, count: usize) -> bool {
    let bound = |key| node.json(key).and_then(Value::as_u64);
    let count = count as u64;
    bound(least).is_none_or(|min| count >= min) && bound(most).is_none_or(|max| count <= max)
}
