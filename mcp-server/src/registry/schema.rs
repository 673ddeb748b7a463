//! Validation against JSON Schemas.

#[cfg(feature = "validate")]
use std::sync::OnceLock;

use mcp_jsonrpc::{RawJson, RawObject};

/// Checks values against the schema it is given, always the same one. The schema is compiled for the
/// first value: most tools of a long list are never called. Without the feature `validate` nothing is
/// checked.
#[derive(Default)]
pub(crate) struct Checker {
    #[cfg(feature = "validate")]
    validator: OnceLock<Option<jsonschema::Validator>>,
}

#[cfg(feature = "validate")]
impl Checker {
    pub(crate) fn check(&self, schema: &RawObject, value: &RawJson) -> Result<(), String> {
        let Some(validator) = self.validator.get_or_init(|| compile(schema)) else {
            return Ok(());
        };
        let value = value
            .parse()
            .map_err(|error: serde_json::Error| error.to_string())?;
        validator.validate(&value).map_err(|error| {
            let place = error.instance_path().to_string();
            if place.is_empty() {
                error.to_string()
            } else {
                format!("{place}: {error}")
            }
        })
    }
}

/// `None` for a schema that cannot be used; it is logged, and nothing is checked then.
#[cfg(feature = "validate")]
fn compile(schema: &RawObject) -> Option<jsonschema::Validator> {
    let schema = schema.parse::<serde_json::Value>().ok()?;
    jsonschema::validator_for(&schema)
        .inspect_err(|error| tracing::warn!(%error, "a tool's schema cannot be used for checks"))
        .ok()
}

#[cfg(not(feature = "validate"))]
impl Checker {
    #[allow(clippy::unused_self, reason = "it checks with the feature `validate`")]
    pub(crate) fn check(&self, _: &RawObject, _: &RawJson) -> Result<(), String> {
        Ok(())
    }
}
