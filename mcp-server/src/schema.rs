//! JSON Schemas of types, and checks against schemas.

use mcp_jsonrpc::{RawJson, RawObject};

/// The JSON Schema of a type, in 2020-12.
#[cfg(feature = "schemars")]
pub(crate) fn schema_of<T: schemars::JsonSchema>() -> RawObject {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    // Tools take objects; `()` and the like have a schema without a type.
    if let Some(members) = schema.as_object_mut() {
        members.remove("title");
        if !members.contains_key("type") && !members.contains_key("$ref") {
            members.insert("type".to_owned(), "object".into());
        }
    }
    RawObject::from_serialize(&schema).unwrap_or_else(|_| RawObject::empty())
}

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
