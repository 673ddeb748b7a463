//! The intersection of two nodes: the meaning of `allOf`, in one node.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::{
    Graph, Id, Node, Part,
    equal::{canon, same},
    write::plain,
};
use crate::{Action, CompileLimits, Quarantine, graph::types::Types, report::Report};

/// Keywords that have a meaning only beside the first of their group.
const GROUPS: [[&str; 3]; 2] = [
    ["if", "then", "else"],
    ["contains", "minContains", "maxContains"],
];

/// Two unions with more branches than this together are not multiplied.
const MAX_PRODUCT: usize = 64;

/// Merges nodes of one graph; equal pairs are merged once, so recursion terminates.
pub(crate) struct Merger<'a> {
    graph: &'a mut Graph,
    report: &'a mut Report,
    limits: &'a CompileLimits,
    memo: &'a mut Memo,
    queue: VecDeque<(Id, Id, Id)>,
}

/// Pairs merged so far.
pub(crate) type Memo = HashMap<(Id, Id), Id>;

impl<'a> Merger<'a> {
    pub(crate) fn new(
        graph: &'a mut Graph,
        report: &'a mut Report,
        memo: &'a mut Memo,
        limits: &'a CompileLimits,
    ) -> Self {
        Self {
            graph,
            report,
            limits,
            memo,
            queue: VecDeque::new(),
        }
    }

    /// A node that accepts what both `a` and `b` accept. Members of `allOf` and targets of references may remain in its
    /// `allOf`.
    pub(crate) fn merge(&mut self, a: Id, b: Id) -> Result<Id, Quarantine> {
        let id = self.pair(a, b);
        self.settle()?;
        Ok(id)
    }

    /// Constrains the node `id` by `other`.
    pub(crate) fn narrow(&mut self, id: Id, other: Id) -> Result<(), Quarantine> {
        let other = self.graph.follow(other);
        if other != id {
            let left = self.graph.node(id).clone();
            let merged = self.intersect(left, other);
            self.graph.replace(id, merged);
            self.graph.check(self.limits)?;
        }
        self.settle()
    }

    fn settle(&mut self) -> Result<(), Quarantine> {
        while let Some((id, a, b)) = self.queue.pop_front() {
            self.graph.check(self.limits)?;
            let left = self.scoped(a);
            let merged = self.intersect(left, b);
            self.graph.replace(id, merged);
        }
        Ok(())
    }

    fn pair(&mut self, a: Id, b: Id) -> Id {
        let (a, b) = (self.bare(a), self.bare(b));
        if a == b || self.graph.node(b).is_open() {
            return a;
        }
        if self.graph.node(a).is_open() {
            return b;
        }
        if let Some(known) = self.memo.get(&(a, b)) {
            return *known;
        }
        let at = self.graph.node(a).at;
        let id = self.graph.add(Node::new(at, Types::ANY));
        self.memo.insert((a, b), id);
        self.queue.push_back((id, a, b));
        id
    }

    /// Skips references that have no text of their own.
    fn bare(&self, id: Id) -> Id {
        if self.graph.node(id).keys.is_empty() {
            self.graph.follow(id)
        } else {
            id
        }
    }

    /// The content of a node on its own. Its unevaluated keywords must be resolved before it is merged with others,
    /// whose keys they do not cover.
    fn scoped(&mut self, id: Id) -> Node {
        let mut node = self.graph.node(id).clone();
        for key in ["unevaluatedProperties", "unevaluatedItems"] {
            match node.settle_unevaluated(key) {
                Some(true) => self.report.lossless(node.at, key, Action::Rewritten),
                Some(false) => {
                    node.take(key);
                    self.report.lossy(node.at, key, Action::Weakened);
                }
                None => {}
            }
        }
        node
    }

    /// What matches `left` and the node `b`. `left` sees what is in `b`, as `allOf` requires.
    fn intersect(&mut self, left: Node, b: Id) -> Node {
        let mut right = self.scoped(b);
        let mut node = Node::new(left.at, left.types.and(right.types));
        if node.types == Types::NONE {
            return node;
        }
        let mut all_of: Vec<Id> = Vec::new();
        for side in [&left, &right] {
            all_of.extend(side.reference);
            all_of.extend(side.many("allOf"));
        }
        for (key, part) in &left.keys {
            if !is_structure(key) {
                node.set(key, part.clone());
            }
        }
        for group in GROUPS {
            self.second(&mut node, &mut right, group);
        }
        for (key, part) in &right.keys {
            if is_structure(key) {
                continue;
            }
            match node.part(key).cloned() {
                None => node.set(key, part.clone()),
                Some(mine) => self.both(&mut node, key, mine, part, right.at),
            }
        }
        self.objects(&mut node, &left, &right);
        self.arrays(&mut node, &left, &right);
        choose(&mut node);
        if !all_of.is_empty() {
            node.set("allOf", Part::Many(all_of));
        }
        if node.types == Types::NONE {
            node.keys.clear();
        }
        node
    }

    /// A node has room for one condition, and for one `contains`: a second one is described in words.
    fn second(&mut self, node: &mut Node, right: &mut Node, group: [&'static str; 3]) {
        let [head, ..] = group;
        let same = group.iter().all(|key| node.part(key) == right.part(key));
        if !node.has(head) || !right.has(head) || same {
            return;
        }
        let part = |key: &'static str| {
            let id = right.one(key)?;
            Some((key.to_owned(), plain(self.graph, &[id]).get(0)?.clone()))
        };
        let parts: Map<String, Value> = group.into_iter().filter_map(part).collect();
        let sentence = match head {
            "if" => crate::report::words::schema_rule(head, &Value::Object(parts)),
            _ => parts
                .get(head)
                .and_then(|part| crate::report::words::schema_rule(head, part)),
        };
        if let Some(sentence) = &sentence {
            node.explain(sentence);
        }
        for key in group {
            if right.take(key).is_some() {
                let described = key == head && sentence.is_some();
                let action = if described {
                    Action::Described
                } else {
                    Action::Dropped
                };
                self.report.lossy(right.at, key, action);
            }
        }
    }

    /// A keyword both sides have.
    fn both(&mut self, node: &mut Node, key: &'static str, mine: Part, theirs: &Part, at: usize) {
        let merged = match (key, mine, theirs) {
            (_, mine, theirs) if mine == *theirs => return,
            (
                "title" | "description" | "default" | "examples" | "deprecated" | "readOnly"
                | "writeOnly" | "contentEncoding" | "contentMediaType",
                ..,
            ) => return self.report.lossless(at, key, Action::Dropped),
            (
                "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties"
                | "minContains",
                Part::Json(a),
                Part::Json(b),
            ) => Some(Part::Json(larger(a, b))),
            (
                "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties"
                | "maxContains",
                Part::Json(a),
                Part::Json(b),
            ) => Some(Part::Json(smaller(a, b))),
            ("multipleOf", Part::Json(a), Part::Json(b)) => {
                common_multiple(&a, b).map(|n| Part::Json(n.into()))
            }
            ("uniqueItems", mine, _) => Some(mine),
            ("required", Part::Json(a), Part::Json(b)) => Some(Part::Json(union(&a, b))),
            ("enum", Part::Json(Value::Array(a)), Part::Json(Value::Array(b))) => {
                let theirs: HashSet<String> = b.iter().map(canon).collect();
                let kept = a
                    .into_iter()
                    .filter(|value| theirs.contains(&canon(value)))
                    .collect();
                Some(Part::Json(Value::Array(kept)))
            }
            ("const", Part::Json(a), Part::Json(b)) => {
                if !same(&a, b) {
                    node.types = Types::NONE;
                }
                Some(Part::Json(a))
            }
            ("anyOf" | "oneOf", Part::Many(a), Part::Many(b))
                if a.len() * b.len() <= MAX_PRODUCT =>
            {
                let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (*x, *y)));
                Some(Part::Many(pairs.map(|(x, y)| self.pair(x, y)).collect()))
            }
            ("not", Part::One(a), Part::One(b)) => {
                let mut either = Node::new(at, Types::ANY);
                either.set("anyOf", Part::Many(vec![a, *b]));
                Some(Part::One(self.graph.add(either)))
            }
            (
                "propertyNames" | "unevaluatedProperties" | "unevaluatedItems",
                Part::One(a),
                Part::One(b),
            ) => Some(Part::One(self.pair(a, *b))),
            ("dependentSchemas", Part::Named(a), Part::Named(b)) => {
                Some(Part::Named(self.named(a, b)))
            }
            (
                "dependentRequired",
                Part::Json(Value::Object(mut a)),
                Part::Json(Value::Object(b)),
            ) => {
                for (name, list) in b {
                    let list = a
                        .get(name)
                        .map_or_else(|| list.clone(), |mine| union(mine, list));
                    a.insert(name.clone(), list);
                }
                Some(Part::Json(Value::Object(a)))
            }
            _ => None,
        };
        match merged {
            Some(part) => node.set(key, part),
            None => {
                self.report.lossy(at, key, Action::Weakened);
                if let Part::Json(value) = theirs
                    && let Some(words) = crate::report::words::rule(key, value)
                {
                    node.explain(&words);
                }
            }
        }
    }

    /// Both lists of named schemas; a name in both lists must match both schemas.
    fn named(&mut self, a: Vec<(String, Id)>, b: &[(String, Id)]) -> Vec<(String, Id)> {
        let mut merged = a;
        for (name, theirs) in b {
            match merged.iter().position(|(known, _)| known == name) {
                Some(index) => {
                    if let Some(mine) = merged.get(index).map(|(_, id)| *id) {
                        let id = self.pair(mine, *theirs);
                        if let Some(entry) = merged.get_mut(index) {
                            entry.1 = id;
                        }
                    }
                }
                None => merged.push((name.clone(), *theirs)),
            }
        }
        merged
    }

    fn objects(&mut self, node: &mut Node, left: &Node, right: &Node) {
        let (left_rest, right_rest) = (
            left.one("additionalProperties"),
            right.one("additionalProperties"),
        );
        let (left_patterns, right_patterns) = (
            left.named("patternProperties"),
            right.named("patternProperties"),
        );
        let same_patterns = left_patterns
            .iter()
            .map(|(p, _)| p)
            .eq(right_patterns.iter().map(|(p, _)| p));
        // For a key that one side names, the other may have a pattern instead of the remaining keys.
        let names = |node: &Node| -> HashSet<String> {
            let names = node.properties().iter();
            names.map(|(name, _)| name.clone()).collect()
        };
        let has_patterns = !left_patterns.is_empty() || !right_patterns.is_empty();
        let same_keys = same_patterns && (!has_patterns || names(left) == names(right));
        if !same_keys && (left_rest.is_some() || right_rest.is_some()) {
            self.report
                .lossy(right.at, "patternProperties", Action::Weakened);
        }
        let mut properties = Vec::new();
        let (mine_by_name, theirs_by_name) = (left.property_map(), right.property_map());
        for (name, mine) in left.properties() {
            let theirs = theirs_by_name.get(name.as_str()).copied();
            let id = match theirs.or(right_rest) {
                Some(theirs) => self.pair(*mine, theirs),
                None => *mine,
            };
            properties.push((name.clone(), id));
        }
        for (name, theirs) in right.properties() {
            if !mine_by_name.contains_key(name.as_str()) {
                let id = match left_rest {
                    Some(rest) => self.pair(rest, *theirs),
                    None => *theirs,
                };
                properties.push((name.clone(), id));
            }
        }
        if left.has("properties") || right.has("properties") {
            node.set("properties", Part::Named(properties));
        }
        if !left_patterns.is_empty() || !right_patterns.is_empty() {
            let patterns = self.named(left_patterns.to_vec(), right_patterns);
            node.set("patternProperties", Part::Named(patterns));
        }
        if let Some(rest) = self.either(left_rest, right_rest) {
            node.set("additionalProperties", Part::One(rest));
        }
    }

    fn arrays(&mut self, node: &mut Node, left: &Node, right: &Node) {
        let (left_rest, right_rest) = (left.one("items"), right.one("items"));
        let length = left
            .many("prefixItems")
            .len()
            .max(right.many("prefixItems").len());
        let mut prefix = Vec::new();
        for index in 0..length {
            let mine = left.many("prefixItems").get(index).copied().or(left_rest);
            let theirs = right.many("prefixItems").get(index).copied().or(right_rest);
            prefix.extend(self.either(mine, theirs));
        }
        if !prefix.is_empty() {
            node.set("prefixItems", Part::Many(prefix));
        }
        if let Some(rest) = self.either(left_rest, right_rest) {
            node.set("items", Part::One(rest));
        }
    }

    fn either(&mut self, a: Option<Id>, b: Option<Id>) -> Option<Id> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.pair(a, b)),
            (a, b) => a.or(b),
        }
    }
}

/// Keywords that are merged together, not separately.
fn is_structure(key: &str) -> bool {
    matches!(
        key,
        "allOf"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "items"
            | "prefixItems"
    )
}

/// Combines `const` and `enum`.
fn choose(node: &mut Node) {
    let constant = node.json("const").cloned();
    if let Some(values) = node.json("enum").and_then(Value::as_array) {
        if values.is_empty()
            || constant
                .as_ref()
                .is_some_and(|one| !values.iter().any(|v| same(v, one)))
        {
            node.types = Types::NONE;
        } else if constant.is_some() {
            node.take("enum");
        }
    }
}

fn larger(a: Value, b: &Value) -> Value {
    if b.as_f64() > a.as_f64() {
        b.clone()
    } else {
        a
    }
}

fn smaller(a: Value, b: &Value) -> Value {
    if b.as_f64() < a.as_f64() {
        b.clone()
    } else {
        a
    }
}

fn union(a: &Value, b: &Value) -> Value {
    let mut seen = HashSet::new();
    let both = [a, b].into_iter().filter_map(Value::as_array).flatten();
    both.filter(|value| seen.insert(canon(value)))
        .cloned()
        .collect()
}

fn common_multiple(a: &Value, b: &Value) -> Option<u64> {
    let (a, b) = (a.as_u64()?, b.as_u64()?);
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a.checked_div(x)?.checked_mul(b)
}
