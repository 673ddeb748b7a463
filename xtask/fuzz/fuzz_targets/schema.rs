//! Any JSON as a tool's schema: compiling it is total, bounded, deterministic and idempotent for
//! every target, and arguments find their way back. The laws are those of `tool-schema`'s tests.
#![no_main]

#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../../tool-schema/tests/it/laws.rs"]
mod laws;
#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../../tool-schema/tests/it/oracle.rs"]
mod oracle;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tool_schema::{Target, compile};

/// What a compiled schema may have at most, as `Limits` says.
const BYTES: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(schema) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    // One target an input: all of them would take most of the time.
    let seed = fuzz::seed(bytes);
    let target = &Target::ALL[seed as usize % Target::ALL.len()];
    if let Ok(compiled) = compile(&schema, target) {
        assert!(laws::sent(&compiled).to_string().len() <= BYTES);
    }
    if let Err(failure) = laws::check_laws(&schema, target, seed, 2) {
        panic!("{failure}");
    }
});
