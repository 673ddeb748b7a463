//! What Gemini and Ollama refuse.

use serde_json::{Map, Value};

use super::{Complaints, has_type};

impl Complaints {
    pub(super) fn gemini(&mut self, path: &str, map: &Map<String, Value>) {
        self.only(
            path,
            map,
            &[
                "$id",
                "$defs",
                "$ref",
                "$anchor",
                "type",
                "format",
                "title",
                "description",
                "enum",
                "items",
                "prefixItems",
                "minItems",
                "maxItems",
                "minimum",
                "maximum",
                "anyOf",
                "oneOf",
                "properties",
                "additionalProperties",
                "required",
                "propertyOrdering",
                "default",
            ],
        );
        if map.contains_key("$ref")
            && map.keys().any(|key| {
                !key.starts_with('$') && !["description", "default"].contains(&key.as_str())
            })
        {
            self.say(path, "something beside $ref");
        }
        for value in map
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if !value.is_string() && !value.is_number() && !value.is_null() {
                self.say(path, format!("{value} in an enum"));
            }
        }
        self.known_required(path, map);
    }

    pub(super) fn gemini_openapi(&mut self, path: &str, map: &Map<String, Value>) {
        self.only(
            path,
            map,
            &[
                "anyOf",
                "default",
                "description",
                "enum",
                "example",
                "format",
                "items",
                "maxItems",
                "maxLength",
                "maxProperties",
                "maximum",
                "minItems",
                "minLength",
                "minProperties",
                "minimum",
                "nullable",
                "pattern",
                "properties",
                "propertyOrdering",
                "required",
                "title",
                "type",
            ],
        );
        match map.get("type") {
            Some(Value::String(kind)) if kind != "null" => {}
            None if map.contains_key("anyOf") => {}
            other => self.say(path, format!("type {other:?}")),
        }
        if map.contains_key("anyOf") && map.len() > 1 {
            self.say(path, "something beside anyOf");
        }
        if has_type(map, "array") && !map.contains_key("items") {
            self.say(path, "an array without items");
        }
        let properties = map.get("properties").and_then(Value::as_object);
        if has_type(map, "object") && properties.is_none_or(Map::is_empty) && !path.is_empty() {
            self.say(path, "an object without properties");
        }
        for key in properties.into_iter().flat_map(Map::keys) {
            let first = key
                .chars()
                .next()
                .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            if !first
                || key.len() > 64
                || !key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            {
                self.say(path, format!("the key {key:?}"));
            }
        }
        for value in map
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if value.as_str().is_none_or(str::is_empty) {
                self.say(path, format!("{value} in an enum"));
            }
        }
        self.known_required(path, map);
    }

    pub(super) fn ollama(&mut self, path: &str, map: &Map<String, Value>) {
        if !map.get("type").is_some_and(Value::is_string) {
            self.say(path, format!("type {:?}", map.get("type")));
        }
        self.refuse(
            path,
            map,
            &[
                "anyOf", "oneOf", "allOf", "$ref", "$defs", "not", "nullable",
            ],
        );
    }
}
