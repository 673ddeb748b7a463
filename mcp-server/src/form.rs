//! Whether a submitted form fits the form that was asked for.

use mcp_jsonrpc::model::{FieldSchema, FormSchema};
use serde_json::{Map, Value};

/// Checks types, choices and required fields. A missing field with a default is accepted: clients
/// need not repeat defaults. Fields that were not asked for are ignored.
pub(crate) fn check(form: &FormSchema, content: &Map<String, Value>) -> Result<(), String> {
    for (name, schema) in form.properties.iter() {
        match content.get(name) {
            None | Some(Value::Null) => {
                let required = form.required.iter().flatten().any(|field| field == name);
                if required && !has_default(schema) {
                    return Err(format!("field {name:?} is missing"));
                }
            }
            Some(value) if !fits(schema, value) => {
                return Err(format!("field {name:?} does not fit its schema"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn has_default(schema: &FieldSchema) -> bool {
    match schema {
        FieldSchema::String(schema) => schema.default.is_some(),
        FieldSchema::Number(schema) => schema.default.is_some(),
        FieldSchema::Integer(schema) => schema.default.is_some(),
        FieldSchema::Boolean(schema) => schema.default.is_some(),
        FieldSchema::MultiSelect(schema) => schema.default.is_some(),
        _ => true,
    }
}

fn fits(schema: &FieldSchema, value: &Value) -> bool {
    let count = |text: &str| i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    match schema {
        FieldSchema::String(schema) => value.as_str().is_some_and(|text| {
            let choices = schema.choices();
            schema.min_length.is_none_or(|min| count(text) >= min)
                && schema.max_length.is_none_or(|max| count(text) <= max)
                && (choices.is_empty() || choices.iter().any(|choice| choice.value == text))
        }),
        FieldSchema::Number(schema) => value
            .as_f64()
            .is_some_and(|n| within(n, schema.minimum, schema.maximum)),
        FieldSchema::Integer(schema) => value
            .as_f64()
            .is_some_and(|n| n.fract() == 0.0 && within(n, schema.minimum, schema.maximum)),
        FieldSchema::Boolean(_) => value.is_boolean(),
        FieldSchema::MultiSelect(schema) => value.as_array().is_some_and(|items| {
            let choices = schema.items.choices();
            items.iter().all(|item| {
                item.as_str().is_some_and(|text| {
                    choices.is_empty() || choices.iter().any(|choice| choice.value == text)
                })
            })
        }),
        _ => true,
    }
}

fn within(n: f64, minimum: Option<f64>, maximum: Option<f64>) -> bool {
    minimum.is_none_or(|min| n >= min) && maximum.is_none_or(|max| n <= max)
}
