//! What the strict modes refuse.

use serde_json::{Map, Value};

use super::{Complaints, Place, STRICT_FORMATS, has_type, walk};

impl Complaints {
    pub(super) fn openai_strict(&mut self, path: &str, map: &Map<String, Value>) {
        self.openai(path, map);
        self.enforced(path, map);
        self.all_required(path, map);
        self.formats(path, map, STRICT_FORMATS);
        self.refuse(
            path,
            map,
            &[
                "allOf",
                "oneOf",
                "not",
                "if",
                "then",
                "else",
                "dependentRequired",
                "dependentSchemas",
                "patternProperties",
                "propertyNames",
                "unevaluatedProperties",
                "unevaluatedItems",
                "prefixItems",
                "contains",
                "uniqueItems",
                "minProperties",
                "maxProperties",
                "minLength",
                "maxLength",
                "default",
                "nullable",
                "definitions",
            ],
        );
        if map.contains_key("$ref") && map.keys().any(|key| key != "$ref") {
            self.say(path, "something beside $ref");
        }
    }

    pub(super) fn openai_limits(&mut self, schema: &Value) {
        let (mut properties, mut values, mut text, mut deepest) = (0, 0, 0, 0);
        walk(schema, String::new(), &mut |path, schema, _| {
            // A property or an item is one level; branches and definitions are none.
            let steps: Vec<&str> = path.split('/').collect();
            let mut depth = 0;
            let mut index = 1;
            while index < steps.len() {
                match steps[index] {
                    "properties" => (depth, index) = (depth + 1, index + 2),
                    "items" => (depth, index) = (depth + 1, index + 1),
                    _ => index += 2,
                }
            }
            deepest = deepest.max(depth);
            for name in schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(Map::keys)
            {
                properties += 1;
                text += name.chars().count();
            }
            let listed = schema
                .get("enum")
                .and_then(Value::as_array)
                .map(Vec::as_slice)
                .unwrap_or_default();
            values += listed.len();
            text += listed
                .iter()
                .map(|value| value.as_str().map_or(4, |s| s.chars().count()))
                .sum::<usize>();
        });
        if properties > 5_000 || values > 1_000 || text > 120_000 || deepest > 10 {
            self.say("", format!("too large: {properties} properties, {values} values, {text} characters, {deepest} levels"));
        }
    }

    pub(super) fn anthropic_strict(&mut self, path: &str, map: &Map<String, Value>) {
        self.enforced(path, map);
        self.formats(path, map, &[STRICT_FORMATS, &["uri"]].concat());
        self.refuse(
            path,
            map,
            &[
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
                "minLength",
                "maxLength",
                "maxItems",
                "uniqueItems",
                "oneOf",
                "not",
                "if",
                "then",
                "else",
                "patternProperties",
                "propertyNames",
                "prefixItems",
                "contains",
                "minProperties",
                "maxProperties",
                "dependentRequired",
                "dependentSchemas",
                "unevaluatedProperties",
                "unevaluatedItems",
                "allOf",
                "nullable",
            ],
        );
        if map
            .get("minItems")
            .and_then(Value::as_u64)
            .is_some_and(|least| least > 1)
        {
            self.say(path, "minItems");
        }
        if let Some(pattern) = map.get("pattern").and_then(Value::as_str)
            && ["(?=", "(?!", "(?<", "\\b", "\\B", "\\1"]
                .iter()
                .any(|part| pattern.contains(part))
        {
            self.say(path, format!("pattern {pattern}"));
        }
        let listed = map
            .get("enum")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        if listed
            .iter()
            .chain(map.get("const"))
            .any(|value| value.is_object() || value.is_array())
        {
            self.say(path, "a structured value in an enum");
        }
    }

    pub(super) fn deepseek_strict(&mut self, path: &str, map: &Map<String, Value>, place: &Place) {
        self.openai(path, map);
        self.enforced(path, map);
        self.all_required(path, map);
        self.formats(path, map, &["email", "hostname", "ipv4", "ipv6", "uuid"]);
        self.refuse(
            path,
            map,
            &[
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "uniqueItems",
                "contains",
                "prefixItems",
                "oneOf",
                "allOf",
                "not",
                "if",
                "then",
                "else",
                "patternProperties",
                "propertyNames",
                "minProperties",
                "maxProperties",
                "dependentRequired",
                "dependentSchemas",
                "nullable",
            ],
        );
        if *place == Place::Branch && map.contains_key("$ref") {
            self.say(path, "$ref in a union");
        }
        if *place != Place::Root
            && map
                .get("properties")
                .and_then(Value::as_object)
                .is_some_and(Map::is_empty)
        {
            self.say(path, "an empty object");
        }
        if map.get("type").is_some_and(Value::is_array)
            && (has_type(map, "object") || has_type(map, "array"))
        {
            self.say(path, "a list of types that are not all scalar");
        }
    }
}
