//! TOML, parsed into the same tree and written from JSON values.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::file::document::{Kind, Member, Node};

/// Parses a file; on failure returns the position and the error.
pub(crate) fn parse(text: &str) -> Result<Node, (usize, String)> {
    match DeTable::parse(text) {
        Ok(table) => Ok(Node {
            at: table.span().start,
            kind: object(table.into_inner()),
        }),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            // The expectation is on a separate line.
            let lines: Vec<&str> = error.message().lines().map(str::trim).collect();
            Err((at, lines.join(", ")))
        }
    }
}

/// Writes a file. Values that TOML cannot express are omitted: nulls.
pub(crate) fn write(root: Map<String, Value>) -> String {
    let root = without_nulls(Value::Object(root)).unwrap_or_default();
    toml::to_string_pretty(&root).unwrap_or_default()
}

fn without_nulls(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Array(items) => Some(items.into_iter().filter_map(without_nulls).collect()),
        Value::Object(members) => {
            let members = members.into_iter();
            let kept = members.filter_map(|(name, value)| Some((name, without_nulls(value)?)));
            Some(Value::Object(kept.collect()))
        }
        // TOML integers go up to `i64::MAX`.
        Value::Number(number) if number.as_u64().is_some() && number.as_i64().is_none() => {
            number.as_f64().map(Value::from)
        }
        scalar => Some(scalar),
    }
}

fn object(table: DeTable<'_>) -> Kind {
    let members = table.into_iter().map(|(name, value)| Member {
        at: name.span().start,
        name: name.into_inner().into_owned(),
        value: node(value),
    });
    Kind::Object(members.collect())
}

fn node(value: Spanned<DeValue<'_>>) -> Node {
    let at = value.span().start;
    let kind = match value.into_inner() {
        DeValue::String(text) => Kind::Text(text.into_owned()),
        DeValue::Boolean(flag) => Kind::Bool(flag),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(
                |_| Kind::Text(number.as_str().to_owned()),
                |n| Kind::Number(n.into()),
            ),
        DeValue::Float(number) => {
            let read = number.as_str().parse().ok().and_then(Number::from_f64);
            read.map_or_else(|| Kind::Text(number.as_str().to_owned()), Kind::Number)
        }
        DeValue::Datetime(time) => Kind::Text(time.to_string()),
        DeValue::Array(items) => Kind::List(items.into_iter().map(node).collect()),
        DeValue::Table(table) => object(table),
    };
    Node { at, kind }
}
