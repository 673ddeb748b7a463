//! What each provider refuses, written from the providers' rules and not from
//! the compiler: it shares no code and no table with it.

mod gemini;
mod strict;

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The complaints about one tool. `strict` is what is sent along with it.
pub(crate) fn check(target: &str, strict: bool, name: &str, schema: Option<&Value>) -> Vec<String> {
    let mut out = Complaints::default();
    out.name(target, name);
    let Some(schema) = schema else {
        if target != "gemini-openapi" {
            out.say("", "the schema may not be left out");
        }
        return out.list;
    };
    out.root(target, schema);
    let mut seen = Vec::new();
    walk(schema, String::new(), &mut |path, schema, place| {
        seen.push((path.to_owned(), schema, place))
    });
    for (path, schema, place) in &seen {
        let Value::Object(map) = schema else {
            let refused = strict || matches!(target, "gemini-openapi" | "ollama");
            let closing = *place == Place::Rest && **schema == false && strict;
            if refused && !closing {
                out.say(path, "a boolean is no schema here");
            }
            continue;
        };
        out.common(path, map, schema_root(&seen));
        match (target, strict) {
            ("openai-strict", true) => out.openai_strict(path, map),
            ("anthropic-strict", true) => out.anthropic_strict(path, map),
            ("deepseek-strict", true) => out.deepseek_strict(path, map, place),
            (
                "openai" | "groq" | "xai" | "mistral" | "openai-strict" | "deepseek"
                | "deepseek-strict",
                _,
            ) => {
                out.openai(path, map);
                if target == "mistral"
                    && map.get("additionalProperties") == Some(&Value::Bool(false))
                {
                    out.say(path, "additionalProperties: false");
                }
            }
            ("gemini", _) => out.gemini(path, map),
            ("gemini-openapi", _) => out.gemini_openapi(path, map),
            ("bedrock", _) => out.openai(path, map),
            ("ollama", _) => out.ollama(path, map),
            _ => {}
        }
    }
    out.cycles(target, strict, schema);
    if target == "openai-strict" && strict {
        out.openai_limits(schema);
    }
    out.list
}

fn schema_root<'a>(seen: &[(String, &'a Value, Place)]) -> &'a Value {
    seen[0].1
}

/// Where a subschema stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Root,
    Branch,
    Rest,
    Elsewhere,
}

fn walk<'a>(root: &'a Value, at: String, visit: &mut impl FnMut(&str, &'a Value, Place)) {
    let mut stack = vec![(root, at, Place::Root)];
    while let Some((schema, at, place)) = stack.pop() {
        visit(&at, schema, place);
        for (key, value) in schema.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                (
                    "properties" | "$defs" | "definitions" | "patternProperties"
                    | "dependentSchemas",
                    Value::Object(map),
                ) => {
                    for (name, child) in map {
                        stack.push((child, format!("{at}/{key}/{name}"), Place::Elsewhere));
                    }
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                    for (index, child) in list.iter().enumerate() {
                        let place = if key == "prefixItems" {
                            Place::Elsewhere
                        } else {
                            Place::Branch
                        };
                        stack.push((child, format!("{at}/{key}/{index}"), place));
                    }
                }
                ("additionalProperties", child) => {
                    stack.push((child, format!("{at}/{key}"), Place::Rest))
                }
                (
                    "items"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "contains"
                    | "propertyNames"
                    | "unevaluatedProperties"
                    | "unevaluatedItems",
                    child,
                ) => stack.push((child, format!("{at}/{key}"), Place::Elsewhere)),
                _ => {}
            }
        }
    }
}

#[derive(Default)]
struct Complaints {
    list: Vec<String>,
}

const STRICT_FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

impl Complaints {
    fn say(&mut self, path: &str, what: impl std::fmt::Display) {
        self.list.push(format!("#{path}: {what}"));
    }

    fn name(&mut self, target: &str, name: &str) {
        let gemini = target.starts_with("gemini");
        let first = name
            .chars()
            .next()
            .is_some_and(|c| !gemini || c.is_ascii_alphabetic() || c == '_');
        let marks = if gemini { "_.:-" } else { "_-" };
        let legal = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || marks.contains(c));
        if !first || !legal || name.len() > if gemini { 128 } else { 64 } {
            self.say("", format!("the name {name:?}"));
        }
    }

    fn root(&mut self, target: &str, schema: &Value) {
        if schema.get("type") != Some(&Value::from("object")) {
            self.say("", "the root is no object");
        }
        let Some(map) = schema.as_object() else {
            return;
        };
        let refused: &[&str] = match target {
            "gemini" => &[],
            "anthropic" | "anthropic-strict" => &["anyOf", "oneOf", "allOf"],
            _ => &["anyOf", "oneOf", "allOf", "enum", "not"],
        };
        for key in refused.iter().filter(|key| map.contains_key(**key)) {
            self.say("", format!("{key} at the root"));
        }
        if !map.contains_key("properties") && !target.starts_with("anthropic") {
            self.say("", "the root has no properties");
        }
        let named = matches!(target, "anthropic" | "anthropic-strict" | "bedrock");
        for key in map
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
        {
            let legal = key
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
            if named && (key.is_empty() || key.len() > 64 || !legal) {
                self.say("", format!("the key {key:?}"));
            }
        }
        if target == "bedrock" {
            for key in map
                .keys()
                .filter(|key| !["type", "properties", "required"].contains(&key.as_str()))
            {
                self.say("", format!("{key} at the root"));
            }
        }
    }

    /// What no one takes.
    fn common(&mut self, path: &str, map: &Map<String, Value>, root: &Value) {
        for key in ["$schema", "$id", "$comment", "$anchor"] {
            if map.contains_key(key) {
                self.say(path, key);
            }
        }
        if let Some(reference) = map.get("$ref") {
            let target = reference
                .as_str()
                .and_then(|text| text.strip_prefix('#'))
                .and_then(|at| root.pointer(at));
            if target.is_none() {
                self.say(path, format!("{reference} leads nowhere"));
            }
        }
    }

    fn refuse(&mut self, path: &str, map: &Map<String, Value>, keys: &[&str]) {
        for key in keys.iter().filter(|key| map.contains_key(**key)) {
            self.say(path, key);
        }
    }

    fn only(&mut self, path: &str, map: &Map<String, Value>, keys: &[&str]) {
        for key in map.keys().filter(|key| !keys.contains(&key.as_str())) {
            self.say(path, key);
        }
    }

    fn openai(&mut self, path: &str, map: &Map<String, Value>) {
        if has_type(map, "array") && !map.contains_key("items") {
            self.say(path, "an array without items");
        }
    }

    /// Objects are closed and nothing is left to guess.
    fn enforced(&mut self, path: &str, map: &Map<String, Value>) {
        if has_type(map, "object") || map.contains_key("properties") {
            if map.get("additionalProperties") != Some(&Value::Bool(false)) {
                self.say(path, "an open object");
            }
            if !map.contains_key("properties") {
                self.say(path, "an object without properties");
            }
        }
        if !["type", "anyOf", "$ref", "enum", "const"]
            .iter()
            .any(|key| map.contains_key(*key))
        {
            self.say(path, "no type");
        }
        self.known_required(path, map);
    }

    fn known_required(&mut self, path: &str, map: &Map<String, Value>) {
        for name in names(map, "required") {
            if map
                .get("properties")
                .is_none_or(|known| known.get(&name).is_none())
            {
                self.say(path, format!("{name:?} is required and unknown"));
            }
        }
    }

    fn all_required(&mut self, path: &str, map: &Map<String, Value>) {
        let required = names(map, "required");
        for key in map
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
        {
            if !required.contains(key) {
                self.say(path, format!("{key:?} is optional"));
            }
        }
    }

    fn formats(&mut self, path: &str, map: &Map<String, Value>, known: &[&str]) {
        if let Some(format) = map.get("format")
            && !format
                .as_str()
                .is_some_and(|format| known.contains(&format))
        {
            self.say(path, format!("format {format}"));
        }
    }

    /// Recursion where there may be none, or only past optional properties.
    fn cycles(&mut self, target: &str, strict: bool, root: &Value) {
        let only_optional = match (target, strict) {
            ("gemini", _) => true,
            ("anthropic-strict", true) => false,
            _ => return,
        };
        for name in root
            .get("$defs")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
        {
            let mut reached = HashSet::new();
            let mut stack = vec![root["$defs"][name].clone()];
            while let Some(schema) = stack.pop() {
                if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                    if reference == format!("#/$defs/{name}") {
                        self.say("", format!("recursion through {name}"));
                        break;
                    }
                    if reached.insert(reference.to_owned()) {
                        stack.extend(root.pointer(&reference[1..]).cloned());
                    }
                }
                let Some(map) = schema.as_object() else {
                    continue;
                };
                let required = names(map, "required");
                for (key, value) in map {
                    match (key.as_str(), value) {
                        ("properties", Value::Object(properties)) => {
                            let forced = properties
                                .iter()
                                .filter(|(name, _)| !only_optional || required.contains(*name));
                            stack.extend(forced.map(|(_, child)| child.clone()));
                        }
                        ("anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                            stack.extend(list.iter().cloned())
                        }
                        ("items" | "additionalProperties", child) => stack.push(child.clone()),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// The limits of a whole request, with what counts of each strict tool.
pub(crate) fn check_request(target: &str, tools: &[(bool, Option<&Value>)]) -> Vec<String> {
    let mut out = Complaints::default();
    if target == "anthropic-strict" {
        let (mut strict, mut optional, mut unions) = (0, 0, 0);
        for (_, schema) in tools.iter().filter(|(is_strict, _)| *is_strict) {
            strict += 1;
            walk(
                schema.unwrap_or(&Value::Null),
                String::new(),
                &mut |_, schema, _| {
                    let Some(map) = schema.as_object() else {
                        return;
                    };
                    let required = names(map, "required");
                    let properties = map.get("properties").and_then(Value::as_object);
                    optional += properties
                        .into_iter()
                        .flat_map(Map::keys)
                        .filter(|key| !required.contains(key))
                        .count();
                    unions += usize::from(
                        map.contains_key("anyOf") || map.get("type").is_some_and(Value::is_array),
                    );
                },
            );
        }
        if strict > 20 || optional > 24 || unions > 16 {
            out.say(
                "",
                format!("{strict} strict tools, {optional} optional properties, {unions} unions"),
            );
        }
    }
    out.list
}

fn has_type(map: &Map<String, Value>, name: &str) -> bool {
    match map.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    }
}

fn names(map: &Map<String, Value>, key: &str) -> Vec<String> {
    map.get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
