//! Rules described in words for a model.

use serde_json::Value;

/// The requirement of a rule, as a short sentence; `None` if it is obvious.
pub(crate) fn rule(keyword: &str, value: &Value) -> Option<String> {
    // JavaScript's safe integers: generators add these bounds by default.
    const SAFE: f64 = 9_007_199_254_740_991.0;
    let items = |n: &Value| if *n == 1 { "item" } else { "items" };
    let characters = |n: &Value| if *n == 1 { "character" } else { "characters" };
    let keys = |n: &Value| if *n == 1 { "key" } else { "keys" };
    Some(match keyword {
        "minimum" | "maximum" if value.as_f64().is_some_and(|n| n.abs() >= SAFE) => return None,
        // `required` already shows that the key is optional.
        "default" if value.is_null() => return None,
        "minimum" => format!("At least {value}."),
        "maximum" => format!("At most {value}."),
        "exclusiveMinimum" => format!("Greater than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "multipleOf" => format!("A multiple of {value}."),
        "minLength" => format!("At least {value} {}.", characters(value)),
        "maxLength" => format!("At most {value} {}.", characters(value)),
        "pattern" => format!(
            "Matches the regular expression {}.",
            clip(value.as_str()?, 300)
        ),
        "format" => format!("Format: {}.", clip(value.as_str()?, 80)),
        "minItems" => format!("At least {value} {}.", items(value)),
        "maxItems" => format!("At most {value} {}.", items(value)),
        "uniqueItems" => "No item twice.".to_owned(),
        "minProperties" => format!("At least {value} {}.", keys(value)),
        "maxProperties" => format!("At most {value} {}.", keys(value)),
        "default" => format!("Default: {}.", clip(&value.to_string(), 300)),
        "const" => format!("Always {}.", clip(&value.to_string(), 300)),
        "enum" => format!(
            "One of {}.",
            list(value.as_array()?.iter().map(Value::to_string))
        ),
        "required" => format!("Always give {}.", names(value)?),
        "dependentRequired" => dependent_required(value)?,
        "contentEncoding" => format!("Encoded as {}.", clip(value.as_str()?, 80)),
        "contentMediaType" => format!("Holds {}.", clip(value.as_str()?, 80)),
        _ => return None,
    })
}

/// The requirement of a rule that contains a schema. The schema is spelled out if it is short.
pub(crate) fn schema_rule(keyword: &str, schema: &Value) -> Option<String> {
    let text = schema.to_string();
    if text.len() > 400 {
        return None;
    }
    Some(match keyword {
        "not" => format!("Must not match the JSON Schema {text}."),
        "contains" => format!("At least one item matches the JSON Schema {text}."),
        "propertyNames" => format!("Every key matches the JSON Schema {text}."),
        "additionalProperties" => {
            format!("Further keys are allowed; their values match the JSON Schema {text}.")
        }
        "patternProperties" => format!("Keys that match a pattern have values as in {text}."),
        "dependentSchemas" => format!("Where a key is present, its JSON Schema holds too: {text}."),
        "if" => format!("Condition, as JSON Schema: {text}."),
        "prefixItems" => format!("The items, in order, match the JSON Schemas {text}."),
        "anyOf" | "oneOf" => format!("Matches one of the JSON Schemas {text}."),
        _ => return None,
    })
}

fn dependent_required(value: &Value) -> Option<String> {
    let mut sentences = Vec::new();
    for (name, needed) in value.as_object()?.iter().take(8) {
        let needed = names(needed)?;
        sentences.push(format!("With `{}`, give {needed} too.", clip(name, 80)));
    }
    Some(sentences.join(" "))
}

/// Keys, each formatted as code.
fn names(value: &Value) -> Option<String> {
    let names = value.as_array()?.iter().filter_map(Value::as_str);
    Some(list(names.map(|name| format!("`{name}`"))))
}

/// At most twenty of the words, each at most 80 characters.
pub(crate) fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.map(|word| clip(&word, 80)).collect();
    match words.get(..20) {
        Some(first) if words.len() > 20 => {
            format!("{}, … ({} in all)", first.join(", "), words.len())
        }
        _ => words.join(", "),
    }
}

/// At most `max` characters of a server's text, on one line.
pub(crate) fn clip(text: &str, max: usize) -> String {
    let mut out: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(max)
        .collect();
    if text.chars().nth(max).is_some() {
        out.push('…');
    }
    out
}
