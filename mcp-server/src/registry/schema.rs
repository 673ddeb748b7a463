//! Validation against JSON Schemas.

use mcp_jsonrpc::{RawJson, RawObject};

/// Checks values against one schema. Without the feature `validate` there is none.
pub(crate) struct Checker {
    #[cfg(feature = "validate")]
    validator: jsonschema::Validator,
    #[cfg(not(feature = "validate"))]
    never: std::convert::Infallible,
}

#[cfg(feature = "validate")]
impl Checker {
    /// `None` for a schema that cannot be used; it is logged, and nothing is checked then.
    pub(crate) fn new(schema: &RawObject) -> Option<Self> {
        let schema = schema.parse::<serde_json::Value>().ok()?;
        match jsonschema::validator_for(&schema) {
            Ok(validator) => Some(Self { validator }),
            Err(error) => {
                tracing::warn!(%error, "a tool's schema cannot be used for checks");
                None
            }
        }
    }

    pub(crate) fn check(&self, value: &RawJson) -> Result<(), String> {
        let value = value
            .parse()
            .map_err(|error: serde_json::Error| error.to_string())?;
        self.validator.validate(&value).map_err(|error| {
            let place = error.instance_path().to_string();
            if place.is_empty() {
                error.to_string()
            } else {
                format!("{place}: {error}")
            }
        })
    }
}

#[cfg(not(feature = "validate"))]
impl Checker {
    pub(crate) fn new(_: &RawObject) -> Option<Self> {
        None
    }

    pub(crate) fn check(&self, _: &RawJson) -> Result<(), String> {
        match self.never {}
    }
}
