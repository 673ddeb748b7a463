//! Graph → JSON, in the target's spelling.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::{Graph, Id, Node, Part};
use crate::{Limits, Nulls, Quarantine, Target, types::Types};

/// Writes the schema at the root, definitions hoisted to `$defs`.
pub(crate) fn write(graph: &Graph, target: &Target, limits: &Limits) -> Result<Value, Quarantine> {
    let mut writer = Writer {
        graph,
        target,
        limits,
        hoisted: hoisted(graph),
        names: HashMap::new(),
        taken: HashSet::new(),
        queue: VecDeque::new(),
        bytes: 0,
    };
    let mut root = writer.object(graph.root, 0)?;
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

/// The nodes as plain JSON Schema, for sentences. Deep ones are cut short.
pub(crate) fn plain(graph: &Graph, ids: &[Id]) -> Value {
    const TARGET: Target = Target::json_schema("plain");
    let limits = Limits::default().with_depth(12).with_bytes(2_000);
    ids.iter()
        .map(|id| {
            let mut writer = Writer {
                graph,
                target: &TARGET,
                limits: &limits,
                hoisted: HashSet::new(),
                names: HashMap::new(),
                taken: HashSet::new(),
                queue: VecDeque::new(),
                bytes: 0,
            };
            writer
                .body(*id, 0)
                .unwrap_or_else(|_| Value::String("…".repeat(500)))
        })
        .collect()
}

/// Nodes that are referred to, or that contain themselves.
fn hoisted(graph: &Graph) -> HashSet<Id> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut found = HashSet::new();
    let mut marks = vec![Mark::New; graph.len()];
    for start in graph.in_use() {
        let mut stack = vec![(start, false)];
        while let Some((id, leaving)) = stack.pop() {
            let Some(mark) = marks.get_mut(id) else {
                continue;
            };
            match (*mark, leaving) {
                (_, true) => *mark = Mark::Done,
                (Mark::Open, false) => {
                    found.insert(id);
                }
                (Mark::Done, false) => {}
                (Mark::New, false) => {
                    *mark = Mark::Open;
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
    limits: &'a Limits,
    hoisted: HashSet<Id>,
    names: HashMap<Id, String>,
    taken: HashSet<String>,
    queue: VecDeque<(String, Id)>,
    bytes: usize,
}

impl Writer<'_> {
    /// A subschema where it stands.
    fn schema(&mut self, id: Id, depth: usize) -> Result<Value, Quarantine> {
        if self.hoisted.contains(&id) {
            let mut map = Map::new();
            map.insert("$ref".to_owned(), self.reference(id).into());
            return Ok(Value::Object(map));
        }
        self.body(id, depth)
    }

    /// A subschema itself.
    fn body(&mut self, id: Id, depth: usize) -> Result<Value, Quarantine> {
        if self.graph.node(id).types == Types::NONE {
            return Ok(Value::Bool(false));
        }
        Ok(Value::Object(self.object(id, depth)?))
    }

    fn object(&mut self, id: Id, depth: usize) -> Result<Map<String, Value>, Quarantine> {
        if depth > self.limits.depth {
            return Err(Quarantine::TooDeep {
                limit: self.limits.depth,
            });
        }
        let node = self.graph.node(id);
        let mut map = Map::new();
        if let Some(target) = node.reference {
            map.insert("$ref".to_owned(), self.reference(target).into());
        }
        self.types(node, &mut map)?;
        for (key, part) in &node.keys {
            let value = match part {
                Part::Json(Value::Array(values))
                    if *key == "enum" && self.target.nulls == Nulls::Keyword =>
                {
                    Value::Array(
                        values
                            .iter()
                            .filter(|value| !value.is_null())
                            .cloned()
                            .collect(),
                    )
                }
                Part::Json(value) => value.clone(),
                Part::One(child)
                    if self.graph.node(*child).is_open()
                        && self.graph.node(*child).keys.is_empty()
                        && *key == "additionalProperties" =>
                {
                    Value::Bool(true)
                }
                Part::One(child) => self.schema(*child, depth + 1)?,
                Part::Many(children) => children
                    .iter()
                    .map(|child| self.schema(*child, depth + 1))
                    .collect::<Result<_, _>>()?,
                Part::Named(pairs) => {
                    let mut named = Map::new();
                    for (name, child) in pairs {
                        self.spend(name.len() + 4)?;
                        named.insert(name.clone(), self.schema(*child, depth + 1)?);
                    }
                    Value::Object(named)
                }
            };
            let own = if matches!(part, Part::Json(_)) {
                size(&value)
            } else {
                2
            };
            self.spend(key.len() + 4 + own)?;
            map.insert((*key).to_owned(), value);
        }
        Ok(map)
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

/// About how many bytes a value takes as compact JSON.
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
