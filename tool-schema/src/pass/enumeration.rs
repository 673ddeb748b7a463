//! `enum` and `const`: written with the values the target supports.

use std::collections::HashSet;

use serde_json::Value;

use super::{Work, combine::admitted, keyword};
use crate::{
    Action, Enums, Nulls, Quarantine, Untyped,
    graph::types::Types,
    graph::{Id, Part, equal::same, shared::shared},
    restore::{Undo, fits, on_trust},
};

pub(super) fn run(work: &mut Work<'_>) -> Result<(), Quarantine> {
    // Computed when the first value needs a label: few schemas have one.
    let mut bound = None;
    work.each(|work, id| {
        constant(work, id);
        if work.node(id).has("enum") {
            values(work, id, &mut bound);
        }
        Ok(())
    })
}

fn constant(work: &mut Work<'_>, id: Id) {
    let node = work.node(id);
    let Some(value) = node.json("const").cloned() else {
        return;
    };
    let contradicted = match node.json("enum") {
        Some(Value::Array(values)) => !values.iter().any(|other| same(other, &value)),
        _ => false,
    };
    if contradicted || work.target.untyped != Untyped::Keep && !fits(&work.graph, id, &value) {
        work.forbid(id);
        return;
    }
    let plain = takes(work.target.enums, &value) && work.target.accepts("const");
    let typed = work.target.untyped == Untyped::Keep || node.types != Types::ANY;
    if plain && typed {
        return;
    }
    let at = node.at;
    let node = work.node_mut(id);
    node.take("const");
    // The constant implies the `enum`.
    node.set("enum", Part::Json(Value::Array(vec![value])));
    work.report.lossless(at, "const", Action::Rewritten);
}

fn values(work: &mut Work<'_>, id: Id, bound: &mut Option<HashSet<Id>>) {
    let node = work.node(id);
    let Some(Value::Array(all)) = node.json("enum") else {
        return;
    };
    let foreign = all.iter().any(|value| !takes(work.target.enums, value));
    if !foreign && work.target.enums != Enums::Strings && work.target.untyped == Untyped::Keep {
        return;
    }
    // Values that other rules forbid were never accepted.
    let (at, count) = (node.at, all.len());
    let kept = admitted(work, id);
    let dropped = kept.len() < count;
    let types = kept
        .iter()
        .fold(Types::NONE, |types, value| types.or(Types::of(value)));
    // A fraction among integers makes them numbers.
    let types = if types.meets(Types::NUMBER.without(Types::INTEGER)) {
        types.or(Types::INTEGER)
    } else {
        types
    };
    if types == Types::BOOLEAN && kept.len() == 2 && foreign {
        let node = work.node_mut(id);
        node.take("enum");
        node.types = Types::BOOLEAN;
        work.report.lossless(at, "enum", Action::Rewritten);
    } else if kept.iter().any(|value| !takes(work.target.enums, value)) || needs_label(work, types)
    {
        let bound = bound.get_or_insert_with(|| shared(&work.graph));
        // The arguments must stay an object.
        if id == work.graph.root || bound.contains(&id) {
            keyword::put_into_words(work, id, "enum");
            // The values' types remain of it, for a target that requires a type everywhere.
            if work.target.untyped != Untyped::Keep {
                let node = work.node_mut(id);
                node.types = node.types.and(types);
            }
            return;
        }
        label(work, id, kept);
        work.report.lossless(at, "enum", Action::Rewritten);
    } else {
        if kept
            .iter()
            .any(|value| value.is_array() || value.is_object())
        {
            // The list replaces all rules that applied to it; once it is rewritten, those rules would give other
            // results.
            let trusted = on_trust(&work.graph, id);
            work.node_mut(id).take("enum");
            keyword::retire_rules(work, id, |key| !trusted.contains(&key));
        }
        let node = work.node_mut(id);
        node.types = types;
        node.set("enum", Part::Json(Value::Array(kept)));
        if dropped {
            work.report.lossless(at, "enum", Action::Rewritten);
        }
    }
}

/// Null alone cannot be expressed by a target that supports null only beside a type.
fn needs_label(work: &Work<'_>, types: Types) -> bool {
    types == Types::NULL && !matches!(work.target.nulls, Nulls::Type | Nulls::Sparing)
}

/// Whether an `enum` may contain `value`. Another pass handles null.
fn takes(enums: Enums, value: &Value) -> bool {
    match enums {
        Enums::Any => true,
        Enums::Scalars => !value.is_array() && !value.is_object(),
        Enums::StringsAndNumbers => value.is_string() || value.is_number() || value.is_null(),
        Enums::Strings => value.is_null() || value.as_str().is_some_and(|text| !text.is_empty()),
    }
}

/// Writes every value as a string and records which value it stands for.
pub(super) fn label(work: &mut Work<'_>, id: Id, values: Vec<Value>) {
    let nulls = values.contains(&Value::Null) && values.len() > 1;
    let mut labels: Vec<(String, Value)> = Vec::with_capacity(values.len());
    let mut taken = HashSet::new();
    let own: HashSet<String> = values
        .iter()
        .filter_map(|value| Some(value.as_str()?.to_owned()))
        .collect();
    for value in values
        .into_iter()
        .filter(|value| !(nulls && value.is_null()))
    {
        let mut text = match &value {
            Value::String(text) if text.is_empty() => "(empty)".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // A string keeps its spelling; a value that would look the same gets a distinct label.
        let is_own = value.as_str().is_some_and(|own| !own.is_empty());
        while !is_own && own.contains(&text) || !taken.insert(text.clone()) {
            text = format!("{text} ({})", kind(&value));
        }
        labels.push((text, value));
    }
    // The values were checked against the other rules, except those taken on trust.
    let trusted = on_trust(&work.graph, id);
    keyword::retire_rules(work, id, |key| !trusted.contains(&key));
    let node = work.node_mut(id);
    node.types = if nulls {
        Types::STRING.or(Types::NULL)
    } else {
        Types::STRING
    };
    let mut shown: Vec<Value> = labels
        .iter()
        .map(|(text, _)| Value::from(text.as_str()))
        .collect();
    if nulls {
        shown.push(Value::Null);
    }
    node.set("enum", Part::Json(Value::Array(shown)));
    if labels.iter().any(|(text, value)| value != text.as_str()) {
        node.undo.push(Undo::Labels(labels));
        keyword::retire_notes(work, id);
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
