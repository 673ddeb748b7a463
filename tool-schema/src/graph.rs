//! A schema as an arena of nodes. References are edges, so recursion needs no special case; a node remembers its
//! location in the original.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::{CompileLimits, Quarantine, graph::types::Types, restore::Undo};

pub(crate) mod cycle;
pub(crate) mod equal;
pub(crate) mod keyword;
pub(crate) mod merge;
pub(crate) mod plain;
pub(crate) mod read;
pub(crate) mod resolve;
pub(crate) mod shared;
pub(crate) mod types;
pub(crate) mod walk;
pub(crate) mod write;

use walk::Walk;

/// A node's index in its graph.
pub(crate) type Id = usize;

/// A keyword's value, with its subschemas replaced by nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Json(Value),
    One(Id),
    Many(Vec<Id>),
    Named(Vec<(String, Id)>),
}

impl Part {
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> {
        let (one, many, named): (Option<Id>, &[Id], &[(String, Id)]) = match self {
            Self::Json(_) => (None, &[], &[]),
            Self::One(id) => (Some(*id), &[], &[]),
            Self::Many(ids) => (None, ids, &[]),
            Self::Named(pairs) => (None, &[], pairs),
        };
        one.into_iter()
            .chain(many.iter().copied())
            .chain(named.iter().map(|(_, id)| *id))
    }
}

/// One subschema.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its location in the original: an index into the graph's places.
    pub(crate) at: usize,
    pub(crate) types: Types,
    pub(crate) reference: Option<Id>,
    pub(crate) keys: Vec<(&'static str, Part)>,
    /// The rewrites to undo, to turn a value that matches this node into what the server expects.
    pub(crate) undo: Vec<Undo>,
}

impl Node {
    pub(crate) fn new(at: usize, types: Types) -> Self {
        Self {
            at,
            types,
            reference: None,
            keys: Vec::new(),
            undo: Vec::new(),
        }
    }

    pub(crate) fn part(&self, key: &str) -> Option<&Part> {
        self.keys
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, part)| part)
    }

    pub(crate) fn part_mut(&mut self, key: &str) -> Option<&mut Part> {
        self.keys
            .iter_mut()
            .find(|(name, _)| *name == key)
            .map(|(_, part)| part)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.part(key).is_some()
    }

    /// Sets a keyword; keywords stay in output order.
    pub(crate) fn set(&mut self, key: &'static str, part: Part) {
        match self.part_mut(key) {
            Some(old) => *old = part,
            None => {
                let rank = crate::graph::keyword::rank(key);
                let index = self
                    .keys
                    .iter()
                    .position(|(name, _)| crate::graph::keyword::rank(name) > rank)
                    .unwrap_or(self.keys.len());
                self.keys.insert(index, (key, part));
            }
        }
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Part> {
        let index = self.keys.iter().position(|(name, _)| *name == key)?;
        Some(self.keys.remove(index).1)
    }

    pub(crate) fn json(&self, key: &str) -> Option<&Value> {
        match self.part(key) {
            Some(Part::Json(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn one(&self, key: &str) -> Option<Id> {
        match self.part(key) {
            Some(Part::One(id)) => Some(*id),
            _ => None,
        }
    }

    pub(crate) fn many(&self, key: &str) -> &[Id] {
        match self.part(key) {
            Some(Part::Many(ids)) => ids,
            _ => &[],
        }
    }

    pub(crate) fn named(&self, key: &str) -> &[(String, Id)] {
        match self.part(key) {
            Some(Part::Named(pairs)) => pairs,
            _ => &[],
        }
    }

    pub(crate) fn properties(&self) -> &[(String, Id)] {
        self.named("properties")
    }

    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        self.json("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }

    pub(crate) fn required_set(&self) -> HashSet<&str> {
        self.required().collect()
    }

    /// The optional properties.
    pub(crate) fn optional(&self) -> impl Iterator<Item = &(String, Id)> {
        let required = self.required_set();
        self.properties()
            .iter()
            .filter(move |(name, _)| !required.contains(name.as_str()))
    }

    /// The properties by name.
    pub(crate) fn property_map(&self) -> HashMap<&str, Id> {
        self.properties()
            .iter()
            .map(|(name, id)| (name.as_str(), *id))
            .collect()
    }

    pub(crate) fn set_required(&mut self, names: Vec<String>) {
        if names.is_empty() {
            self.take("required");
        } else {
            self.set("required", Part::Json(names.into()));
        }
    }

    pub(crate) fn description(&self) -> Option<&str> {
        self.json("description").and_then(Value::as_str)
    }

    /// Adds a sentence to the description.
    pub(crate) fn explain(&mut self, words: &str) {
        let text = match self.description() {
            Some(text) if !text.trim().is_empty() => format!("{} {words}", text.trim_end()),
            _ => words.to_owned(),
        };
        self.set("description", Part::Json(text.into()));
    }

    /// The keywords that constrain the values of the node's types.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &'static str> {
        let keys = self.keys.iter().map(|(key, _)| *key);
        keys.filter(|key| crate::graph::keyword::is_rule(key))
    }

    pub(crate) fn has_rules(&self) -> bool {
        self.rules().next().is_some()
    }

    /// The nodes that apply to the same value as this one.
    pub(crate) fn in_place(&self) -> impl Iterator<Item = Id> {
        let many = ["anyOf", "oneOf", "allOf"]
            .into_iter()
            .flat_map(|key| self.many(key));
        let one = ["not", "if", "then", "else"]
            .into_iter()
            .filter_map(|key| self.one(key));
        let named = self.named("dependentSchemas").iter().map(|(_, id)| *id);
        self.reference
            .into_iter()
            .chain(many.copied())
            .chain(one)
            .chain(named)
    }

    /// Replaces an unevaluated keyword by the additional one, which is equivalent where nothing else in the node
    /// evaluates. Returns whether that was possible; `None` without the keyword.
    pub(crate) fn settle_unevaluated(&mut self, key: &str) -> Option<bool> {
        let plain = match key {
            "unevaluatedProperties" => "additionalProperties",
            _ => "items",
        };
        self.part(key)?;
        if self.in_place().next().is_some() || self.has("contains") && plain == "items" {
            return Some(false);
        }
        let part = self.take(key)?;
        if !self.has(plain) {
            self.set(plain, part);
        }
        Some(true)
    }

    /// Whether the node contains nothing but annotations.
    pub(crate) fn is_open(&self) -> bool {
        self.reference.is_none() && self.types == Types::ANY && !self.has_rules()
    }

    /// Whether the node contains nothing but a reference and annotations.
    pub(crate) fn is_alias(&self) -> bool {
        self.reference.is_some() && self.types == Types::ANY && !self.has_rules()
    }

    /// The approximate weight of the node: one, plus one per link, plus a fraction for plain values.
    fn weight(&self) -> usize {
        let parts = self.keys.iter().map(|(_, part)| match part {
            Part::Json(value) => write::size(value) / 64,
            Part::One(_) => 1,
            Part::Many(ids) => ids.len(),
            Part::Named(pairs) => pairs.len(),
        });
        1 + parts.sum::<usize>()
    }

    /// The nodes inside this one.
    pub(crate) fn links(&self) -> impl Iterator<Item = Id> {
        self.keys.iter().flat_map(|(_, part)| part.ids())
    }

    /// Calls `visit` with each of [`children`](Self::children); faster than the iterator.
    pub(crate) fn each_child(&self, mut visit: impl FnMut(Id)) {
        self.reference.into_iter().for_each(&mut visit);
        for (_, part) in &self.keys {
            match part {
                Part::Json(_) => {}
                Part::One(id) => visit(*id),
                Part::Many(ids) => ids.iter().for_each(|id| visit(*id)),
                Part::Named(pairs) => pairs.iter().for_each(|(_, id)| visit(*id)),
            }
        }
    }

    /// The children of this node, the target of its reference first.
    pub(crate) fn children(&self) -> impl Iterator<Item = Id> {
        self.reference.into_iter().chain(self.links())
    }
}

/// One step of a JSON pointer.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    /// Locations in the original as links to the enclosing location.
    places: Vec<(usize, Step)>,
    pub(crate) root: Id,
    /// The weight of all nodes, including those no longer in use.
    weight: usize,
    /// The number of times a node was added or borrowed mutably.
    changes: usize,
}

impl Graph {
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "ids come from `add` of the same graph, and nodes are never removed"
    )]
    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "ids come from `add` of the same graph, and nodes are never removed"
    )]
    pub(crate) fn node_mut(&mut self, id: Id) -> &mut Node {
        self.changes += 1;
        &mut self.nodes[id]
    }

    pub(crate) fn add(&mut self, node: Node) -> Id {
        self.changes += 1;
        self.weight += node.weight();
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// A number that stays the same only while no node changes.
    pub(crate) fn changes(&self) -> usize {
        self.changes
    }

    /// Replaces the node `id`.
    pub(crate) fn replace(&mut self, id: Id, node: Node) {
        self.weight += node.weight();
        *self.node_mut(id) = node;
    }

    /// Whether all nodes ever added are within the limits.
    pub(crate) fn check(&self, limits: &CompileLimits) -> Result<(), Quarantine> {
        let limit = limits.nodes;
        if self.len() > limit || self.weight > limit.saturating_mul(4) {
            return Err(Quarantine::TooManyNodes { limit });
        }
        Ok(())
    }

    pub(crate) fn add_place(&mut self, parent: usize, step: Step) -> usize {
        self.places.push((parent, step));
        self.places.len()
    }

    /// The JSON pointer of a location; location 0 is the root.
    pub(crate) fn pointer(&self, place: usize) -> String {
        let mut steps = Vec::new();
        let mut at = place;
        while let Some((parent, step)) = at.checked_sub(1).and_then(|index| self.places.get(index))
        {
            steps.push(step);
            at = *parent;
        }
        let mut text = String::new();
        for step in steps.into_iter().rev() {
            text.push('/');
            match step {
                Step::Key(key) => text.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Step::Index(index) => text.push_str(&index.to_string()),
            }
        }
        text
    }

    /// The last step to a location, if it is a name.
    pub(crate) fn place_name(&self, place: usize) -> Option<&str> {
        match place
            .checked_sub(1)
            .and_then(|index| self.places.get(index))
        {
            Some((_, Step::Key(key))) => Some(key),
            _ => None,
        }
    }

    /// The nodes in use, parents first, starting with the root.
    pub(crate) fn in_use(&self) -> Vec<Id> {
        let mut walk = Walk::new(self);
        while walk.next(self).is_some() {}
        walk.into_order()
    }

    /// The graph without unused nodes.
    pub(crate) fn compact(mut self) -> Self {
        let order = self.in_use();
        let mut number: Vec<Option<Id>> = vec![None; self.len()];
        for (new, old) in order.iter().enumerate() {
            if let Some(slot) = number.get_mut(*old) {
                *slot = Some(new);
            }
        }
        let renumber = |id: &mut Id| *id = number.get(*id).copied().flatten().unwrap_or_default();
        let mut nodes = Vec::with_capacity(order.len());
        for id in order {
            let mut node = std::mem::replace(self.node_mut(id), Node::new(0, Types::NONE));
            node.reference.iter_mut().for_each(renumber);
            for (_, part) in &mut node.keys {
                match part {
                    Part::Json(_) => {}
                    Part::One(id) => renumber(id),
                    Part::Many(ids) => ids.iter_mut().for_each(renumber),
                    Part::Named(pairs) => pairs.iter_mut().for_each(|(_, id)| renumber(id)),
                }
            }
            nodes.push(node);
        }
        Self {
            nodes,
            places: Vec::new(),
            root: 0,
            weight: 0,
            changes: 0,
        }
    }

    /// Whether a rule of a node has no effect: it names nothing, admits anything, or concerns values of other types.
    pub(crate) fn is_idle(&self, id: Id, key: &str) -> bool {
        let node = self.node(id);
        let silent = match (key, node.part(key)) {
            (_, Some(Part::Named(pairs))) => pairs.is_empty(),
            (
                "additionalProperties"
                | "propertyNames"
                | "items"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                Some(Part::One(child)),
            ) => self.node(self.follow(*child)).is_open(),
            _ => false,
        };
        let known = crate::graph::keyword::find(key);
        silent || known.is_some_and(|known| !known.applies.meets(node.types))
    }

    /// Follows references without siblings, up to a limit.
    pub(crate) fn follow(&self, id: Id) -> Id {
        let mut at = id;
        for _ in 0..64 {
            match self.node(at).reference {
                Some(next) if self.node(at).is_alias() => at = next,
                _ => break,
            }
        }
        at
    }
}
