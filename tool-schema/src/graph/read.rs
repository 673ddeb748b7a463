//! JSON → graph. It uses one explicit stack, so depth costs no call frames; every reference is resolved here and
//! nowhere else.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    Graph, Id, Node, Part, Step,
    plain::{self, is_deeper},
    resolve::Resolver,
};
use crate::{
    Action, CompileLimits, Quarantine,
    graph::keyword::{self, Subschemas},
    graph::types::Types,
    report::Report,
};

/// Reads `schema`, which must be an object.
pub(crate) fn read(
    schema: &Value,
    limits: &CompileLimits,
    report: &mut Report,
) -> Result<Graph, Quarantine> {
    let mut reader = Reader {
        resolver: Resolver::new(schema),
        graph: Graph::default(),
        limits,
        report,
        known: HashMap::new(),
        stack: Vec::new(),
        references: Vec::new(),
        legacy: is_legacy(schema),
    };
    reader.graph.root = reader.enter(schema, 0, 0, schema)?;
    loop {
        while let Some(task) = reader.stack.pop() {
            reader.fill(&task)?;
        }
        let Some((id, reference, base)) = reader.references.pop() else {
            break;
        };
        reader.link(id, &reference, base)?;
    }
    reader.report_unused(schema);
    reader.break_empty_loops();
    Ok(reader.graph)
}

/// Up to draft 7 a `$ref` disables its siblings.
fn is_legacy(schema: &Value) -> bool {
    schema
        .get("$schema")
        .and_then(Value::as_str)
        .is_some_and(|uri| {
            ["draft-03", "draft-04", "draft-06", "draft-07"]
                .iter()
                .any(|draft| uri.contains(draft))
        })
}

struct Task<'s> {
    value: &'s Value,
    id: Id,
    depth: usize,
    base: &'s Value,
}

struct Reader<'s, 'a> {
    resolver: Resolver<'s>,
    graph: Graph,
    limits: &'a CompileLimits,
    report: &'a mut Report,
    /// Nodes by the address of the JSON they came from; looked up, never listed.
    known: HashMap<*const Value, Id>,
    stack: Vec<Task<'s>>,
    references: Vec<(Id, String, &'s Value)>,
    legacy: bool,
}

impl<'s> Reader<'s, '_> {
    fn enter(
        &mut self,
        value: &'s Value,
        at: usize,
        depth: usize,
        base: &'s Value,
    ) -> Result<Id, Quarantine> {
        if depth > self.limits.depth {
            return Err(Quarantine::TooDeep {
                limit: self.limits.depth,
            });
        }
        if self.graph.len() >= self.limits.nodes {
            return Err(Quarantine::TooManyNodes {
                limit: self.limits.nodes,
            });
        }
        let types = if *value == Value::Bool(false) {
            Types::NONE
        } else {
            Types::ANY
        };
        let id = self.graph.add(Node::new(at, types));
        self.known.insert(value, id);
        let own_base = if value
            .get("$id")
            .is_some_and(|uri| uri.as_str().is_some_and(|uri| !uri.starts_with('#')))
        {
            value
        } else {
            base
        };
        self.stack.push(Task {
            value,
            id,
            depth,
            base: own_base,
        });
        Ok(id)
    }

    fn fill(&mut self, task: &Task<'s>) -> Result<(), Quarantine> {
        let at = self.graph.node(task.id).at;
        let object = match task.value {
            Value::Object(object) => object,
            Value::Bool(_) => return Ok(()),
            _ => {
                self.report.lossy(at, "schema", Action::Dropped);
                return Ok(());
            }
        };
        let silenced = self.legacy && object.get("$ref").is_some_and(Value::is_string);
        for (name, value) in object {
            let is_reference = name == "$ref" && value.is_string();
            if silenced
                && !is_reference
                && keyword::find(name).is_none_or(|k| k.role == keyword::Role::Rule)
            {
                if !matches!(name.as_str(), "$defs" | "definitions") {
                    self.report.lossless(at, name.clone(), Action::Dropped);
                }
                continue;
            }
            self.key(task, at, object, name, value)?;
        }
        let node = self.graph.node_mut(task.id);
        if object.get("nullable") == Some(&Value::Bool(true))
            && node.types.holds(Types::NULL)
            && let Some(Part::Json(Value::Array(values))) = node.part_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
        for (key, needed) in [
            ("then", "if"),
            ("else", "if"),
            ("minContains", "contains"),
            ("maxContains", "contains"),
        ] {
            if !node.has(needed) && node.take(key).is_some() {
                self.report.lossless(at, key, Action::Dropped);
            }
        }
        Ok(())
    }

    fn key(
        &mut self,
        task: &Task<'s>,
        at: usize,
        object: &'s Map<String, Value>,
        name: &str,
        value: &'s Value,
    ) -> Result<(), Quarantine> {
        match name {
            "type" => self.types(task.id, at, value),
            "$ref" | "$dynamicRef" if value.is_string() => {
                let text = value.as_str().unwrap_or_default().to_owned();
                self.references.push((task.id, text, task.base));
            }
            "$recursiveRef" => self.references.push((task.id, "#".to_owned(), task.base)),
            "$defs" | "definitions" => {}
            "nullable" => self.nullable(task.id, at, object, value),
            "items" if value.is_array() => self.schemas(task, at, "items", "prefixItems", value)?,
            "additionalItems" if object.get("items").is_some_and(Value::is_array) => {
                self.schemas(task, at, "additionalItems", "items", value)?;
            }
            "dependencies" => self.dependencies(task, at, value)?,
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                self.draft4_bound(task.id, at, object, name, value)?;
            }
            "minimum" if object.get("exclusiveMinimum") == Some(&Value::Bool(true)) => {}
            "maximum" if object.get("exclusiveMaximum") == Some(&Value::Bool(true)) => {}
            _ => match keyword::find(name) {
                Some(known) if known.shape == Subschemas::Plain => {
                    self.plain(task.id, at, known.name, value)?;
                }
                Some(known) => self.schemas(task, at, known.name, known.name, value)?,
                None => self.report.lossless(at, name.to_owned(), Action::Dropped),
            },
        }
        Ok(())
    }

    fn types(&mut self, id: Id, at: usize, value: &Value) {
        let names: Vec<&Value> = match value {
            Value::Array(names) => names.iter().collect(),
            name => vec![name],
        };
        let mut types = Types::NONE;
        for name in names {
            match name.as_str().and_then(Types::named) {
                Some((named, own)) => {
                    types = types.or(named);
                    if !own {
                        self.report.lossless(at, "type", Action::Rewritten);
                    }
                }
                None => {
                    self.report.lossy(at, "type", Action::Weakened);
                    types = Types::ANY;
                }
            }
        }
        let node = self.graph.node_mut(id);
        node.types = if types == Types::NONE {
            Types::ANY
        } else {
            types
        };
    }

    /// OpenAPI's way to admit null. JSON Schema does not know it, so it is a loss.
    fn nullable(&mut self, id: Id, at: usize, object: &Map<String, Value>, value: &Value) {
        self.report.lossy(
            at,
            "nullable",
            if *value == true {
                Action::Rewritten
            } else {
                Action::Dropped
            },
        );
        if *value == true && object.contains_key("type") {
            // `type` may come later in the object; read it now.
            self.types(id, at, object.get("type").unwrap_or(&Value::Null));
            let node = self.graph.node_mut(id);
            node.types = node.types.or(Types::NULL);
        }
    }

    fn draft4_bound(
        &mut self,
        id: Id,
        at: usize,
        object: &Map<String, Value>,
        name: &str,
        value: &Value,
    ) -> Result<(), Quarantine> {
        let (key, bound) = match name {
            "exclusiveMinimum" => ("exclusiveMinimum", object.get("minimum")),
            _ => ("exclusiveMaximum", object.get("maximum")),
        };
        self.report.lossless(at, key, Action::Rewritten);
        if let (Some(bound), true) = (bound, *value == true) {
            self.plain(id, at, key, bound)?;
        }
        Ok(())
    }

    fn plain(
        &mut self,
        id: Id,
        at: usize,
        key: &'static str,
        value: &Value,
    ) -> Result<(), Quarantine> {
        // Values are copied and compared recursively: they must be shallow.
        if is_deeper(value, self.limits.depth) {
            return Err(Quarantine::TooDeep {
                limit: self.limits.depth,
            });
        }
        let Some(kept) = plain::sound(key, value) else {
            self.report.lossy(at, key, Action::Dropped);
            return Ok(());
        };
        if !plain::says_nothing(key, &kept) {
            self.graph.node_mut(id).set(key, Part::Json(kept));
        }
        Ok(())
    }

    /// Reads `value`, spelled `name` in the schema, as the keyword `key`.
    fn schemas(
        &mut self,
        task: &Task<'s>,
        at: usize,
        name: &'static str,
        key: &'static str,
        value: &'s Value,
    ) -> Result<(), Quarantine> {
        let here = self.graph.add_place(at, Step::Key(name.to_owned()));
        let shape = keyword::find(key).map_or(Subschemas::Plain, |k| k.shape);
        let part = match (shape, value) {
            (Subschemas::One, Value::Object(_) | Value::Bool(_)) => {
                Part::One(self.enter(value, here, task.depth + 1, task.base)?)
            }
            (Subschemas::Many, Value::Array(list)) if !list.is_empty() => {
                let mut ids = Vec::with_capacity(list.len());
                for (index, item) in list.iter().enumerate() {
                    let place = self.graph.add_place(here, Step::Index(index));
                    ids.push(self.enter(item, place, task.depth + 1, task.base)?);
                }
                Part::Many(ids)
            }
            (Subschemas::Named, Value::Object(map)) => {
                let mut pairs = Vec::with_capacity(map.len());
                for (property, item) in map {
                    let place = self.graph.add_place(here, Step::Key(property.clone()));
                    if item.is_object() || item.is_boolean() {
                        pairs.push((
                            property.clone(),
                            self.enter(item, place, task.depth + 1, task.base)?,
                        ));
                    } else {
                        self.stray(task, place, key, property, item)?;
                    }
                }
                Part::Named(pairs)
            }
            _ => {
                self.report.lossy(at, name, Action::Dropped);
                return Ok(());
            }
        };
        self.graph.node_mut(task.id).set(key, part);
        Ok(())
    }

    /// An entry of a map of schemas that is not a schema. Some servers put the list of required names among the
    /// properties: that is recovered.
    fn stray(
        &mut self,
        task: &Task<'s>,
        place: usize,
        key: &str,
        property: &str,
        item: &Value,
    ) -> Result<(), Quarantine> {
        self.report.lossy(place, "schema", Action::Dropped);
        let displaced = key == "properties" && property == "required" && item.is_array();
        if displaced && task.value.get("required").is_none() {
            self.plain(task.id, place, "required", item)?;
        }
        Ok(())
    }

    fn dependencies(
        &mut self,
        task: &Task<'s>,
        at: usize,
        value: &'s Value,
    ) -> Result<(), Quarantine> {
        let Some(map) = value.as_object() else {
            self.report.lossy(at, "dependencies", Action::Dropped);
            return Ok(());
        };
        let here = self
            .graph
            .add_place(at, Step::Key("dependencies".to_owned()));
        let mut names = Map::new();
        let mut schemas = Vec::new();
        for (property, item) in map {
            if item.is_array() {
                names.insert(property.clone(), item.clone());
            } else {
                let place = self.graph.add_place(here, Step::Key(property.clone()));
                schemas.push((
                    property.clone(),
                    self.enter(item, place, task.depth + 1, task.base)?,
                ));
            }
        }
        self.report.lossless(at, "dependencies", Action::Rewritten);
        let node = self.graph.node_mut(task.id);
        if !names.is_empty() {
            node.set("dependentRequired", Part::Json(Value::Object(names)));
        }
        if !schemas.is_empty() {
            node.set("dependentSchemas", Part::Named(schemas));
        }
        Ok(())
    }

    fn link(&mut self, id: Id, reference: &str, base: &'s Value) -> Result<(), Quarantine> {
        let target = match self.resolver.resolve(reference, base) {
            Some(found) if found.value.is_object() || found.value.is_boolean() => found,
            _ => {
                let at = self.graph.node(id).at;
                self.report.lossy(at, "$ref", Action::Dropped);
                self.graph.node_mut(id).explain(&format!(
                    "(Defined elsewhere: {}.)",
                    crate::report::words::clip(reference, 120)
                ));
                return Ok(());
            }
        };
        let known = self.known.get(&std::ptr::from_ref(target.value)).copied();
        let to = match known {
            Some(to) => to,
            None => {
                let mut place = 0;
                for step in target.path {
                    place = self.graph.add_place(place, step);
                }
                self.enter(target.value, place, 1, target.base)?
            }
        };
        if self.graph.node(id).reference.is_none() {
            self.graph.node_mut(id).reference = Some(to);
            return Ok(());
        }
        // `$ref` and `$dynamicRef` together: both apply.
        let mut other = Node::new(self.graph.node(id).at, Types::ANY);
        other.reference = Some(to);
        let other = self.graph.add(other);
        let node = self.graph.node_mut(id);
        let mut members = node.many("allOf").to_vec();
        members.push(other);
        node.set("allOf", Part::Many(members));
        Ok(())
    }

    fn report_unused(&mut self, schema: &Value) {
        for name in ["$defs", "definitions"] {
            let unused = schema
                .get(name)
                .and_then(Value::as_object)
                .is_some_and(|definitions| {
                    definitions
                        .values()
                        .any(|value| !self.known.contains_key(&std::ptr::from_ref(value)))
                });
            if unused {
                self.report.lossless(0, name, Action::Dropped);
            }
        }
    }

    /// Removes references that lead only back to themselves, which have no effect.
    fn break_empty_loops(&mut self) {
        let mut walks = vec![0; self.graph.len()];
        for start in 0..self.graph.len() {
            let mut at = start;
            while let (Some(walk @ 0), true) = (walks.get_mut(at), self.graph.node(at).is_alias()) {
                *walk = start + 1;
                at = self.graph.node(at).reference.unwrap_or(at);
            }
            if walks.get(at) == Some(&(start + 1)) && self.graph.node(at).is_alias() {
                self.report
                    .lossy(self.graph.node(at).at, "$ref", Action::Dropped);
                self.graph.node_mut(at).reference = None;
            }
        }
    }
}
