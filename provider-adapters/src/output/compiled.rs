//! An output schema in the form that one wire accepts, and the reverse conversion.

use std::sync::Arc;

use mcp_jsonrpc::{RawJson, RawObject};
use serde_json::Value;
use tool_schema::{Loss, Restore, Target, compile};

use crate::json::{big_number, repair};
use crate::output::OutputSchema;
use crate::output::invalid::InvalidOutput;
use crate::output::partial;
use crate::request::EncodeError;

/// A request's output schema, compiled for one provider.
#[derive(Clone, Debug)]
pub struct CompiledOutput {
    original: OutputSchema,
    schema: RawObject,
    strict: bool,
    losses: Arc<[Loss]>,
    restore: Restore,
    /// The tool whose arguments are the reply, on wires that have no other place for a schema.
    tool: Option<String>,
}

impl CompiledOutput {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`EncodeError::OutputSchema`] if the schema is invalid, too large, or unsatisfiable.
    pub fn new(output: &OutputSchema, target: &Target) -> Result<Self, EncodeError> {
        let refused = |reason: String| EncodeError::OutputSchema { reason };
        if let Some(reason) = output.unusable() {
            return Err(refused(reason.to_owned()));
        }
        if !matches!(output.schema(), Value::Object(_) | Value::Bool(true)) {
            return Err(refused("it must be a JSON object".to_owned()));
        }
        let compiled = compile(output.schema(), target)
            .map_err(|quarantine| refused(quarantine.to_string()))?;
        let schema = compiled.schema.unwrap_or_default();
        let schema = RawObject::from_serialize(&schema).unwrap_or_else(|_| RawObject::empty());
        Ok(Self {
            original: output.clone(),
            schema,
            strict: compiled.strict,
            losses: compiled.losses.into(),
            restore: compiled.restore,
            tool: None,
        })
    }

    /// The name that the model sees.
    pub fn name(&self) -> &str {
        self.original.name()
    }

    /// The schema as the provider accepts it.
    pub fn schema(&self) -> &RawObject {
        &self.schema
    }

    /// Whether to ask the provider to enforce the schema.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// The differences from the original schema.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// The schema in words, for a model that only reads it.
    pub(crate) fn instruction(&self) -> String {
        format!(
            "Write your final answer as one JSON value and nothing else: no other text, no code \
             fence. It must match this JSON schema:\n{}",
            self.schema.get()
        )
    }

    /// The same, with the reply carried by a tool's arguments.
    pub(crate) fn by_tool(mut self, name: String) -> Self {
        self.tool = Some(name);
        self
    }

    /// The tool that carries the reply.
    pub(crate) fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// The value that a finished reply holds.
    pub(crate) fn read(&self, text: &str) -> Result<RawJson, InvalidOutput> {
        let mut violations = Vec::new();
        for candidate in repair::candidates(text) {
            let candidate = candidate.as_ref();
            let restored = big_number::rewrite(candidate, |value| self.restore.apply(value));
            // A model that is only shown the schema may forget what a value is wrapped in.
            for text in restored.iter().map(String::as_str).chain([candidate]) {
                let Ok(value) = serde_json::from_str::<Value>(text) else {
                    continue;
                };
                let found = self.original.violations(&value);
                if found.is_empty()
                    && let Ok(output) = RawJson::from_text(text.to_owned())
                {
                    return Ok(output);
                }
                if violations.is_empty() {
                    violations = found;
                }
            }
        }
        if violations.is_empty() {
            let error = serde_json::from_str::<Value>(text).err();
            let reason = error.map_or_else(String::new, |error| format!(": {error}"));
            violations.push(format!("the output is not JSON{reason}"));
        }
        Err(InvalidOutput::new(text, violations))
    }

    /// The value so far, of a reply that is still arriving.
    pub(crate) fn partial(&self, text: &str) -> Option<Value> {
        partial::value(text).map(|value| self.restore.apply(value))
    }
}
