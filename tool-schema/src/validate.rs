//! Validation of arguments against the original schema, with messages a model can act on.

use std::fmt;

use jsonschema::{
    Draft, Retrieve, Uri, ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use crate::{CompileLimits, Quarantine, Restore, report::words};

/// Maximum number of problems reported at once.
const MAX_PROBLEMS: usize = 10;
/// Maximum number of invalid patterns that are skipped.
const MAX_BAD_PATTERNS: usize = 16;

/// Validates arguments against a tool's original schema.
///
/// ```
/// use serde_json::json;
/// use tool_schema::Validator;
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]});
/// let validator = Validator::new(&schema).expect("a sound schema");
/// assert!(validator.check(&json!({"n": 3})).is_ok());
/// let mismatch = validator.check(&json!({"n": 12})).expect_err("too large");
/// assert!(mismatch.to_string().contains("`/n`: must be at most 9"));
/// ```
#[derive(Debug)]
pub struct Validator {
    inner: jsonschema::Validator,
    schema: Value,
}

/// A schema that arguments cannot be validated against. The tool can still be called: its server validates them.
#[derive(Debug)]
pub struct Uncheckable {
    reason: String,
}

/// Arguments that do not match, and the reasons.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mismatch {
    problems: Vec<String>,
    more: bool,
}

impl Validator {
    /// Prepares a schema. References to other documents are never followed and accept anything; patterns that no engine
    /// supports are dropped.
    ///
    /// # Errors
    /// [`Uncheckable`] if the schema is too large or invalid.
    pub fn new(schema: &Value) -> Result<Self, Uncheckable> {
        let limits = CompileLimits::default();
        if !is_moderate(schema, &limits) {
            let reason = Quarantine::TooManyNodes {
                limit: limits.nodes,
            }
            .to_string();
            return Err(Uncheckable { reason });
        }
        let mut schema = schema.clone();
        admit_nullable(&mut schema);
        let mut reason = String::new();
        for _ in 0..MAX_BAD_PATTERNS {
            match build(&schema) {
                Ok(inner) => return Ok(Self { inner, schema }),
                Err(error) => {
                    reason = error.masked().to_string();
                    if !drop_pattern(&mut schema, &error) {
                        break;
                    }
                }
            }
        }
        Err(Uncheckable { reason })
    }

    /// Validates arguments.
    ///
    /// # Errors
    /// [`Mismatch`], whose message describes the corrections.
    pub fn check(&self, arguments: &Value) -> Result<(), Mismatch> {
        let mut errors = self.inner.iter_errors(arguments);
        let problems: Vec<String> = errors
            .by_ref()
            .take(MAX_PROBLEMS)
            .map(|error| self.problem(&error))
            .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(Mismatch {
            problems,
            more: errors.next().is_some(),
        })
    }

    fn problem(&self, error: &ValidationError<'_>) -> String {
        let place = error.instance_path().as_str();
        let place = if place.is_empty() {
            "the arguments".to_owned()
        } else {
            format!("`{}`", words::clip(place, 200))
        };
        format!("{place}: {}", self.complaint(error, 2))
    }

    fn complaint(&self, error: &ValidationError<'_>, fuel: usize) -> String {
        use ValidationErrorKind as Kind;
        let got = || words::clip(&error.instance().to_string(), 80);
        match error.kind() {
            Kind::Required { property } => format!("the key {property} is missing"),
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                let unknown = words::list(unexpected.iter().map(|key| format!("`{key}`")));
                let known = self.known_keys(error);
                let known = if known.is_empty() {
                    String::new()
                } else {
                    format!("; known keys are {known}")
                };
                format!("there is no key {unknown}{known}")
            }
            Kind::Type { kind } => format!("must be {}, but is {}", types(kind), got()),
            Kind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                format!(
                    "must be one of {}, but is {}",
                    words::list(options.iter().map(Value::to_string)),
                    got()
                )
            }
            Kind::Constant { expected_value } => format!(
                "must be {}, but is {}",
                words::clip(&expected_value.to_string(), 80),
                got()
            ),
            Kind::Minimum { limit } => format!("must be at least {limit}, but is {}", got()),
            Kind::Maximum { limit } => format!("must be at most {limit}, but is {}", got()),
            Kind::ExclusiveMinimum { limit } => {
                format!("must be greater than {limit}, but is {}", got())
            }
            Kind::ExclusiveMaximum { limit } => {
                format!("must be less than {limit}, but is {}", got())
            }
            Kind::MinLength { limit } => format!("must have at least {limit} characters"),
            Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
            Kind::MinItems { limit } => format!("must have at least {limit} items"),
            Kind::MaxItems { limit } => format!("must have at most {limit} items"),
            Kind::Pattern { pattern } => format!(
                "must match the regular expression {}, but is {}",
                words::clip(pattern, 200),
                got()
            ),
            Kind::Format { format } => format!(
                "must be a valid {}, but is {}",
                words::clip(format, 40),
                got()
            ),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } if fuel > 0 => {
                let branches = context.iter().take(5).filter_map(|errors| {
                    let inner = errors.first()?;
                    let place = if inner.instance_path() == error.instance_path() {
                        String::new()
                    } else {
                        format!("`{}` ", words::clip(inner.instance_path().as_str(), 200))
                    };
                    Some(format!("{place}{}", self.complaint(inner, fuel - 1)))
                });
                format!(
                    "fits none of the alternatives: {}",
                    branches.collect::<Vec<_>>().join("; or ")
                )
            }
            Kind::OneOfMultipleValid { .. } => {
                "fits more than one alternative where only one may fit".to_owned()
            }
            _ => words::clip(&error.masked_with("the value").to_string(), 300),
        }
    }

    fn known_keys(&self, error: &ValidationError<'_>) -> String {
        let path = error.schema_path().as_str();
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let properties = self
            .schema
            .pointer(parent)
            .and_then(|schema| schema.get("properties")?.as_object());
        properties.map_or_else(String::new, |map| {
            words::list(map.keys().map(|key| format!("`{key}`")))
        })
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(name) => name.as_str().to_owned(),
        TypeKind::Multiple(names) => {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            names.join(" or ")
        }
    }
}

/// The newest dialect first; older schemas often do not declare theirs.
fn build(schema: &Value) -> Result<jsonschema::Validator, ValidationError<'static>> {
    let options = || jsonschema::options().with_retriever(Nothing);
    options().build(schema).or_else(|first| {
        [Draft::Draft7, Draft::Draft4]
            .into_iter()
            .find_map(|draft| options().with_draft(draft).build(schema).ok())
            .ok_or(first)
    })
}

/// A retriever that never uses the network.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(
        &self,
        _uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Value::Bool(true))
    }
}

/// Removes the pattern that `error` refers to.
fn drop_pattern(schema: &mut Value, error: &ValidationError<'_>) -> bool {
    let Value::String(pattern) = error.instance().as_ref() else {
        return false;
    };
    let mut dropped = false;
    let mut stack = vec![schema];
    while let Some(value) = stack.pop() {
        match value {
            Value::Object(map) => {
                if map.get("pattern").and_then(Value::as_str) == Some(pattern) {
                    map.shift_remove("pattern");
                    dropped = true;
                }
                if let Some(Value::Object(patterns)) = map.get_mut("patternProperties") {
                    dropped |= patterns.shift_remove(pattern).is_some();
                }
                stack.extend(map.values_mut());
            }
            Value::Array(list) => stack.extend(list),
            _ => {}
        }
    }
    dropped
}

/// Translates OpenAPI's `nullable` to JSON Schema.
fn admit_nullable(schema: &mut Value) {
    let mut stack = vec![schema];
    while let Some(value) = stack.pop() {
        match value {
            Value::Object(map) => {
                if map.get("nullable") == Some(&Value::Bool(true)) {
                    let types = match map.get("type") {
                        Some(Value::String(name)) => {
                            Some(vec![Value::from(name.as_str()), "null".into()])
                        }
                        _ => None,
                    };
                    if let Some(types) = types {
                        map.insert("type".to_owned(), Value::Array(types));
                        if let Some(Value::Array(values)) = map.get_mut("enum") {
                            values.push(Value::Null);
                        }
                    }
                }
                stack.extend(map.values_mut());
            }
            Value::Array(list) => stack.extend(list),
            _ => {}
        }
    }
}

fn is_moderate(schema: &Value, limits: &CompileLimits) -> bool {
    let mut stack = vec![(schema, 0)];
    let mut seen = 0;
    while let Some((value, depth)) = stack.pop() {
        seen += 1;
        if seen > limits.nodes * 8 || depth > limits.depth * 2 {
            return false;
        }
        match value {
            Value::Object(map) => stack.extend(map.values().map(|value| (value, depth + 1))),
            Value::Array(list) => stack.extend(list.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    true
}

impl Mismatch {
    /// The same message with the keys as spelled in the compiled schema.
    #[must_use]
    pub fn seen_through(mut self, restore: &Restore) -> Self {
        let notes = restore.renamed_keys().into_iter().filter(|(_, key)| {
            let named = self.problems.iter().any(|problem| problem.contains(key));
            named && !key.is_empty()
        });
        let notes: Vec<String> = notes
            .map(|(written, key)| format!("the key `{key}` is written `{written}` here"))
            .collect();
        self.problems.extend(notes);
        self
    }

    /// The problems, one sentence each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The arguments do not fit the tool's schema. Correct this and call again:")?;
        for problem in &self.problems {
            write!(f, "\n- {problem}")?;
        }
        if self.more {
            f.write_str("\n- and more of the kind")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mismatch {}

impl Uncheckable {
    /// Why not, without what it is about.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Uncheckable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "arguments cannot be checked against this schema: {}",
            self.reason
        )
    }
}

impl std::error::Error for Uncheckable {}
