//! Any JSON as a tool's schema: compiling it is total, bounded, deterministic and idempotent for
//! every target, and arguments find their way back. The laws are those of `tool-schema`'s tests.
#![no_main]

#[path = "../../../tool-schema/tests/it/explained.rs"]
mod explained;
#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../../tool-schema/tests/it/laws.rs"]
mod laws;
#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../../tool-schema/tests/it/oracle.rs"]
mod oracle;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tool_schema::{Target, compile};

/// What a compiled schema may have at most, as `Limits` says.
const BYTES: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(schema) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    if has_foreign_pattern(&schema) {
        return;
    }
    // One target an input: all of them would take most of the time.
    let seed = fuzz::seed(bytes);
    let target = &Target::ALL[seed as usize % Target::ALL.len()];
    if let Ok(compiled) = compile(&schema, target) {
        assert!(laws::sent(&compiled).to_string().len() <= BYTES);
    }
    if let Err(failure) = laws::check_laws(&laws::Original::new(&schema), target, seed, 2) {
        panic!("{failure}");
    }
});

/// Whether a regular expression in it is none to the oracle. Such are passed on as they are
/// written: there are many dialects, and whether a provider takes one is for the provider to say.
fn has_foreign_pattern(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| {
            let foreign =
                |pattern: &Value| oracle::validator(&json!({"pattern": pattern})).is_none();
            let patterns = value.as_object().filter(|_| key == "patternProperties");
            let mut patterns = patterns.into_iter().flat_map(|named| named.keys());
            (key == "pattern" && foreign(value))
                || patterns.any(|pattern| foreign(&json!(pattern)))
                || has_foreign_pattern(value)
        }),
        Value::Array(items) => items.iter().any(has_foreign_pattern),
        _ => false,
    }
}
