//! Validates a filled-in form against its schema, with regular expressions.

use mcp_jsonrpc::model::{self, FormProblem, FormSchema};
use serde_json::{Map, Value};

/// Completes an answer with the form's defaults and validates it.
///
/// Strings that contain a number or a boolean are converted where the form expects one. `null` counts as not filled in.
/// The result has the form's order.
///
/// # Errors
///
/// Every invalid field, in the form's order; unknown fields come last.
pub fn check_form(
    form: &FormSchema,
    answer: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<FormProblem>> {
    model::check_form(form, answer, |pattern, text| {
        // A pattern that this engine does not support is left to the server.
        regex_lite::Regex::new(pattern).map_or(true, |pattern| pattern.is_match(text))
    })
}
