//! What schemas mean, by the `jsonschema` crate, and values made for them. None
//! of this uses the compiler.

use jsonschema::{Retrieve, Uri, Validator};
use serde_json::{Map, Value, json};

/// A validator that never leaves the document; `None` if the schema is no schema.
pub(crate) fn validator(schema: &Value) -> Option<Validator> {
    struct Nowhere;
    impl Retrieve for Nowhere {
        fn retrieve(
            &self,
            uri: &Uri<String>,
        ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
            Err(format!("{uri} is elsewhere").into())
        }
    }
    jsonschema::options()
        .with_retriever(Nowhere)
        .should_validate_formats(true)
        .build(schema)
        .ok()
}

/// A compiled schema as JSON Schema: OpenAPI's `nullable` becomes a type.
pub(crate) fn as_json_schema(compiled: &Value) -> Value {
    match compiled {
        Value::Object(map) => {
            let mut out: Map<String, Value> = map
                .iter()
                .filter(|(key, _)| *key != "nullable")
                .map(|(key, value)| {
                    let value = match key.as_str() {
                        "properties" | "$defs" => match value {
                            Value::Object(named) => named
                                .iter()
                                .map(|(name, schema)| (name.clone(), as_json_schema(schema)))
                                .collect::<Map<_, _>>()
                                .into(),
                            other => other.clone(),
                        },
                        "items" | "additionalProperties" => as_json_schema(value),
                        "anyOf" => value
                            .as_array()
                            .unwrap()
                            .iter()
                            .map(as_json_schema)
                            .collect(),
                        _ => value.clone(),
                    };
                    (key.clone(), value)
                })
                .collect();
            if map.get("nullable") == Some(&json!(true)) {
                out.insert("type".into(), json!([map["type"], "null"]));
                if let Some(Value::Array(values)) = out.get_mut("enum") {
                    values.push(Value::Null);
                }
            }
            Value::Object(out)
        }
        other => other.clone(),
    }
}

/// A small generator of numbers; the seed decides everything.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap()
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }
}

/// Whether objects get keys their schema is silent about.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extra {
    /// Wherever they are allowed.
    Allowed,
    /// Only where the schema says that they are.
    Declared,
}

/// Makes a value that probably fits `schema`.
pub(crate) fn value(schema: &Value, dice: &mut Dice, extra: Extra) -> Value {
    Maker {
        root: schema,
        dice,
        extra,
        listed: false,
        fuel: 2_000,
    }
    .make(schema, 0)
}

struct Maker<'a> {
    root: &'a Value,
    dice: &'a mut Dice,
    extra: Extra,
    /// Whether something that judges the same value lists its keys.
    listed: bool,
    /// Values left to make: a schema that requires itself twice would go on for ever.
    fuel: usize,
}

impl<'a> Maker<'a> {
    /// Makes a part of a value.
    fn part(&mut self, schema: &'a Value, depth: usize) -> Value {
        let outer = std::mem::take(&mut self.listed);
        let made = self.make(schema, depth);
        self.listed = outer;
        made
    }

    fn make(&mut self, schema: &'a Value, depth: usize) -> Value {
        let outer = self.listed;
        self.listed |= self.lists_keys(schema, 4);
        let made = self.judged(schema, depth);
        self.listed = outer;
        made
    }

    /// Whether a schema, or one that judges the same value, lists the keys of an object.
    fn lists_keys(&self, schema: &Value, fuel: usize) -> bool {
        let target = schema.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|text| self.root.pointer(text.strip_prefix('#')?));
        let branches = ["allOf", "anyOf", "oneOf"].into_iter();
        let branches = branches.filter_map(|key| schema.get(key)?.as_array());
        schema.get("properties").is_some()
            || fuel > 0
                && target
                    .into_iter()
                    .chain(branches.flatten())
                    .any(|other| self.lists_keys(other, fuel - 1))
    }

    fn judged(&mut self, schema: &'a Value, depth: usize) -> Value {
        self.fuel = self.fuel.saturating_sub(1);
        let Value::Object(map) = schema else {
            return self.anything(depth);
        };
        if self.fuel == 0 {
            return Value::Null;
        }
        if let Some(reference) = map.get("$ref").and_then(Value::as_str)
            && depth < 12
            && let Some(target) = reference
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer))
        {
            let base = self.make(target, depth + 1);
            return if map.len() > 1 {
                self.beside(map, base, depth)
            } else {
                base
            };
        }
        if let Some(one) = map.get("const") {
            return one.clone();
        }
        if let Some(values) = map.get("enum").and_then(Value::as_array)
            && let Some(one) = self.dice.pick(values)
        {
            return one.clone();
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = map.get(key).and_then(Value::as_array)
                && let Some(branch) = self.dice.pick(branches)
            {
                let made = self.make(branch, depth + 1);
                return self.beside(map, made, depth);
            }
        }
        if let Some(members) = map.get("allOf").and_then(Value::as_array) {
            let mut made = self.typed(map, depth);
            for member in members {
                let more = self.make(member, depth + 1);
                made = join(made, more);
            }
            return made;
        }
        self.typed(map, depth)
    }

    /// What the rest of a schema adds to an object made elsewhere.
    fn beside(&mut self, map: &'a Map<String, Value>, made: Value, depth: usize) -> Value {
        if made.is_object() && (map.contains_key("properties") || map.contains_key("required")) {
            let own = self.object(map, depth);
            return join(own, made);
        }
        made
    }

    fn typed(&mut self, map: &'a Map<String, Value>, depth: usize) -> Value {
        let kind = match map.get("type") {
            Some(Value::String(name)) => name.clone(),
            Some(Value::Array(names)) => self
                .dice
                .pick(names)
                .and_then(Value::as_str)
                .unwrap_or("null")
                .to_owned(),
            _ if map.contains_key("properties") || map.contains_key("required") => {
                "object".to_owned()
            }
            _ if map.contains_key("items") => "array".to_owned(),
            _ if map.contains_key("minimum") => "number".to_owned(),
            _ => {
                let made = self.anything(depth);
                // Its keys would be such as nothing declares.
                let silent = self.listed && self.extra == Extra::Declared && made.is_object();
                return if silent { json!({}) } else { made };
            }
        };
        match kind.as_str() {
            "object" => self.object(map, depth),
            "array" => self.array(map, depth),
            "string" => self.string(map),
            "integer" => self.number(map, true),
            "number" => {
                let whole = self.dice.coin();
                self.number(map, whole)
            }
            "boolean" => self.dice.coin().into(),
            _ => Value::Null,
        }
    }

    fn object(&mut self, map: &'a Map<String, Value>, depth: usize) -> Value {
        let mut out = Map::new();
        let required: Vec<&str> = map
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = map.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            if required.contains(&name.as_str()) || (depth < 5 && self.dice.coin()) {
                out.insert(name.clone(), self.part(schema, depth + 1));
            }
        }
        let rest = map.get("additionalProperties");
        for name in required {
            if !out.contains_key(name) {
                let made = match rest {
                    Some(schema) => self.part(schema, depth + 1),
                    None => self.anything(depth + 1),
                };
                out.insert(name.to_owned(), made);
            }
        }
        let open = match rest {
            Some(Value::Bool(false)) => false,
            Some(_) => true,
            None => self.extra == Extra::Allowed || (!self.listed && depth > 0),
        };
        let least = map
            .get("minProperties")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let more = if open && depth < 6 {
            self.dice.below(3) as u64
        } else {
            0
        };
        for name in ["alpha", "beta gamma", "x-1", "zeta"] {
            if !open || (out.len() as u64) >= least.max(more) || out.contains_key(name) {
                continue;
            }
            let made = match rest {
                Some(schema) => self.part(schema, depth + 1),
                None => self.anything(depth + 1),
            };
            out.insert(name.to_owned(), made);
        }
        Value::Object(out)
    }

    fn array(&mut self, map: &'a Map<String, Value>, depth: usize) -> Value {
        let least = map.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let most = map
            .get("maxItems")
            .and_then(Value::as_u64)
            .unwrap_or(u64::MAX);
        let prefix: &[Value] = map
            .get("prefixItems")
            .or_else(|| map.get("items").filter(|items| items.is_array()))
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice);
        let mut length = least.saturating_add(self.dice.below(3) as u64);
        if self.dice.coin() {
            length = length.max(prefix.len() as u64);
        }
        let length = if depth > 8 { least } else { length.min(most) };
        (0..length.min(64))
            .map(|index| {
                let own = prefix.get(usize::try_from(index).unwrap());
                match own.or_else(|| map.get("items").filter(|items| !items.is_array())) {
                    Some(schema) => self.part(schema, depth + 1),
                    None => self.anything(depth + 1),
                }
            })
            .collect()
    }

    fn string(&mut self, map: &Map<String, Value>) -> Value {
        let samples = [
            "",
            "a",
            "hello",
            "2024-05-01",
            "2024-05-01T10:00:00Z",
            "a@b.example",
            "abc-123",
            "null",
            "7",
            "https://a.example/",
            "3f2b8f0e-7d0c-4c55-9d0e-0d8f6a0c1b2a",
            "[1]",
            "ünï",
            "{}",
        ];
        let mut text = (*self.dice.pick(&samples).unwrap()).to_owned();
        let least = map.get("minLength").and_then(Value::as_u64).unwrap_or(0);
        while (text.chars().count() as u64) < least.min(2_000) {
            text.push('x');
        }
        let most = map
            .get("maxLength")
            .and_then(Value::as_u64)
            .unwrap_or(u64::MAX);
        text.chars()
            .take(usize::try_from(most).unwrap_or(usize::MAX))
            .collect::<String>()
            .into()
    }

    fn number(&mut self, map: &Map<String, Value>, whole: bool) -> Value {
        let bound = |key: &str| map.get(key).and_then(Value::as_f64);
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|n| n + 1.0));
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|n| n - 1.0));
        let step = bound("multipleOf").unwrap_or(1.0);
        let around = match (least, most) {
            (Some(low), Some(high)) if self.dice.coin() => low + (high - low) / 2.0,
            (Some(low), _) if self.dice.coin() => low,
            (_, Some(high)) => high,
            (Some(low), _) => low,
            _ => 0.0,
        };
        let drift = [0.0, 1.0, 2.0, -1.0, 100.0];
        let mut number = around + drift[self.dice.below(drift.len())];
        number = (number / step).round() * step;
        if !whole && self.dice.coin() {
            return json!(number + 0.5);
        }
        if number.abs() < 9e15 {
            json!(number.round() as i64)
        } else {
            json!(number)
        }
    }

    fn anything(&mut self, depth: usize) -> Value {
        let samples = [
            json!(null),
            json!(true),
            json!(1),
            json!(2.5),
            json!("text"),
            json!("7"),
            json!([]),
            json!({}),
            json!([1, "a"]),
            json!({"k": [null]}),
        ];
        let count = if depth > 6 { 6 } else { samples.len() };
        samples[self.dice.below(count)].clone()
    }
}

fn join(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Object(mut a), Value::Object(b)) => {
            a.extend(b);
            Value::Object(a)
        }
        (_, b) => b,
    }
}

/// A value that differs from `value` in one place: a key or an item more or less, or another scalar.
pub(crate) fn near(value: &Value, dice: &mut Dice) -> Value {
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(7),
        json!(-1.5),
        json!(""),
        json!("X"),
        json!("abcdefghijklm"),
        json!({"a": 1}),
        json!([1, 1]),
    ];
    let other = others[dice.below(others.len())].clone();
    match value {
        Value::Object(map) => {
            let mut map = map.clone();
            let names: Vec<String> = map.keys().cloned().collect();
            let free = ["a", "b", "c", "x-1", "zeta", "a key that is rather long"];
            let free = free[dice.below(free.len())].to_owned();
            match (dice.below(4), dice.pick(&names)) {
                (0, Some(name)) => drop(map.shift_remove(name)),
                (1, Some(name)) => drop(map.insert(free, map[name].clone())),
                (2, Some(name)) => {
                    let inner = near(&map[name], dice);
                    map.insert(name.clone(), inner);
                }
                _ => drop(map.insert(free, other)),
            }
            Value::Object(map)
        }
        Value::Array(list) => {
            let mut list = list.clone();
            let index = dice.below(list.len());
            match (dice.below(4), list.get(index).cloned()) {
                (0, Some(_)) => drop(list.remove(index)),
                (1, Some(item)) => list.push(item),
                (2, Some(item)) => list[index] = near(&item, dice),
                _ => list.push(other),
            }
            Value::Array(list)
        }
        Value::Number(number) if dice.coin() => json!(number.as_f64().unwrap_or_default() + 1.0),
        _ => other,
    }
}
