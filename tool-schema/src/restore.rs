//! The reverse conversion: from the model's arguments to those the server expects.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use crate::graph::{Graph, Id, equal::same};

mod fits;

pub(crate) use fits::{fits, on_trust};

/// Values nested deeper than this are left unchanged.
const MAX_DEPTH: usize = 256;

/// A rewrite of values, undone at its node.
#[derive(Clone, Debug)]
pub(crate) enum Undo {
    /// The value is JSON in a string.
    Json,
    /// A string stands for a value.
    Labels(Vec<(String, Value)>),
    /// A list of keys and values stands for a map.
    Entries,
    /// The value is in the property `value`.
    Unwrap,
    /// Null stands for an absent key.
    Absent(Vec<String>),
    /// An absent key stands for null; nothing to undo.
    Spared(Vec<String>),
    /// The default stands for an absent key; nothing to undo.
    Default(Vec<(String, Value)>),
    /// Keys, and what they were.
    Rename(Vec<(String, String)>),
}

/// Turns a model's arguments into what the server expects.
///
/// Cheap to clone. Arguments that match the *original* schema are returned unchanged, except where the compiled schema
/// gives them another meaning: a string where it requires JSON in a string.
#[derive(Clone, Debug, Default)]
pub struct Restore {
    plan: Option<Arc<Plan>>,
}

#[derive(Debug)]
struct Plan {
    graph: Graph,
    /// Whether there is something to undo in a node or below it.
    active: Vec<bool>,
    /// Whether restoring ever changes anything.
    effect: bool,
}

impl Restore {
    /// Takes over the nodes in use.
    pub(crate) fn new(graph: Graph) -> Self {
        let graph = graph.compact();
        let active = above(&graph, |_| true);
        let effect = changed(&graph).get(graph.root) == Some(&true);
        let plan = (active.get(graph.root) == Some(&true)).then(|| {
            Arc::new(Plan {
                graph,
                active,
                effect,
            })
        });
        Self { plan }
    }

    /// Whether all arguments are returned unchanged.
    pub fn is_identity(&self) -> bool {
        self.plan.as_ref().is_none_or(|plan| !plan.effect)
    }

    /// Converts arguments to the form the server expects. Arguments that do not match the compiled schema are restored
    /// as far as possible.
    pub fn apply(&self, arguments: Value) -> Value {
        match &self.plan {
            Some(plan) => plan.back(plan.graph.root, arguments, 0),
            None => arguments,
        }
    }

    /// Keys the model spells differently from the server: first the model's, then the server's.
    pub fn renamed_keys(&self) -> BTreeSet<(&str, &str)> {
        let nodes = self.plan.iter().flat_map(|plan| {
            let graph = &plan.graph;
            (0..graph.len()).flat_map(|id| &graph.node(id).undo)
        });
        let renames = nodes.filter_map(|undo| match undo {
            Undo::Rename(names) => Some(names),
            _ => None,
        });
        let names = renames.flatten();
        names
            .map(|(new, old)| (new.as_str(), old.as_str()))
            .collect()
    }

    /// Converts arguments to the form the model would have written, which [`apply`](Self::apply) turns back into
    /// `arguments`. For calls in a history that another model reads.
    pub fn project(&self, arguments: Value) -> Value {
        match &self.plan {
            Some(plan) => plan.forth(plan.graph.root, arguments, 0),
            None => arguments,
        }
    }
}

/// The nodes with a value to restore in or below them.
pub(crate) fn changed(graph: &Graph) -> Vec<bool> {
    above(graph, Undo::has_effect)
}

/// The nodes with such an undo, and the nodes that lead to one.
fn above(graph: &Graph, wanted: impl Fn(&Undo) -> bool) -> Vec<bool> {
    let mut parents: Vec<Vec<Id>> = vec![Vec::new(); graph.len()];
    let mut queue = Vec::new();
    for id in 0..graph.len() {
        for child in graph.node(id).children() {
            if let Some(list) = parents.get_mut(child) {
                list.push(id);
            }
        }
        if graph.node(id).undo.iter().any(&wanted) {
            queue.push(id);
        }
    }
    let mut found = vec![false; graph.len()];
    while let Some(id) = queue.pop() {
        if let Some(flag) = found.get_mut(id)
            && !*flag
        {
            *flag = true;
            queue.extend(parents.get(id).into_iter().flatten());
        }
    }
    found
}

impl Plan {
    fn is_idle(&self, id: Id) -> bool {
        self.active.get(id) != Some(&true)
    }

    fn back(&self, id: Id, mut value: Value, depth: usize) -> Value {
        if self.is_idle(id) || depth > MAX_DEPTH {
            return value;
        }
        let node = self.graph.node(id);
        // Branches are selected by the model's own output, before anything changes.
        let mut in_place: Vec<Id> = node.reference.into_iter().collect();
        in_place.extend(node.many("allOf"));
        for key in ["anyOf", "oneOf"] {
            in_place.extend(
                node.many(key)
                    .iter()
                    .find(|branch| fits(&self.graph, **branch, &value)),
            );
        }
        value = self.inside(id, value, depth, Self::back);
        for branch in in_place {
            value = self.back(branch, value, depth + 1);
        }
        node.undo.iter().fold(value, |value, undo| undo.back(value))
    }

    fn forth(&self, id: Id, value: Value, depth: usize) -> Value {
        if self.is_idle(id) || depth > MAX_DEPTH {
            return value;
        }
        let node = self.graph.node(id);
        let mut value = node
            .undo
            .iter()
            .rev()
            .fold(value, |value, undo| undo.forth(value));
        for branch in node.reference.iter().chain(node.many("allOf")) {
            value = self.forth(*branch, value, depth + 1);
        }
        for key in ["anyOf", "oneOf"] {
            let written = node.many(key).iter().find_map(|branch| {
                let written = self.forth(*branch, value.clone(), depth + 1);
                fits(&self.graph, *branch, &written).then_some(written)
            });
            value = written.unwrap_or(value);
        }
        self.inside(id, value, depth, Self::forth)
    }

    /// Restores the content of `value`, each item by its node.
    fn inside(
        &self,
        id: Id,
        mut value: Value,
        depth: usize,
        turn: fn(&Self, Id, Value, usize) -> Value,
    ) -> Value {
        match &mut value {
            Value::Object(map) => {
                let node = self.graph.node(id);
                let (properties, rest) = (node.property_map(), node.one("additionalProperties"));
                for (key, item) in map.iter_mut() {
                    if let Some(child) = properties.get(key.as_str()).copied().or(rest) {
                        *item = turn(self, child, item.take(), depth + 1);
                    }
                }
            }
            Value::Array(list) => {
                for (index, item) in list.iter_mut().enumerate() {
                    if let Some(child) = self.item(id, index) {
                        *item = turn(self, child, item.take(), depth + 1);
                    }
                }
            }
            _ => {}
        }
        value
    }

    fn item(&self, id: Id, index: usize) -> Option<Id> {
        let node = self.graph.node(id);
        node.many("prefixItems")
            .get(index)
            .copied()
            .or_else(|| node.one("items"))
    }
}

impl Undo {
    /// Whether undoing changes a value.
    fn has_effect(&self) -> bool {
        !matches!(self, Self::Spared(_) | Self::Default(_))
    }

    fn back(&self, value: Value) -> Value {
        match (self, value) {
            (Self::Json, Value::String(text)) => {
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }
            (Self::Labels(labels), Value::String(text)) => {
                let found = labels.iter().find(|(label, _)| *label == text);
                found.map_or(Value::String(text), |(_, value)| value.clone())
            }
            (Self::Entries, Value::Array(list)) => map_of(list),
            (Self::Unwrap, Value::Object(mut map)) => match map.shift_remove("value") {
                Some(value) => value,
                None => Value::Object(map),
            },
            (Self::Absent(names), Value::Object(mut map)) => {
                let names: HashSet<&String> = names.iter().collect();
                map.retain(|key, item| !(item.is_null() && names.contains(key)));
                Value::Object(map)
            }
            (Self::Rename(names), Value::Object(map)) => {
                renamed(map, names.iter().map(|(new, old)| (new, old)))
            }
            (_, value) => value,
        }
    }

    fn forth(&self, value: Value) -> Value {
        match (self, value) {
            (Self::Json, value) => Value::String(value.to_string()),
            (Self::Labels(labels), value) => {
                let found = labels.iter().find(|(_, known)| same(known, &value));
                found.map_or(value, |(label, _)| Value::String(label.clone()))
            }
            (Self::Entries, Value::Object(map)) => map
                .into_iter()
                .map(|(key, value)| {
                    Value::Object(Map::from_iter([
                        ("key".to_owned(), key.into()),
                        ("value".to_owned(), value),
                    ]))
                })
                .collect(),
            (Self::Unwrap, value) => Value::Object(Map::from_iter([("value".to_owned(), value)])),
            (Self::Absent(names), Value::Object(mut map)) => {
                for name in names {
                    map.entry(name.clone()).or_insert(Value::Null);
                }
                Value::Object(map)
            }
            (Self::Spared(names), Value::Object(mut map)) => {
                let names: HashSet<&String> = names.iter().collect();
                map.retain(|key, item| !(item.is_null() && names.contains(key)));
                Value::Object(map)
            }
            (Self::Default(defaults), Value::Object(mut map)) => {
                for (name, value) in defaults {
                    map.entry(name.clone()).or_insert_with(|| value.clone());
                }
                Value::Object(map)
            }
            (Self::Rename(names), Value::Object(map)) => {
                renamed(map, names.iter().map(|(new, old)| (old, new)))
            }
            (_, value) => value,
        }
    }
}

/// The map with some of its keys renamed.
fn renamed<'n>(
    map: Map<String, Value>,
    names: impl Iterator<Item = (&'n String, &'n String)>,
) -> Value {
    let names: HashMap<&String, &String> = names.collect();
    map.into_iter()
        .map(|(key, item)| match names.get(&key) {
            Some(name) => ((*name).clone(), item),
            None => (key, item),
        })
        .collect::<Map<_, _>>()
        .into()
}

/// The map from a list of entries; the list itself if it is not one.
fn map_of(list: Vec<Value>) -> Value {
    let mut map = Map::new();
    for entry in &list {
        let (Some(Value::String(key)), Some(value)) = (entry.get("key"), entry.get("value")) else {
            return Value::Array(list);
        };
        map.insert(key.clone(), value.clone());
    }
    Value::Object(map)
}
