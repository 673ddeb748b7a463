//! Any lines as `WWW-Authenticate` headers: each is read for itself, and what is quoted survives.
#![no_main]

#[allow(dead_code, reason = "the crate uses all of it")]
#[path = "../../../mcp-auth/src/discovery/challenge.rs"]
mod challenge;
#[allow(dead_code, reason = "the crate uses all of it")]
#[path = "../../../mcp-auth/src/token/scope.rs"]
mod scope;
/// Where the crate has it.
mod token {
    pub(crate) use crate::scope;
}

use challenge::Demand;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let headers: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let together = Demand::read(&headers);
    let mut apart = Demand::default();
    for header in headers {
        let one = Demand::read(&[header]);
        apart.resource_metadata = apart.resource_metadata.or(one.resource_metadata);
        apart.scope = apart.scope.union(&one.scope);
        apart.error = apart.error.or(one.error);
        apart.dpop |= one.dpop;
    }
    assert_eq!(together, apart);

    let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let header = format!(
        "Negotiate YII=, Basic realm={quoted}, Bearer error={quoted}, \
         resource_metadata={quoted}, Digest q=1"
    );
    let demand = Demand::read(&[header]);
    assert_eq!(demand.resource_metadata.as_deref(), Some(text));
    assert!(demand.is_error(text) && !demand.dpop && demand.scope.is_empty());
});
