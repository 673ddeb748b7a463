//! Which arguments of a tool a modern client must repeat as `Mcp-Param-*` headers: its input schema
//! says so with `x-mcp-header`.

use serde_json::Value;

/// The key of the annotation.
pub(crate) const KEY: &str = "x-mcp-header";
/// The largest integer every JSON reader agrees on.
const SAFE_INTEGER: i64 = (1 << 53) - 1;

/// One argument and its header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ParamHeader {
    /// The header's name, in lower case.
    pub(crate) name: String,
    /// The property names that lead from the arguments to the value.
    path: Vec<String>,
}

/// The annotated properties of a schema, found through `properties` alone: elsewhere an annotation
/// is not valid, and clients must not offer such a tool.
pub(crate) fn param_headers(schema: &Value) -> Vec<ParamHeader> {
    let (mut found, mut open) = (Vec::new(), vec![(schema, Vec::new())]);
    while let Some((schema, path)) = open.pop() {
        let suffix = schema.get(KEY).and_then(Value::as_str);
        if let Some(suffix) = suffix.filter(|_| !path.is_empty()) {
            found.push(ParamHeader {
                name: format!("mcp-param-{}", suffix.to_ascii_lowercase()),
                path: path.clone(),
            });
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let mut path: Vec<String> = path.clone();
            path.push(name.clone());
            open.push((property, path));
        }
    }
    found
}

impl ParamHeader {
    /// What the header must say for these arguments; `None` if it must be absent.
    pub(crate) fn value(&self, arguments: &Value) -> Option<String> {
        let mut path = self.path.iter();
        match path.try_fold(arguments, |value, name| value.get(name))? {
            Value::String(text) => Some(text.clone()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Number(number) => number
                .as_i64()
                .or_else(|| whole(number.as_f64()?))
                .filter(|n| (-SAFE_INTEGER..=SAFE_INTEGER).contains(n))
                .map(|n| n.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

fn whole(number: f64) -> Option<i64> {
    const BOUND: f64 = SAFE_INTEGER as f64;
    #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
    (number.fract() == 0.0 && number.abs() <= BOUND).then_some(number as i64)
}
