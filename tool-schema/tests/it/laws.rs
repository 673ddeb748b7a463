//! What holds for every schema and every target. The fuzzer asks for the same.

use jsonschema::Validator;
use serde_json::{Value, json};
use tool_schema::{Compiled, Target, compile};

use crate::explained::unexplained;
use crate::oracle::{Dice, Extra, as_json_schema, near, validator, value};

/// A schema that accepts no arguments stands for one left out.
pub(crate) fn sent(compiled: &Compiled) -> Value {
    compiled
        .schema
        .clone()
        .unwrap_or_else(|| json!({"type": "object", "properties": {}, "required": []}))
}

/// A schema, and what it means.
pub(crate) struct Original<'a> {
    schema: &'a Value,
    validator: Option<Validator>,
}

impl<'a> Original<'a> {
    pub(crate) fn new(schema: &'a Value) -> Self {
        let validator = validator(schema);
        Self { schema, validator }
    }
}

/// Compiles and checks all laws with `count` values made from `seed`.
#[track_caller]
pub(crate) fn check_laws(
    original: &Original<'_>,
    target: &Target,
    seed: u64,
    count: usize,
) -> Result<(), String> {
    let schema = original.schema;
    let Ok(compiled) = compile(schema, target) else {
        return Ok(());
    };
    let broken = |law: &str, detail: Value| {
        Err(format!(
            "{law} for {}\noriginal {schema}\ncompiled {}\nlosses {}\n{detail}",
            target.name(),
            sent(&compiled),
            compiled
                .losses
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")
        ))
    };
    // Deterministic.
    let again = compile(schema, target).map_err(|reason| format!("second time: {reason}"))?;
    if (&again.schema, &again.losses) != (&compiled.schema, &compiled.losses) {
        return broken("not deterministic", json!(again.schema));
    }
    // Idempotent. What falls back from a strict target is that target's to show.
    if target.is_strict() && !compiled.strict {
        return Ok(());
    }
    let twice =
        compile(&sent(&compiled), target).map_err(|reason| format!("compiled: {reason}"))?;
    if twice.schema != compiled.schema {
        return broken("not idempotent", sent(&twice));
    }
    let as_schema = as_json_schema(&sent(&compiled));
    let Some(after) = validator(&as_schema) else {
        return broken("compiled to no schema", as_schema);
    };
    let Some(before) = &original.validator else {
        return Ok(());
    };
    for round in 0..count as u64 {
        let mut dice = Dice::new(seed.wrapping_mul(31).wrapping_add(round));
        let written = value(&as_schema, &mut dice, Extra::Allowed);
        let wanted = value(schema, &mut dice, Extra::Declared);
        // What fits the compiled schema fits the original once restored, apart from rules that
        // are reported as lost; also what a model might write that takes the compiled schema for
        // the original, and errs.
        let astray = |dice: &mut Dice| compiled.restore.project(near(&wanted, dice));
        for written in [astray(&mut dice), astray(&mut dice), written] {
            if after.is_valid(&written) {
                let restored = compiled.restore.apply(written.clone());
                if let Some(place) = unexplained(schema, before, &restored, &compiled.losses) {
                    return broken(
                        "unsound",
                        json!({"place": place, "written": written, "restored": restored}),
                    );
                }
            }
        }
        // What fits the original can be written.
        let is_arguments =
            wanted.is_object() || compiled.restore.apply(json!({"value": 1})) == json!(1);
        if is_arguments && before.is_valid(&wanted) && !compiled.is_lossy() {
            let written = compiled.restore.project(wanted.clone());
            if !after.is_valid(&written) {
                return broken("incomplete", json!({"wanted": wanted, "written": written}));
            }
            let restored = compiled.restore.apply(written.clone());
            if !says(&restored, &wanted) {
                return broken(
                    "not inverse",
                    json!({"wanted": wanted, "written": written, "restored": restored}),
                );
            }
            // Arguments the rewrites do not touch come back as they are.
            let texts = matches!(target.name(), "gemini-openapi" | "ollama")
                || target.name().ends_with("-output");
            let untouched = compiled.restore.apply(wanted.clone());
            if !texts && wanted.is_object() && untouched != wanted {
                return broken(
                    "not the identity",
                    json!({"wanted": wanted, "restored": untouched}),
                );
            }
        }
    }
    Ok(())
}

/// Whether `a` says what `b` says: a key that is null may be absent, and what
/// `b` leaves to a default may be spelt out.
fn says(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => y.iter().all(|(key, value)| {
            value.is_null() && !x.contains_key(key)
                || x.get(key).is_some_and(|mine| says(mine, value))
        }),
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| says(x, y))
        }
        _ => a == b,
    }
}
