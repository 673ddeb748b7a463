//! Structured output: replies in a JSON schema.

pub(crate) mod compiled;
pub(crate) mod invalid;
pub(crate) mod partial;

use std::sync::Arc;

#[cfg(feature = "structured-output")]
use mcp_jsonrpc::RawObject;
use serde_json::Value;
#[cfg(feature = "structured-output")]
use tool_schema::{NameRule, Validator};

/// The JSON schema of a reply.
///
/// Cheap to clone. Each wire gets the schema in the form it accepts, and the reply is converted back
/// and validated against this one.
///
/// ```
/// # #[cfg(feature = "structured-output")] {
/// use provider_adapters::OutputSchema;
/// use serde_json::json;
///
/// let schema = OutputSchema::new(json!({"type": "array", "items": {"type": "string"}})).with_name("cities");
/// assert_eq!(schema.name(), "cities");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OutputSchema {
    name: Arc<str>,
    schema: Arc<Value>,
    /// Why replies cannot be validated, if they cannot.
    #[cfg(feature = "structured-output")]
    validator: Arc<Result<Validator, String>>,
}

impl OutputSchema {
    /// Creates the schema of a reply. Its name is the schema's `title`, or `output`.
    #[cfg(feature = "structured-output")]
    pub fn new(schema: impl Into<Value>) -> Self {
        let schema = schema.into();
        let title = schema.get("title").and_then(Value::as_str);
        let validator = Validator::new(&schema)
            .map_err(|error| format!("no reply can be checked against it: {}", error.reason()));
        Self {
            name: legal(title.unwrap_or("output")),
            validator: Arc::new(validator),
            schema: Arc::new(schema),
        }
    }

    /// Sets the name that the model sees. Characters that no provider accepts are replaced.
    #[cfg(feature = "structured-output")]
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.name = legal(name);
        self
    }

    /// The name that the model sees.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Why no reply can be validated, if none can.
    fn unusable(&self) -> Option<&str> {
        #[cfg(feature = "structured-output")]
        if let Err(reason) = self.validator.as_ref() {
            return Some(reason);
        }
        None
    }

    /// What is wrong with a value; nothing if it matches.
    fn violations(&self, value: &Value) -> Vec<String> {
        #[cfg(feature = "structured-output")]
        if let Ok(validator) = self.validator.as_ref() {
            let problem = |problem: &String| match problem.strip_prefix("the arguments: ") {
                Some(rest) => format!("the output: {rest}"),
                None => problem.clone(),
            };
            return match validator.check(value) {
                Ok(()) => Vec::new(),
                Err(mismatch) => mismatch.problems().iter().map(problem).collect(),
            };
        }
        let _ = value;
        Vec::new()
    }
}

#[cfg(feature = "structured-output")]
impl From<Value> for OutputSchema {
    fn from(schema: Value) -> Self {
        Self::new(schema)
    }
}

#[cfg(feature = "structured-output")]
impl From<&RawObject> for OutputSchema {
    fn from(schema: &RawObject) -> Self {
        Self::new(schema.parse::<Value>().unwrap_or_default())
    }
}

#[cfg(feature = "schemars")]
impl From<schemars::Schema> for OutputSchema {
    fn from(schema: schemars::Schema) -> Self {
        Self::new(schema)
    }
}

/// A name of letters, digits, `_` and `-`, up to 64.
#[cfg(feature = "structured-output")]
fn legal(name: &str) -> Arc<str> {
    NameRule::WORD_64.fit(name).into()
}
