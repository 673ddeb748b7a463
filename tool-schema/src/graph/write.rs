//! Graph → JSON, in the target's form.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::{Graph, Id, Node, Part};
use crate::{CompileLimits, Nulls, Quarantine, Target, graph::types::Types};

/// Writes the schema at the root, with definitions hoisted to `$defs`.
pub(crate) fn write(
    graph: &Graph,
    target: &Target,
    limits: &CompileLimits,
) -> Result<Value, Quarantine> {
    let mut writer = Writer {
        hoisted: hoisted(graph),
        ..Writer::new(graph, target, limits)
    };
    let Value::Object(mut root) = writer.body(graph.root, 0)? else {
        return Err(Quarantine::Impossible {
            pointer: String::new(),
        });
    };
    if target.accepts_at_root("required") && !root.contains_key("required") {
        root.insert("required".to_owned(), Value::Array(Vec::new()));
    }
    let mut definitions = Map::new();
    while let Some((name, id)) = writer.queue.pop_front() {
        let body = writer.body(id, 1)?;
        definitions.insert(name, body);
    }
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Ok(Value::Object(root))
}

/// The nodes as plain JSON Schema, for sentences. Deep ones are truncated.
pub(crate) fn plain(graph: &Graph, ids: &[Id]) -> Value {
    const TARGET: Target = Target::json_schema("plain");
    let limits = CompileLimits::default().with_depth(12).with_bytes(2_000);
    ids.iter()
        .map(|id| {
            Writer::new(graph, &TARGET, &limits)
                .body(*id, 0)
                .unwrap_or_else(|_| Value::String("…".repeat(500)))
        })
        .collect()
}

/// Nodes that are referred to, or that contain themselves.
fn hoisted(graph: &Graph) -> HashSet<Id> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let mut found = HashSet::new();
    let mut marks = vec![Visit::New; graph.len()];
    for start in graph.in_use() {
        let mut stack = vec![(start, false)];
        while let Some((id, leaving)) = stack.pop() {
            let Some(mark) = marks.get_mut(id) else {
                continue;
            };
            match (*mark, leaving) {
                (_, true) => *mark = Visit::Done,
                (Visit::Open, false) => {
                    found.insert(id);
                }
                (Visit::Done, false) => {}
                (Visit::New, false) => {
                    *mark = Visit::Open;
                    stack.push((id, true));
                    let node = graph.node(id);
                    found.extend(node.reference);
                    stack.extend(node.links().map(|child| (child, false)));
                }
            }
        }
    }
    found
}

struct Writer<'a> {
    graph: &'a Graph,
    target: &'a Target,
    limits: &'a CompileLimits,
    hoisted: HashSet<Id>,
    names: HashMap<Id, String>,
    taken: HashSet<String>,
    queue: VecDeque<(String, Id)>,
    bytes: usize,
}

/// The location for a subschema: the slot, the keyword and the position there.
#[derive(Clone, Copy)]
struct Home<'a> {
    slot: usize,
    key: &'static str,
    place: Place<'a>,
}

#[derive(Clone, Copy)]
enum Place<'a> {
    Only,
    Index(usize),
    Name(&'a str),
}

/// A subschema to write.
struct Task<'a> {
    id: Id,
    depth: usize,
    home: Option<Home<'a>>,
}

/// A subschema with holes for its own subschemas.
struct Entry<'a> {
    value: Value,
    home: Option<Home<'a>>,
}

impl<'a> Writer<'a> {
    fn new(graph: &'a Graph, target: &'a Target, limits: &'a CompileLimits) -> Self {
        Self {
            graph,
            target,
            limits,
            hoisted: HashSet::new(),
            names: HashMap::new(),
            taken: HashSet::new(),
            queue: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Writes a subschema itself, even if others refer to it. Its parts are written parents first and joined children
    /// first, so depth costs no stack.
    fn body(&mut self, id: Id, depth: usize) -> Result<Value, Quarantine> {
        let mut slots: Vec<Entry<'a>> = Vec::new();
        let mut stack = vec![Task {
            id,
            depth,
            home: None,
        }];
        while let Some(task) = stack.pop() {
            let value = if task.home.is_some() && self.hoisted.contains(&task.id) {
                let reference = self.reference(task.id);
                Value::Object(Map::from_iter([("$ref".to_owned(), reference.into())]))
            } else if self.graph.node(task.id).types == Types::NONE {
                Value::Bool(false)
            } else {
                let first = stack.len();
                let map = self.object(&task, slots.len(), &mut stack)?;
                // The first child is written first, so that names are assigned in order.
                if let Some(children) = stack.get_mut(first..) {
                    children.reverse();
                }
                Value::Object(map)
            };
            slots.push(Entry {
                value,
                home: task.home,
            });
        }
        while let Some(slot) = slots.pop() {
            let Some(home) = slot.home else {
                return Ok(slot.value);
            };
            if let Some(hole) = slots.get_mut(home.slot).and_then(|to| to.hole(home)) {
                *hole = slot.value;
            }
        }
        Ok(Value::Bool(true))
    }

    fn object(
        &mut self,
        task: &Task<'a>,
        slot: usize,
        stack: &mut Vec<Task<'a>>,
    ) -> Result<Map<String, Value>, Quarantine> {
        if task.depth > self.limits.depth {
            return Err(Quarantine::TooDeep {
                limit: self.limits.depth,
            });
        }
        let node = self.graph.node(task.id);
        let mut map = Map::new();
        if let Some(target) = node.reference {
            map.insert("$ref".to_owned(), self.reference(target).into());
        }
        self.types(node, &mut map)?;
        for (key, part) in &node.keys {
            self.spend(key.len() + 6)?;
            let mut child = |id: Id, place: Place<'a>| {
                stack.push(Task {
                    id,
                    depth: task.depth + 1,
                    home: Some(Home { slot, key, place }),
                });
                Value::Null
            };
            let value = match part {
                Part::Json(value) => {
                    self.spend(size(value))?;
                    self.plain(key, value)
                }
                Part::One(id) if *key == "additionalProperties" && self.is_bare(*id) => {
                    Value::Bool(true)
                }
                Part::One(id) => child(*id, Place::Only),
                Part::Many(ids) => {
                    let ids = ids.iter().enumerate();
                    ids.map(|(index, id)| child(*id, Place::Index(index)))
                        .collect()
                }
                Part::Named(pairs) => {
                    let mut named = Map::new();
                    for (name, id) in pairs {
                        self.spend(name.len() + 4)?;
                        named.insert(name.clone(), child(*id, Place::Name(name)));
                    }
                    Value::Object(named)
                }
            };
            map.insert((*key).to_owned(), value);
        }
        Ok(map)
    }

    /// Whether a node is empty.
    fn is_bare(&self, id: Id) -> bool {
        let node = self.graph.node(id);
        node.is_open() && node.keys.is_empty()
    }

    fn plain(&self, key: &str, value: &Value) -> Value {
        match value {
            Value::Array(values) if key == "enum" && self.target.nulls == Nulls::Keyword => {
                let values = values.iter().filter(|value| !value.is_null());
                values.cloned().collect()
            }
            value => value.clone(),
        }
    }

    fn types(&mut self, node: &Node, map: &mut Map<String, Value>) -> Result<(), Quarantine> {
        if node.types == Types::ANY {
            return Ok(());
        }
        let by_keyword = self.target.nulls == Nulls::Keyword && node.types != Types::NULL;
        let shown = if by_keyword {
            node.types.without(Types::NULL)
        } else {
            node.types
        };
        let names: Vec<&str> = shown.each().map(|(_, name)| name).collect();
        self.spend(10 + names.iter().map(|name| name.len() + 3).sum::<usize>())?;
        let value = match names.as_slice() {
            [name] => Value::from(*name),
            names => names.to_vec().into(),
        };
        map.insert("type".to_owned(), value);
        if by_keyword && node.types.holds(Types::NULL) {
            map.insert("nullable".to_owned(), Value::Bool(true));
        }
        Ok(())
    }

    fn reference(&mut self, id: Id) -> String {
        if let Some(name) = self.names.get(&id) {
            return format!("#/$defs/{name}");
        }
        let given = self
            .graph
            .place_name(self.graph.node(id).at)
            .unwrap_or("root");
        let mut stem: String = given
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        stem.truncate(48);
        let mut name = stem.clone();
        let mut round = 1;
        while !self.taken.insert(name.clone()) {
            round += 1;
            name = format!("{stem}_{round}");
        }
        self.names.insert(id, name.clone());
        self.queue.push_back((name.clone(), id));
        format!("#/$defs/{name}")
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Quarantine> {
        self.bytes += bytes;
        if self.bytes > self.limits.bytes {
            return Err(Quarantine::TooLarge {
                limit: self.limits.bytes,
            });
        }
        Ok(())
    }
}

impl Entry<'_> {
    /// The position of a subschema in this one.
    fn hole(&mut self, home: Home<'_>) -> Option<&mut Value> {
        let value = self.value.get_mut(home.key)?;
        match home.place {
            Place::Only => Some(value),
            Place::Index(index) => value.get_mut(index),
            Place::Name(name) => value.get_mut(name),
        }
    }
}

/// The approximate size of a value as compact JSON.
pub(crate) fn size(value: &Value) -> usize {
    let mut total = 0;
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        total += match value {
            Value::Null | Value::Bool(_) => 5,
            Value::Number(_) => 8,
            Value::String(text) => text.len() + 2,
            Value::Array(list) => {
                stack.extend(list);
                2 + list.len()
            }
            Value::Object(map) => {
                stack.extend(map.values());
                2 + map.keys().map(|key| key.len() + 4).sum::<usize>()
            }
        };
    }
    total
}
