//! Structured output, through an output format or a tool.

use tool_schema::Target;

use crate::json::writer::Object;
use crate::output::compiled::CompiledOutput;
use crate::request::{EncodeError, Request};

/// A request's output schema: an output format if the model knows them and enforces this one, else
/// a tool that it has to call.
pub(crate) fn compile(request: &Request) -> Result<Option<CompiledOutput>, EncodeError> {
    let Some(output) = request.compiled_output(&Target::ANTHROPIC_OUTPUT)? else {
        return Ok(None);
    };
    if output.is_strict() && !is_old(&request.model) {
        return Ok(Some(output));
    }
    let mut name = output.name().to_owned();
    while request.tools.has_wire_name(&name) {
        name.push('_');
    }
    Ok(Some(output.by_tool(name)))
}

/// Whether a model was there before output formats and tool search.
pub(crate) fn is_old(model: &str) -> bool {
    const OLD: [&str; 7] = [
        "claude-2",
        "claude-3",
        "claude-instant",
        "claude-opus-4-0",
        "claude-opus-4-2025",
        "claude-sonnet-4-0",
        "claude-sonnet-4-2025",
    ];
    OLD.iter().any(|name| model.contains(name))
}

/// The tool that carries the output.
pub(crate) fn output_tool<'a>(output: &'a CompiledOutput, name: &'a str) -> Object<'a> {
    Object::default()
        .set("name", name)
        .set(
            "description",
            "Answers the user. Always answer by calling this tool.",
        )
        .set("input_schema", output.schema())
}
